"""Counterfactual: one explanation, with how the search for it ended."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from ..edits import Edit, edits_between
from ..graph import Graph
from .display import shown
from .evidence import Evidence
from .goals.goal import AbstractGoal
from .goals.stored import Target, goal_of


class Outcome(Enum):
    """How a search ended; `advice` says what it means and what to try."""

    FLIPPED = "flipped"
    ALREADY_THERE = "already_there"
    OUT_OF_STEPS = "out_of_steps"
    NOT_FLIPPED = "not_flipped"
    EMPTY = "empty"
    NOTHING_TO_OFFER = "nothing_to_offer"
    NOT_A_NUMBER = "not_a_number"
    NOT_CONFIDENT = "not_confident"
    OUT_OF_MOVES = "out_of_moves"
    NO_MOVE_ALLOWED = "no_move_allowed"
    OUT_OF_CALLS = "out_of_calls"

    @property
    def advice(self) -> str:
        return _ADVICE[self]


_ADVICE = {
    Outcome.FLIPPED: "The classifier gives the counterfactual what was asked for; a second look confirmed it.",
    Outcome.ALREADY_THERE: "The classifier predicts the target for the factual itself. Ask for another one.",
    Outcome.OUT_OF_STEPS: ("No graph on the way reached the target. Allow more steps, larger ones, or other seeds."),
    Outcome.NOT_FLIPPED: "The method's one proposal does not reach the target. Use a method that searches.",
    Outcome.EMPTY: "The code decoded to a graph without nodes. The autoencoder does not know graphs like this one.",
    Outcome.NOTHING_TO_OFFER: "The training data have no graph with the target label. Use another method.",
    Outcome.NOT_A_NUMBER: "The classifier or the decoder returned NaN or infinity. Check the model on this graph.",
    Outcome.NOT_CONFIDENT: (
        "The classifier predicts the target, but with less confidence than asked, or another model does "
        "not agree. Ask for less confidence, fewer surrogates, or allow more moves."
    ),
    Outcome.OUT_OF_MOVES: (
        "No graph within the allowed moves reached the target. Allow more moves, a wider beam, or "
        "loosen the constraints that ruled out most."
    ),
    Outcome.OUT_OF_CALLS: (
        "The classifier may not be asked any more. Allow more calls, or let a latent walk propose fewer graphs."
    ),
    Outcome.NO_MOVE_ALLOWED: "The constraints rule out every valid move. Loosen the one that is named.",
}


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One explanation: what was asked, what was found, and the way there.

    `factual` and `counterfactual` are aligned: slot i is the same node in both. `counterfactual` is the graph that was
    classified, never a fresh draw; it is None where there was nothing to offer. Where the outcome is not FLIPPED it
    is the last attempt. `target` is the number of a class, or another goal; where it is a range of values, `p_factual`,
    `p_counterfactual` and `probabilities` are predicted values. `probabilities` are those of the target along the path,
    one for each step; `path` are the latent codes. `one_minimal`: it was checked that no edit can be undone without
    losing what was asked. `evidence` is what independent models say. `classes` are names of classes. `classifier_calls`
    counts the graphs that the classifier was shown, where the method keeps count; `note` says what stood in the way of
    a flip, or of what was asked beside it.
    """

    id: str
    method: str
    target: Target
    factual: Graph
    counterfactual: Graph | None
    p_factual: float
    p_counterfactual: float | None
    outcome: Outcome
    seed: int = 0
    steps: int = 0
    seconds: float = 0.0
    probabilities: tuple[float, ...] = ()
    path: Float[Tensor, "t n dz"] | None = None
    classifier_calls: int = 0
    note: str = ""
    classes: tuple[str, ...] = ()
    one_minimal: bool | None = None
    evidence: Evidence | None = None

    @property
    def flipped(self) -> bool:
        return self.outcome is Outcome.FLIPPED

    @cached_property
    def edits(self) -> list[Edit]:
        """The typed list of edits that turns the factual into the counterfactual."""
        return [] if self.counterfactual is None else edits_between(self.factual, self.counterfactual)

    @property
    def goal(self) -> AbstractGoal:
        """What the target means."""
        return goal_of(self.target)

    def class_name(self, target: Target) -> str:
        """The name of a class, or its number; another goal in words."""
        return goal_of(target).name(self.classes)

    def __str__(self) -> str:
        return shown("text", self)

    def _repr_html_(self) -> str:
        return shown("html", self)
