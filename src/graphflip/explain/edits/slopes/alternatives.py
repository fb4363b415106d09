"""Other values of an attribute as arrays, for estimates of all of them at once."""

from collections.abc import Callable, Hashable
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....columns import JUMPS, STEPS
from ....schema import Column
from .residuals import Codes


class Alternatives(NamedTuple):
    """Other values of a column for some places.

    Args:
        changes: Changes of the column's entries: place x value x entry.
        edits: Costs: place x value.
        names: Sort and finer sort of each, by numbers of their own: place x value x 2.
        known: Sorts by these numbers.
        value: The k-th other value of a place that has a given one; None if it is not allowed.
    """

    changes: NDArray[np.float64]
    edits: NDArray[np.float64]
    names: NDArray[np.int64]
    known: list[Hashable]
    value: Callable[[str | float, int], str | float | None]

    def sorts(self, number: Callable[[Hashable], int]) -> Codes:
        """Sort and finer sort of each, by the numbers of all moves."""
        return np.array([number(sort) for sort in self.known], dtype=np.int64)[self.names].reshape(-1, 2)


def alternatives(column: Column, now: list[str | float]) -> Alternatives:
    """Other values of a column for places that have the given ones."""
    return _steps(column, now) if column.is_continuous else _categories(column, now)


def _steps(column: Column, now: list[str | float]) -> Alternatives:
    """Steps up and down, and jumps; a sort is one of these, a finer sort one from a value, in scales from the mean."""
    steps = np.array(STEPS)
    there = (np.array(now, dtype=np.float64)[:, None] - column.mean) / column.scale  # in scales from the mean
    moved = np.concatenate([np.broadcast_to(steps, (len(now), len(steps))), np.array(JUMPS) - there], axis=1)
    for low, high in column.gaps:  # which no value comes to lie in
        low, high, after = (low - column.mean) / column.scale, (high - column.mean) / column.scale, there + moved
        inside = (low < after) & (after < high)
        moved = np.where(inside, np.where(after - low < high - after, low, high) - there, moved)
    count = moved.shape[1]
    coarse = np.broadcast_to(np.arange(count), moved.shape)
    names = np.stack([coarse, count + 9 * coarse + there.round().clip(-4, 4).astype(np.int64) + 4], axis=-1)
    known: list[Hashable] = [*range(count), *product(range(count), range(9))]

    return Alternatives((moved * column.scale)[..., None], np.minimum(np.abs(moved), 1.0), names, known, column.other)


def _categories(column: Column, now: list[str | float]) -> Alternatives:
    """Other categories; a sort is one that comes, a finer sort one that comes for another."""
    others = {value: list(column.alternatives(value)) for value in dict.fromkeys(now)}
    encoded = {value: np.array(column.encode(value)) for value in column.values}
    count = len(column.values)
    change, names = {}, {}
    for value, some in others.items():
        at = [column.values.index(str(new)) for new in some]
        fine = [count + count * column.values.index(str(value)) + k for k in at]
        change[value] = np.array([encoded[str(new)] - encoded[str(value)] for new in some]).reshape(len(some), count)
        names[value] = np.array([at, fine], dtype=np.int64).T.reshape(len(some), 2)
    known: list[Hashable] = [*column.values, *product(column.values, repeat=2)]
    changes, sorts = np.stack([change[value] for value in now]), np.stack([names[value] for value in now])
    return Alternatives(changes, np.ones(changes.shape[:2]), sorts, known, lambda was, k: others[was][k])
