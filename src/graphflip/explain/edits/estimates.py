"""Estimates of what moves do, learned from the answers of the models while a search goes on."""

from collections.abc import Hashable, Iterator, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from ..moves.drafts import Draft
from ..moves.sketch import Sketch

Row = tuple[int, ...]
"""Numbers of the features of a move."""

# Weight of the penalty on effects: one observation is believed half, two are believed two thirds.
_DAMP = 1.0

# Steps of the solver; more change estimates by less than the models differ.
_STEPS = 24


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
    """Estimates an effect of each move as a sum over its features.

    The effects of features are those that fit the moves observed so far best (least squares with a penalty on large
    effects); a feature that was never seen has the effect 0. Moves of later rounds have most of their features in
    common with those of the first, so that few of them need to be tried.

    Args:
        features: Numbers of the features.
    """

    def __init__(self, features: Features):
        self.features = features
        self.rows: list[Row] = []
        self.effects: list[float] = []

    def observe(self, row: Row, effect: float) -> None:
        """Learn what a move with these features did."""
        self.rows.append(row)
        self.effects.append(effect)

    def estimate(self, moves: csr_matrix) -> NDArray[np.float64]:
        """Effects that moves are expected to have; `moves` is the matrix of their features."""
        num_moves, num_features = cast(tuple[int, int], moves.shape)
        if not self.rows:
            return np.zeros(num_moves)
        mean = float(np.mean(self.effects))
        seen = self.features.matrix(self.rows)
        fitted = lsqr(seen, np.array(self.effects) - mean, damp=_DAMP, iter_lim=_STEPS)[0]
        return mean + moves @ fitted[:num_features]


def _features(draft: Draft, state: Sketch) -> Iterator[Hashable]:
    kind, place, brings, _ = draft
    yield place, kind == "add group", kind == "change node"
    yield "brings", brings
    yield kind
    yield place[:1]
    if brings is not None:
        yield kind, brings
        yield brings, state.nodes[place[0]]
