"""Labels: the attributes of a node or an edge, those that a move may give it, and those that it may start with."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import cast

import numpy as np

from ...schema import Categories, Column, Continuous, Schema

Attributes = tuple[str | float, ...]
"""The attributes of a node or an edge, in the order of the schema's columns."""


def labels_of(columns: Iterable[Column]) -> list[Attributes]:
    """Every combination of categories, continuous attributes at their mean."""
    return list(_combinations(columns))


def _combinations(columns: Iterable[Column]) -> Iterator[Attributes]:
    return product(*(c.values if isinstance(c, Categories) else (tidy(c.mean, c),) for c in columns))


def typical(label: Attributes, columns: Sequence[Column]) -> Attributes:
    """The label with continuous attributes at their mean."""
    pairs = zip(columns, label, strict=True)
    return tuple(value if isinstance(column, Categories) else tidy(column.mean, column) for column, value in pairs)


def is_typical(label: Attributes, columns: Sequence[Column]) -> bool:
    """Whether this is one of `labels_of`, without making them all."""
    if len(label) != len(columns):
        return False
    rows = zip(columns, label, strict=True)
    return all(v in c.values if isinstance(c, Categories) else v == tidy(c.mean, c) for c, v in rows)


def has_continuous(schema: Schema) -> bool:
    """Whether nodes or edges have attributes that are numbers."""
    return any(isinstance(column, Continuous) for column in (*schema.nodes, *schema.edges))


def apart(one: Attributes, other: Attributes, columns: Sequence[Column]) -> float:
    """How far two labels are apart: 1 for each category, continuous attributes in units of their scales."""
    rows = zip(columns, one, other, strict=True)
    return math.fsum(abs(float(a) - float(b)) / c.scale if isinstance(c, Continuous) else a != b for c, a, b in rows)


STEPS = (0.25, 0.5, 1.0, 2.0)
"""By how many scales a move changes a continuous attribute, up or down."""

_FARTHEST = 3.0  # no move leads farther from the mean than so many scales


def other_labels(label: Attributes, columns: Sequence[Column]) -> list[Attributes]:
    """Labels that differ from this one in one attribute: any other category, or a step of a continuous one."""
    found = []
    for at, (column, value) in enumerate(zip(columns, label, strict=True)):
        if isinstance(column, Categories):
            values: Iterable[str | float] = (name for name in column.values if name != value)
        else:
            values = _steps(float(value), column)
        found += [(*label[:at], new, *label[at + 1 :]) for new in values]
    return found


MANY = 128
"""Where there are more combinations of categories, what is new in a graph has one that the graph has already."""


def has_many_labels(columns: Sequence[Column]) -> bool:
    """Whether there are too many combinations of categories to try them all."""
    return math.prod(len(column.values) for column in columns if isinstance(column, Categories)) > MANY


def fresh_labels(columns: Sequence[Column], known: Iterable[Attributes] = ()) -> list[Attributes]:
    """Labels for what is new: every combination of categories, or where there are too many the `known` ones, or any one
    if none is; with a single continuous attribute at its mean or one scale from it; several are at their means."""
    if has_many_labels(columns):
        plain = list(dict.fromkeys(typical(label, columns) for label in known)) or [next(_combinations(columns))]
    else:
        plain = labels_of(columns)
    continuous = [at for at, column in enumerate(columns) if not isinstance(column, Categories)]
    if len(continuous) != 1:
        return plain
    (at,) = continuous
    column = cast(Continuous, columns[at])
    far = [tidy(column.mean + sign * column.scale, column) for sign in (-1, 1)]
    return [*plain, *((*label[:at], value, *label[at + 1 :]) for label in plain for value in far)]


def _steps(value: float, column: Continuous) -> Iterator[float]:
    for step in STEPS:
        for sign in (-1, 1):
            new = tidy(value + sign * step * column.scale, column)
            bound = max(abs(value - column.mean), _FARTHEST * column.scale)
            if new != value and abs(new - column.mean) <= bound:
                yield new


def tidy(value: float, column: Continuous) -> float:
    """A number to about two digits of its scale, as graphs hold it: 0.78, not 0.7773."""
    digits = 1 - math.floor(math.log10(column.scale / 2))
    return float(np.float32(round(value, digits)))
