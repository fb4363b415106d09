"""Preferences: the balance between a small change and one that other models believe, by name."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigError, ModelFileError
from ..realism.corpus import Corpus
from ..schema import Schema, first_problem
from .edits.realism import AbstractRealism, ChemicalRealism, FamiliarGraphs
from .knowledge import Knowledge
from .query import Prefer, Query

PREFERENCES_FILE = "preferences.json"


SEARCH_SETTINGS = (
    "beam", "price", "hydrogen_price", "edit_price", "site_price", "shortlist", "max_moves", "patience", "exchanges",
    "look",
)  # fmt: skip
"""Fields of a preference that are settings of `EditSearch`."""

FRONTIER_ENDS: tuple[Prefer, ...] = ("minimal", "believable")
"""Preferences whose answers are candidates for every frontier."""


class Preference(BaseModel):
    """Conditions on an answer, and settings of the search for it.

    `confidence` is the least probability of the target by the classifier, `agreement` by the surrogates on average
    (0: they are not asked). `environments`: only surroundings of nodes that occur in the training data may be created.
    `realism`: what real molecules or graphs seldom have costs extra; `rarity`, `synthesis`, `stereo`, `likeness` and
    `halogens` are prices of `ChemicalRealism`, `familiarity` is that of `FamiliarGraphs`. The others are settings of
    `EditSearch`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    confidence: float = Field(gt=0, lt=1)
    agreement: float = Field(ge=0, lt=1)
    environments: bool = True
    beam: int = Field(default=1, gt=0)
    price: float = Field(default=0.1, ge=0)
    hydrogen_price: float = Field(default=1.0, ge=0)
    edit_price: float = Field(default=1.0, gt=0)
    site_price: float = Field(default=0.0, ge=0)
    realism: bool = False
    rarity: float = Field(default=0.5, ge=0)
    synthesis: float = Field(default=1.0, ge=0)
    stereo: float = Field(default=1.0, ge=0)
    likeness: float = Field(default=4.0, ge=0)
    halogens: float = Field(default=0.0, ge=0)
    familiarity: float = Field(default=1.0, ge=0)
    shortlist: int = Field(default=32, gt=0)
    max_moves: int = Field(default=8, gt=0)
    patience: int = Field(default=99, gt=0)
    exchanges: int = Field(default=999, gt=0)
    look: int = Field(default=16, ge=0)


PREFERENCES: Mapping[str, Preference] = {
    "minimal": Preference(confidence=0.5, agreement=0.0, environments=False, beam=4),
    "balanced": Preference(confidence=0.62, agreement=0.72, patience=2, exchanges=2, look=32),
    "believable": Preference(confidence=0.75, agreement=0.83, patience=2, exchanges=2, look=32),
}
"""For kits that have no settings of their own."""

_CHEMISTS = {
    "realism": True,
    "edit_price": 1.0,
    "site_price": 1.0,
    "hydrogen_price": 0.4,
    "familiarity": 2.0,
    "likeness": 12.0,
    "rarity": 1.0,
    "stereo": 3.0,
    "halogens": 4.0,
    "max_moves": 7,
    "patience": 1,
    "exchanges": 1,
}
_SURE = {"price": 0.05, "edit_price": 0.6, "likeness": 10.0}
MOLECULES: Mapping[str, Preference] = PREFERENCES | {
    "balanced": Preference.model_validate({"confidence": 0.65, "agreement": 0.78, "beam": 2, **_CHEMISTS}),
    "believable": Preference.model_validate({"confidence": 0.8, "agreement": 0.88, "beam": 2, **_CHEMISTS, **_SURE}),
}
"""For kits of molecules with kinds of bonds, chosen on Mutagenicity's validation split."""


# Nodes up to which `minimal` makes every single move: the smallest change is often one that nothing promised.
_SMALL = 100


def usual_preferences(schema: Schema) -> Mapping[str, Preference]:
    """The preferences of graphs of a schema."""
    usual = MOLECULES if schema.chemistry is not None and schema.de else PREFERENCES
    if schema.max_nodes > _SMALL:
        return usual
    return {**usual, "minimal": usual["minimal"].model_copy(update={"look": 0})}


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


def read_preferences(folder: Path, schema: Schema) -> Mapping[str, Preference]:
    """The preferences of a kit: the usual ones, with what its `preferences.json` changes in them, if it has one."""
    path, usual = folder / PREFERENCES_FILE, usual_preferences(schema)
    if not path.is_file():
        return usual
    try:
        changes = json.loads(path.read_text(encoding="utf-8"))
        parts = {name: general.model_dump() | changes.get(name, {}) for name, general in usual.items()}
        return {name: Preference.model_validate(part) for name, part in parts.items()}
    except ValidationError as error:
        raise ModelFileError(f"{path}: {first_problem(error)}. Correct it, or remove the file.") from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{path}: not a readable file of preferences ({error}). Remove the file.") from error


def asked_confidence(query: Query, wish: Preference, num_outputs: int) -> float:
    """Confidence that an answer must have; where nothing but the class is asked, what the likeliest class has anyway.

    That is a half of two classes, and less of more: a third of three.
    """
    if query.confidence is not None:
        return query.confidence
    class_alone = not wish.agreement and wish.confidence <= 0.5 and num_outputs > 1
    return min(wish.confidence, 1 / num_outputs) if class_alone else wish.confidence


def concession(query: Query, wish: Preference) -> float | None:
    """Least confidence of an answer where nothing passes; None if the agreement that is asked must be kept."""
    if query.agreement is not None:
        return None
    return min(0.5, wish.confidence) if query.confidence is None else query.confidence


def realism(wish: Preference, schema: Schema, knowledge: Knowledge) -> AbstractRealism | None:
    """Knowledge of real graphs by which a search prices what is strange; None if the preference does not ask for it."""
    if not wish.realism:
        return None
    training = FamiliarGraphs(knowledge.environments, wish.familiarity)
    if schema.chemistry is None or not schema.de:
        return training
    prices = wish.rarity, wish.synthesis, wish.stereo, wish.likeness, wish.halogens
    return ChemicalRealism(schema, Corpus.packaged(), training, *prices)
