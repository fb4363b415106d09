"""Preferences: the balance between a small change and one that other models believe, by name."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigError, ModelFileError
from ..schema import first_problem
from .query import Query

PREFERENCES_FILE = "preferences.json"


class Preference(BaseModel):
    """Conditions on an answer, and settings of the search for it.

    `confidence` is the least probability of the target by the classifier, `agreement` by the surrogates on average
    (0: they are not asked). `environments`: only surroundings of nodes that occur in the training data may be created.
    The others are settings of `EditSearch`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    confidence: float = Field(gt=0, lt=1)
    agreement: float = Field(ge=0, lt=1)
    environments: bool = True
    beam: int = Field(default=1, gt=0)
    price: float = Field(default=0.1, ge=0)
    hydrogen_price: float = Field(default=1.0, ge=0)
    shortlist: int = Field(default=32, gt=0)


PREFERENCES: Mapping[str, Preference] = {
    "minimal": Preference(confidence=0.5, agreement=0.0, environments=False, beam=4),
    "balanced": Preference(confidence=0.62, agreement=0.72),
    "believable": Preference(confidence=0.75, agreement=0.83),
}
"""For kits that have no settings of their own, chosen on Mutagenicity's validation split."""


def preference(name: str, known: Mapping[str, Preference] = PREFERENCES) -> Preference:
    """Look up the settings of a name."""
    if name not in known:
        raise ConfigError(f"`prefer` must be one of {', '.join(known)}; got {name!r}.")
    return known[name]


def less_than(wish: Preference, known: Mapping[str, Preference] = PREFERENCES) -> tuple[tuple[float, float], ...]:
    """List confidence and agreement of the preferences that ask less of both but do ask surrogates, strictest first."""
    below = [
        (one.confidence, one.agreement)
        for one in known.values()
        if 0 < one.agreement < wish.agreement and one.confidence < wish.confidence
    ]
    return tuple(sorted(below, reverse=True))


def read_preferences(folder: Path) -> Mapping[str, Preference]:
    """The preferences of a kit: the general ones, with what its `preferences.json` changes in them, if it has one."""
    path = folder / PREFERENCES_FILE
    if not path.is_file():
        return PREFERENCES
    try:
        changes = json.loads(path.read_text(encoding="utf-8"))
        parts = {name: general.model_dump() | changes.get(name, {}) for name, general in PREFERENCES.items()}
        return {name: Preference.model_validate(part) for name, part in parts.items()}
    except ValidationError as error:
        raise ModelFileError(f"{path}: {first_problem(error)}. Correct it, or remove the file.") from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{path}: not a readable file of preferences ({error}). Remove the file.") from error


def concession(query: Query, wish: Preference) -> float | None:
    """Least confidence of an answer where nothing passes; None if the agreement that is asked must be kept."""
    if query.agreement is not None:
        return None
    return min(0.5, wish.confidence) if query.confidence is None else query.confidence
