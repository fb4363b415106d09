"""Options: the moves of a round, with their features and what is expected of them."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...moves.drafts import Draft
from ..candidates import Candidate
from ..slopes.listing import Promise
from .estimates import Features
from .table import ExpectedEffects


class Options:
    """The moves of a round that may still be made.

    Args:
        front: States that the round starts from.
        drafts: Moves of each state.
        features: Numbers of their features.
        expected: What experience or slopes say of the moves of each state; None without them.
        promises: The moves as slopes listed them.

    `made` has the number of the move that led to each candidate, `priced` those whose price was learned from; `lowest`
    is the best rank that any of the others should have.
    """

    def __init__(
        self,
        front: list[Candidate],
        drafts: list[list[Draft]],
        features: Features,
        expected: list[ExpectedEffects] | None,
        promises: Sequence[Promise] = (),
    ):
        self.states, self.promises = front, promises
        self.pairs = [(state, draft) for state, some in zip(front, drafts, strict=True) for draft in some]
        self.rows = [features.of(draft, state.sketch) for state, draft in self.pairs]
        self.matrix = features.matrix(self.rows)
        self.open = np.ones(len(self.pairs), dtype=bool)
        self.state_of = np.repeat(np.arange(len(front)), list(map(len, drafts)))
        self.expected = None if expected is None else ExpectedEffects(*map(np.concatenate, zip(*expected, strict=True)))
        self.made: dict[frozenset, int] = {}
        self.priced: set[frozenset] = set()
        self.lowest = math.inf

    def of_states(self, value: Callable[[Candidate], float]) -> NDArray[np.float64]:
        """A value of the state of each move."""
        return np.array([value(state) for state in self.states])[self.state_of]
