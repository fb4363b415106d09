"""Labels: the attributes of a node or an edge, those that a move may give it, and those that it may start with."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from ...schema import Column

Attributes = tuple[str | float, ...]
"""The attributes of a node or an edge, in the order of the schema's columns."""


def labels_of(columns: Iterable[Column]) -> list[Attributes]:
    """Every combination of categories, continuous attributes at their mean."""
    return list(_combinations(columns))


def _combinations(columns: Iterable[Column]) -> Iterator[Attributes]:
    return product(*(column.choices for column in columns))


def typical(label: Attributes, columns: Sequence[Column]) -> Attributes:
    """The label with continuous attributes at their mean."""
    pairs = zip(columns, label, strict=True)
    return tuple(column.typical(value) for column, value in pairs)


def is_typical(label: Attributes, columns: Sequence[Column]) -> bool:
    """Whether this is one of `labels_of`, without making them all."""
    if len(label) != len(columns):
        return False
    return all(value in column.choices for column, value in zip(columns, label, strict=True))


def apart(one: Attributes, other: Attributes, columns: Sequence[Column]) -> float:
    """How far two labels are apart: 1 for each category, continuous attributes in units of their scales."""
    rows = zip(columns, one, other, strict=True)
    return math.fsum(column.distance(a, b) for column, a, b in rows)


def other_labels(label: Attributes, columns: Sequence[Column]) -> list[Attributes]:
    """Labels that differ from this one in one attribute: any other category, or a step of a continuous one."""
    found = []
    for at, (column, value) in enumerate(zip(columns, label, strict=True)):
        found += [(*label[:at], new, *label[at + 1 :]) for new in column.alternatives(value)]
    return found


MANY = 128
"""Where there are more combinations of categories, what is new in a graph has one that the graph has already."""


def has_many_labels(columns: Sequence[Column]) -> bool:
    """Whether there are too many combinations of categories to try them all."""
    return math.prod(len(column.choices) for column in columns) > MANY


def fresh_labels(columns: Sequence[Column], known: Iterable[Attributes] = ()) -> list[Attributes]:
    """Labels for what is new: every combination of categories, or where there are too many the `known` ones, or any one
    if none is; with a single continuous attribute at its mean or one scale from it; several are at their means."""
    if has_many_labels(columns):
        plain = list(dict.fromkeys(typical(label, columns) for label in known)) or [next(_combinations(columns))]
    else:
        plain = labels_of(columns)
    continuous = [at for at, column in enumerate(columns) if column.is_continuous]
    if len(continuous) != 1:
        return plain
    (at,) = continuous
    far = [columns[at].round(columns[at].mean + sign * columns[at].scale) for sign in (-1, 1)]
    return [*plain, *((*label[:at], value, *label[at + 1 :]) for label in plain for value in far)]
