"""Residuals: by how much gradients were wrong about moves of a sort, learned from those that were tried."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
"""For each move, the numbers of its sort (as `x up by two scales`) and of its finer sort (as `from a low x`)."""

# Moves that are assumed to have been seen as expected: one observation is believed half, two are believed two thirds.
_DAMP = 1.0


class Residuals:
    """Mean errors of estimates by sort of move, and within it by finer sort.

    A gradient says what a small change does. A large one may do something else, but often the same at many places: a
    few trials of each sort tell.

    Args:
        kinds: Number of scores.
    """

    def __init__(self, kinds: int):
        self.numbers: dict[Hashable, int] = {}
        self.counts, self.sums = np.zeros(64), np.zeros((64, kinds))

    def number(self, sort: Hashable) -> int:
        """Number of a sort of move."""
        number = self.numbers.setdefault(sort, len(self.numbers))
        if number >= len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros_like(self.counts)])
            self.sums = np.concatenate([self.sums, np.zeros_like(self.sums)])
        return number

    def observe(self, codes: Codes, error: NDArray[np.float64]) -> None:
        """Learn the error of an estimate."""
        np.add.at(self.counts, codes, 1.0)
        np.add.at(self.sums, codes, error)

    def expected(self, codes: Codes) -> NDArray[np.float64]:
        """Errors that are expected of moves: that of the sort, drawn towards that of the finer sort."""
        coarse, fine = codes.T
        general = self.sums[coarse] / (self.counts[coarse] + _DAMP)[:, None]
        return (self.sums[fine] + _DAMP * general) / (self.counts[fine] + _DAMP)[:, None]
