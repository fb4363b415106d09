"""Preferences: how much a caller gives up of a small change to have one that other models believe."""

from dataclasses import dataclass
from typing import Literal

from ..errors import ConfigError

Prefer = Literal["minimal", "balanced", "believable"]


@dataclass(frozen=True)
class Preference:
    """What must hold of an answer, and how hard to look for it.

    `confidence` is the least probability of the target by the classifier, `agreement` by the surrogates on average
    (0: they are not asked). `environments`: only surroundings of nodes that occur in the training data may be created.
    """

    confidence: float
    agreement: float
    environments: bool
    beam: int


PREFERENCES: dict[str, Preference] = {
    "minimal": Preference(confidence=0.5, agreement=0.0, environments=False, beam=4),
    "balanced": Preference(confidence=0.7, agreement=0.5, environments=True, beam=4),
    "believable": Preference(confidence=0.9, agreement=0.8, environments=True, beam=4),
}


def preference(name: str) -> Preference:
    """The settings behind a name."""
    if name not in PREFERENCES:
        raise ConfigError(f"`prefer` must be one of {', '.join(PREFERENCES)}; got {name!r}.")
    return PREFERENCES[name]
