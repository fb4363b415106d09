"""Estimates of what moves do: experience from training graphs, corrected by the answers while a search goes on."""

from collections.abc import Hashable, Iterator, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ...moves.drafts import Draft
from ...moves.sketch import Sketch

Row = tuple[int, ...]
"""Numbers of the features of a move."""

# Penalty on effects: one observation is believed half, two are believed two thirds.
_DAMP = 1.0

# Steps of the solver; more change estimates by less than the models differ.
_STEPS, _TINY = 6, 1e-12


class Features:
    """Numbers the features of moves: the place of a move, what it brings there, and both together."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def of(self, draft: Draft, state: Sketch) -> Row:
        """Numbers of the features of a move of a state."""
        numbers = self.numbers
        return tuple(numbers.setdefault(feature, len(numbers)) for feature in _features(draft, state))

    def matrix(self, rows: Sequence[Row]) -> csr_matrix:
        """A row for each move, with 1 in the columns of its features."""
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.fromiter((feature for row in rows for feature in row), dtype=np.int64, count=int(ends[-1]))
        return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(self.numbers)))


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
        self.rows: list[Row] = []
        self.effects: list[tuple[float, ...]] = []

    def observe(self, row: Row, *effects: float) -> None:
        """Learn what a move with these features did."""
        self.rows.append(row)
        self.effects.append(effects)

    def estimate(self, moves: csr_matrix) -> NDArray[np.float64]:
        """Effects that moves are expected to have, a row for each; `moves` is the matrix of their features."""
        num_moves, num_features = cast(tuple[int, int], moves.shape)
        if not self.rows:
            return np.zeros((num_moves, self.kinds))
        effects = np.array(self.effects)
        mean = effects.mean(0) if self.centered else np.zeros(self.kinds)
        return mean + moves @ self._fitted(effects - mean)[:num_features]

    def _fitted(self, effects: NDArray[np.float64]) -> NDArray[np.float64]:
        """Effects of features, by a few steps of conjugate gradients on the penalized least squares."""
        seen = self.features.matrix(self.rows)
        fitted = np.zeros((len(self.features.numbers), self.kinds))
        residual = seen.T @ effects
        scale = 1.0 / (np.asarray(seen.sum(0)).ravel() + _DAMP)[:, None]  # preconditioner: 1 / diagonal
        direction = scale * residual
        size = (residual * direction).sum(0)
        for _ in range(_STEPS):
            image = seen.T @ (seen @ direction) + _DAMP * direction
            step = size / np.maximum((direction * image).sum(0), _TINY)
            fitted += step * direction
            residual -= step * image
            size, before = (residual * scale * residual).sum(0), size
            direction = scale * residual + size / np.maximum(before, _TINY) * direction
        return fitted


def _features(draft: Draft, state: Sketch) -> Iterator[Hashable]:
    kind, place, brings, _, _ = draft
    yield place, kind == "add group", kind == "change node"
    yield "brings", brings
    yield kind
    yield place[:1]
    if brings is not None:
        yield kind, brings
        yield brings, state.nodes[place[0]]
