"""Attributes of a node or an edge: those that a move may change them to, and those that a new one may have."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from ...schema import Column

Attributes = tuple[str | float, ...]
"""The attributes of a node or an edge, in the order of the schema's columns."""

MAX_COMBINATIONS = 128
"""Largest number of combinations of categories that are all tried for a new node or edge."""

_WIDE = 32  # columns from which on their distances are computed all at once
_MOST_KEPT = 64
_KEPT: dict[int, tuple[Sequence[Column], np.ndarray | None]] = {}  # scales of columns, by the identity of these


def attribute_choices(columns: Iterable[Column]) -> list[Attributes]:
    """Every combination of categories, continuous attributes at their mean."""
    return list(_combinations(columns))


def _combinations(columns: Iterable[Column]) -> Iterator[Attributes]:
    return product(*(column.choices for column in columns))


def typical(attributes: Attributes, columns: Sequence[Column]) -> Attributes:
    """The attributes with continuous ones at their mean."""
    pairs = zip(columns, attributes, strict=True)
    return tuple(column.typical(value) for column, value in pairs)


def is_typical(attributes: Attributes, columns: Sequence[Column]) -> bool:
    """True if the attributes are among `attribute_choices`; tested without listing these."""
    if len(attributes) != len(columns):
        return False
    return all(value in column.choices for column, value in zip(columns, attributes, strict=True))


def attribute_distance(before: Attributes, after: Attributes, columns: Sequence[Column]) -> float:
    """Sum over attributes: 1 for another category, the difference in units of the scale for a continuous one."""
    if len(columns) > _WIDE and (scales := _scales(columns)) is not None:
        return math.fsum((np.abs(np.subtract(before, after)) / scales).tolist())
    rows = zip(columns, before, after, strict=True)
    return math.fsum(column.distance(was, now) for column, was, now in rows if was != now)


def _scales(columns: Sequence[Column]) -> np.ndarray | None:
    """Scales of columns that are all continuous, computed once; None if some have categories."""
    kept = _KEPT.get(id(columns))
    if kept is None or kept[0] is not columns:
        are_numbers = all(column.is_continuous for column in columns)
        scales = np.array([column.unit for column in columns]) if are_numbers else None
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        kept = _KEPT[id(columns)] = columns, scales
    return kept[1]


def other_attributes(attributes: Attributes, columns: Sequence[Column]) -> list[Attributes]:
    """Attributes with one of them changed: to any other category, or by a step of a continuous one."""
    others = []
    for at, (column, value) in enumerate(zip(columns, attributes, strict=True)):
        others += [(*attributes[:at], new, *attributes[at + 1 :]) for new in column.alternatives(value)]
    return others


def has_many_choices(columns: Sequence[Column]) -> bool:
    """True if there are too many combinations of categories to try them all."""
    return math.prod(len(column.choices) for column in columns) > MAX_COMBINATIONS


def fresh_attributes(columns: Sequence[Column], known: Iterable[Attributes] = ()) -> list[Attributes]:
    """Attributes that a new node or edge may have.

    These are all combinations of categories. If there are too many, they are those of `known`, or a single combination
    if `known` is empty. If exactly one attribute is continuous, it is at its mean or one scale below or above; if
    several are, all are at their means.
    """
    if has_many_choices(columns):
        plain = list(dict.fromkeys(typical(attributes, columns) for attributes in known))
        plain = plain or [next(_combinations(columns))]
    else:
        plain = attribute_choices(columns)
    continuous = [at for at, column in enumerate(columns) if column.is_continuous]
    if len(continuous) != 1:
        return plain
    (at,) = continuous
    far = [columns[at].round(columns[at].mean + sign * columns[at].scale) for sign in (-1, 1)]
    return [*plain, *((*attributes[:at], value, *attributes[at + 1 :]) for attributes in plain for value in far)]
