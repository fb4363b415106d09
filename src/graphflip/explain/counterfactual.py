"""Counterfactual: one explanation, and the outcome of the search for it."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from ..data.molecules.carry import SmilesPair, carry
from ..edits import Edit, edits_between
from ..graph import Graph
from .claims.boundary import is_unsure
from .claims.importance import Importance
from .claims.needs import Need, Smaller
from .display import shown
from .evidence import Evidence
from .goals.goal import AbstractGoal
from .goals.stored import Target, goal_of


class Outcome(Enum):
    """Way in which a search ended; `advice` says what it means and what to try next.

    Example:
        >>> Outcome("flipped") is Outcome.FLIPPED
        True
        >>> Outcome.OUT_OF_STEPS.advice
        'No graph on the way reached the target. Allow more steps, larger ones, or other seeds.'
    """

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
        """Meaning of the outcome and, where there is no flip, what to try."""
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
    Outcome.NO_MOVE_ALLOWED: (
        "No valid change of this graph is allowed. If the note names constraints, loosen them; if it names none, "
        "the kit knows no change of such a graph."
    ),
}


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """One explanation: the question, the graph that answers it, and the way there.

    Args:
        id: Name of the graph.
        method: Name of the method that made it.
        target: Number of a class, or another goal. Where it is a range of values, `p_factual`, `p_counterfactual` and
            `probabilities` are predicted values.
        factual: Graph that was explained.
        counterfactual: Graph that was classified, never a fresh draw, aligned with the factual: slot i is the same node
            in both. The last attempt if the outcome is not FLIPPED; None if there was nothing to offer.
        p_factual: Probability of the target for the factual, from 0 to 1.
        p_counterfactual: Probability of the target for the counterfactual; None if there is none.
        outcome: Way in which the search ended.
        seed: Seed that was asked with.
        steps: Steps or rounds that the search took.
        seconds: Wall time for this graph; in a batch, an equal share.
        probabilities: Probability of the target after each step.
        path: Latent codes of the walk, if they were kept.
        classifier_calls: Number of graphs shown to the classifier; 0 if the method does not count.
        note: Obstacle to a flip, or to a wish beside it, in words.
        classes: Names of the classes.
        one_minimal: True if no single change can be taken back such that a valid graph is left which the classifier
            still predicts as the target; False if one can; None if that was not checked. It is about the class alone.
        needed_for: For each change that `describe` tells, what is lost without it: the class, validity, the confidence
            or the agreement that was asked, or nothing; None if that was not checked.
        smaller: The smallest answer that was found by taking changes back while the class stays; None if there is none
            or it was not checked.
        importance: Effects of the single changes that were tried at each node and edge of the factual; None if the
            method does not try them.
        lead_factual: Probability of the factual's likeliest class minus that of the second; None if not known.
        lead_counterfactual: The same for the counterfactual.
        evidence: Verdicts of independent models and rules.
        source: The molecule that was given, as SMILES, with all that the model does not see; empty if that was a graph.

    Example:
        >>> from graphflip.explain import NoChange
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> (answer,) = NoChange(RelationalGIN(graph.schema).eval()).explain(graph)
        >>> answer.flipped, answer.edits
        (False, [])
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
    needed_for: tuple[Need, ...] | None = None
    smaller: Smaller | None = None
    importance: Importance | None = None
    lead_factual: float | None = None
    lead_counterfactual: float | None = None
    evidence: Evidence | None = None
    source: str = ""

    @property
    def flipped(self) -> bool:
        """True if the counterfactual is classified as asked."""
        return self.outcome is Outcome.FLIPPED

    @property
    def unsure(self) -> tuple[bool, bool]:
        """True for the factual, and for the counterfactual, if its prediction is near the boundary of two classes."""
        if self.goal.unit != "probability":
            return False, False
        sides = (self.lead_factual, self.p_factual), (self.lead_counterfactual, self.p_counterfactual)
        factual, counterfactual = (is_unsure(*side, len(self.classes)) for side in sides)
        return factual, counterfactual

    @cached_property
    def edits(self) -> list[Edit]:
        """Typed list of edits that turns the factual into the counterfactual; empty if there is none."""
        return [] if self.counterfactual is None else edits_between(self.factual, self.counterfactual)

    @cached_property
    def smiles(self) -> SmilesPair:
        """SMILES of both graphs with stereo, isotopes and counter-ions of the source, where nothing changed.

        None for what is no molecule. `graphflip.data.to_smiles` writes the graph alone.
        """
        return carry(self.source, self.factual, self.counterfactual)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on what the model does not see of the source, and what became of it."""
        return self.smiles.remarks if self.source else ()

    @property
    def goal(self) -> AbstractGoal:
        """Goal that the target stands for."""
        return goal_of(self.target)

    def class_name(self, target: Target) -> str:
        """Name of a class, or its number if it has no name; another goal in words."""
        return goal_of(target).name(self.classes)

    def __str__(self) -> str:
        return shown("text", self)

    def _repr_html_(self) -> str:
        return shown("html", self)
