"""Targets in words: what people type for a goal."""

import operator
import re
from collections.abc import Callable, Sequence
from typing import SupportsIndex

from ...errors import ConfigError
from .classes import Another, ClassGoal, LikeliestOther
from .goal import AbstractRequest
from .values import Shift, ValueGoal

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)"

_FORMS: tuple[tuple[str, Callable[..., AbstractRequest]], ...] = (
    (r"any(?: other)?(?: class)?", Another),
    (rf"(?:raise|increase) by {_NUMBER}", Shift),
    (rf"(?:lower|decrease|reduce) by {_NUMBER}", lambda by: Shift(-by)),
    (rf"(?:below|under|at most|<=?) ?{_NUMBER}", lambda high: ValueGoal(high=high)),
    (rf"(?:above|over|at least|>=?) ?{_NUMBER}", lambda low: ValueGoal(low=low)),
    (rf"between {_NUMBER} and {_NUMBER}", ValueGoal),
    (rf"{_NUMBER} ?(?:±|\+-|\+/-|within) ?{_NUMBER}", lambda at, margin: ValueGoal(at - margin, at + margin)),
)

_ACCEPTED = '"raise by 0.5", "lower by 1", "below 2", "above 3", "between 1 and 2" or "2 ± 0.1" of a predicted value'


def parse_goal(asked: SupportsIndex | str | AbstractRequest | None, classes: Sequence[str] = ()) -> AbstractRequest:
    """Read a target: a class by number or name, "any" other class, or a range of values; None is the default.

    >>> parse_goal("raise by 0.5")
    Shift(by=0.5)
    >>> parse_goal("nitro", ("no nitro", "nitro"))
    ClassGoal(index=1)
    >>> parse_goal("2 ± 0.1")
    ValueGoal(low=1.9, high=2.1, scale=1.0)
    """
    if asked is None:
        return LikeliestOther()
    if isinstance(asked, AbstractRequest):
        return asked
    if isinstance(asked, str):
        return _parse(asked, classes)
    try:
        return _class(operator.index(asked), asked, classes)
    except TypeError as error:
        raise _unknown(asked, classes) from error


def _parse(text: str, classes: Sequence[str]) -> AbstractRequest:
    if text in classes:
        return ClassGoal(classes.index(text))
    words = " ".join(text.lower().split())
    if words.isdecimal():
        return _class(int(words), text, classes)
    for pattern, make in _FORMS:
        if found := re.fullmatch(pattern, words):
            return make(*map(float, found.groups()))
    raise _unknown(text, classes)


def _class(index: int, asked: SupportsIndex | str, classes: Sequence[str]) -> AbstractRequest:
    if index < 0 or (classes and index >= len(classes)):
        raise _unknown(asked, classes)
    return ClassGoal(index)


def _unknown(asked: SupportsIndex | str, classes: Sequence[str]) -> ConfigError:
    named = f'one of the classes {", ".join(classes)}, or "any" other one'
    return ConfigError(f"A target must be {named if classes else f'a class number, {_ACCEPTED}'}; got {asked!r}.")
