"""Estimates of what moves do: experience from training graphs, corrected by the answers while a search goes on."""

from collections.abc import Hashable

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import NDArray

from ...moves.draft import Family, Variants
from ...moves.sketch import Sketch

Rows = Int64[np.ndarray, "m f"]
"""Numbers of the features of moves, a row for each; -1 where a move lacks one."""

# Penalty on effects: one observation is believed half, two are believed two thirds.
_DAMP = 1.0

# Steps of the solver; more change estimates by less than the models differ.
_STEPS, _TINY = 6, 1e-12


class Features:
    """Numbers the features of moves: the place of a move, what it brings there, and both together."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self._of_choices: dict[Hashable, NDArray[np.int64]] = {}

    def of(self, family: Family, state: Sketch) -> Rows:
        """Numbers of the features of the moves of a family, a row for each."""
        kind, place, choices = family.kind, family.place, family.choices
        columns = np.empty((6, len(choices)), dtype=np.int64)
        columns[0] = self._number((place, kind == "add group", kind == "change node"))
        columns[1] = self._each(("brings",), choices)
        columns[2] = self._number(kind)
        columns[3] = self._number(place[:1])
        if choices.values[0] is None:  # a move that only takes something away
            columns[4:] = -1
        else:
            columns[4] = self._each((kind,), choices)
            columns[5] = self._each((state.nodes[place[0]],), choices)
        return columns.T

    def _number(self, feature: Hashable) -> int:
        return self.numbers.setdefault(feature, len(self.numbers))

    def _each(self, about: tuple[Hashable, ...], choices: Variants) -> NDArray[np.int64]:
        """Numbers of the features that say the same about each of the choices."""
        key = about, choices
        if key not in self._of_choices:
            self._of_choices[key] = np.array([self._number((about, brings)) for brings in choices.values])
        return self._of_choices[key]


class Effects:
    """Estimates effects of moves as sums over their features.

    The effects of features are those that fit the moves observed so far best (least squares with a penalty on large
    effects); a feature that was never seen has the effect 0. Moves of later rounds have most of their features in
    common with those of the first, so that few of them need to be tried.

    Args:
        features: Numbers of the features.
        kinds: Number of different effects of a move.
        centered: True if the mean of what was observed is expected of every move; False if nothing is, because what is
            observed are the errors of other estimates.
    """

    def __init__(self, features: Features, kinds: int = 1, centered: bool = True):
        self.features, self.kinds, self.centered = features, kinds, centered
        self.rows: list[NDArray[np.int64]] = []
        self.effects: list[tuple[float, ...]] = []
        self._table = np.empty((0, 6), dtype=np.int64)
        self._fit = 0, np.zeros((0, kinds))
        self._last: tuple[int, Rows, NDArray[np.float64]] | None = None

    def observe(self, row: NDArray[np.int64], *effects: float) -> None:
        """Learn what a move with these features did."""
        self.rows.append(row)
        self.effects.append(effects)

    def estimate(self, moves: Rows) -> NDArray[np.float64]:
        """Effects that moves are expected to have, a row for each; `moves` are the numbers of their features."""
        if not self.rows:
            return np.zeros((len(moves), self.kinds))
        if self._last is None or self._last[0] != len(self.rows) or self._last[1] is not moves:
            self._last = len(self.rows), moves, self._estimated(moves)
        return self._last[2]

    def _estimated(self, moves: Rows) -> NDArray[np.float64]:
        effects = np.array(self.effects)
        mean = effects.mean(0) if self.centered else np.zeros(self.kinds)
        if self._fit[0] != len(self.rows):
            self._fit = len(self.rows), self._fitted(effects - mean)
        # Features that came later have no effect, as the last row, which stands for those that a move lacks (-1).
        known = np.zeros((len(self.features.numbers) + 1, self.kinds))
        known[: len(self._fit[1])] = self._fit[1]
        return mean + np.stack([column.take(moves.T).sum(0) for column in known.T], axis=1)

    def _fitted(self, effects: NDArray[np.float64]) -> NDArray[np.float64]:
        """Effects of features, by a few steps of conjugate gradients on the penalized least squares."""
        seen = Indicators(self._rows_so_far(), len(self.features.numbers))
        residual = seen.sums(effects)
        fitted = np.zeros_like(residual)
        scale = 1.0 / (seen.counts + _DAMP)[:, None]  # preconditioner: 1 / diagonal
        direction = scale * residual
        size = (residual * direction).sum(0)
        for _ in range(_STEPS):
            image = seen.sums(seen.of_moves(direction)) + _DAMP * direction
            step = size / np.maximum((direction * image).sum(0), _TINY)
            fitted += step * direction
            residual -= step * image
            size, before = (residual * scale * residual).sum(0), size
            direction = scale * residual + size / np.maximum(before, _TINY) * direction
        return fitted

    def _rows_so_far(self) -> Rows:
        """Features of all moves observed; those since the last time are added to a table."""
        new = self.rows[len(self._table) :]
        self._table = np.concatenate([self._table, *(row[None] for row in new)])
        return self._table


class Indicators:
    """A matrix with a row for each move and a column for each feature: 1 where a move has it.

    Args:
        rows: Numbers of the features of each move; -1 where it lacks one.
        num_features: Number of all features.

    `counts` says how many moves have each feature. A column before the others, of which nothing is said, stands for
    features that are lacking.
    """

    def __init__(self, rows: Rows, num_features: int):
        self.at, self.size = rows.T + 1, num_features + 1  # feature by feature: numpy sums rows faster than columns
        self._flat = self.at.ravel()
        self.counts = np.bincount(self._flat, minlength=self.size)[1:]

    def of_moves(self, values: Float64[np.ndarray, "f kinds"]) -> Float64[np.ndarray, "m kinds"]:
        """Sum of the values of the features of each move: the matrix times values."""
        padded = np.zeros((values.shape[1], self.size))
        padded[:, 1:] = values.T
        return np.array([column.take(self.at).sum(0) for column in padded]).T

    def sums(self, values: Float64[np.ndarray, "m kinds"]) -> Float64[np.ndarray, "f kinds"]:
        """Sum of the values of the moves that have each feature: the transposed matrix times values."""
        width = len(self.at)
        return np.array([np.bincount(self._flat, np.tile(each, width), self.size)[1:] for each in values.T]).T
