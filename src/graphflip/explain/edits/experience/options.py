"""Options: the moves of a round, with their features and what is expected of them."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...moves.draft import Draft, Family
from ..candidates import Candidate
from ..slopes.listing import Promise
from .estimates import Features
from .table import ExpectedEffects


class Options:
    """The moves of a round that may still be made.

    Args:
        front: States that the round starts from.
        families: Moves of each state.
        features: Numbers of their features.
        expected: What experience or slopes say of the moves of each state; None without them.
        promises: The moves as slopes listed them.

    `made` has the number of the move that led to each candidate, `priced` those whose price was learned from; `lowest`
    is the best rank that any of the others should have.
    """

    def __init__(
        self,
        front: list[Candidate],
        families: list[list[Family]],
        features: Features,
        expected: list[ExpectedEffects] | None,
        promises: Sequence[Promise] = (),
    ):
        self.states, self.promises = front, promises
        self.families = [(state, family) for state, some in zip(front, families, strict=True) for family in some]
        self.starts = np.cumsum([0, *(len(family.choices) for _, family in self.families)])
        rows = [features.of(family, state.sketch).T for state, family in self.families]
        self.rows = np.concatenate([np.empty((6, 0), dtype=np.int64), *rows], axis=1).T
        self.open = np.ones(len(self.rows), dtype=bool)
        moves = [sum(len(family.choices) for family in some) for some in families]
        self.state_of = np.repeat(np.arange(len(front)), moves)
        self.expected = None if expected is None else ExpectedEffects(*map(np.concatenate, zip(*expected, strict=True)))
        self.made: dict[frozenset, int] = {}
        self.priced: set[frozenset] = set()
        self.lowest = math.inf

    def move(self, k: int) -> tuple[Candidate, Draft]:
        """The move with number `k`, and the state that it is a move of."""
        at = int(np.searchsorted(self.starts, k, side="right")) - 1
        state, family = self.families[at]
        return state, family.draft(k - int(self.starts[at]))

    def state(self, k: int) -> Candidate:
        """The state of the move with number `k`."""
        return self.states[self.state_of[k]]

    def of_states(self, value: Callable[[Candidate], float]) -> NDArray[np.float64]:
        """A value of the state of each move."""
        return np.array([value(state) for state in self.states])[self.state_of]
