"""Ground: a state of a search with its gradients, from which moves are listed."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....schema import Schema
from ...moves.moves import Moves
from ...moves.sketch import Sketch
from .admission import StateAdmission
from .gradients import Gradient


@dataclass(frozen=True, eq=False)
class Ground:
    """A state whose moves are listed.

    Args:
        moves: Moves of the schema, which has no chemistry.
        factual: Sketch of the factual.
        state: Sketch of the state.
        slopes: Gradients at the state: of the classifier's score, and of the surrogates'.
        number: Numbers of sorts of moves.
        admission: Test of the environments that moves create.
    """

    moves: Moves
    factual: Sketch
    state: Sketch
    slopes: Sequence[Gradient]
    number: Callable[[Hashable], int]
    admission: StateAdmission

    @property
    def schema(self) -> Schema:
        """Schema of the graphs."""
        return self.moves.schema

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """Numbers of the nodes."""
        return np.fromiter(self.state.nodes, dtype=np.int64, count=len(self.state.nodes))
