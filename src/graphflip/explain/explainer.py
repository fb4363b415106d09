"""What explainers take and give: AbstractExplainer, Counterfactual, Outcome."""

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..edits import Edit, edits_between, heavy_edits
from ..errors import BudgetSpent
from ..graph import Graph
from ..models.classifier import AbstractClassifier
from .evidence import Evidence
from .goals import (
    AbstractGoal,
    AbstractRequest,
    AnyOther,
    Target,
    goal_of,
    goals_of,
    reached_each,
    shown_each,
    target_of,
)
from .targets import parse_goal

Asked = int | AbstractRequest | None
"""What is asked for: a class by number, a request, or by default the likeliest class that is not predicted."""


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
        "not agree. Ask for less confidence, fewer opinions, or allow more moves."
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
        from .words import describe

        words = describe(self)
        heavy, total = len(heavy_edits(self.factual, self.edits)), len(self.edits)
        counted = f"{heavy} edit{'' if heavy == 1 else 's'}" + ("" if heavy == total else f", {total} with hydrogens")
        checked = ", none of which can be undone" if self.one_minimal else ""
        found = "" if self.p_counterfactual is None else f"; {self.p_factual:.2f} -> {self.p_counterfactual:.2f}"
        lines = [f"{self.id}: {self.outcome.value}; target {self.class_name(self.target)}{found}; {counted}{checked}"]
        if self.factual.schema.chemistry is not None and self.counterfactual is not None:
            from ..data.molecule import to_smiles

            lines.append(f"  {to_smiles(self.factual)} -> {to_smiles(self.counterfactual)}")
        lines += [f"  {word}" for word in words[:20]] + (["  …"] if len(words) > 20 else [])
        verb = "give the target" if self.goal.unit == "probability" else "predict"
        lines += [f"  {self.evidence.in_words(verb)}"] if self.evidence is not None else []
        lines += [f"  {self.note}"] if self.note else []
        return "\n".join(lines if self.flipped else [*lines, f"  {self.outcome.advice}"])

    def _repr_html_(self) -> str:
        import graphflip  # pictures stand above explanations: they are reached by the package's name

        return graphflip.to_html(self)


class AbstractExplainer(ABC):
    """Finds a counterfactual for each graph of a batch. `method` is its name in tables and files."""

    method: str
    classifier: AbstractClassifier

    @abstractmethod
    def explain_batch(self, question: "Question") -> list[Counterfactual]:
        """Answer for every graph of a batch; a graph's answer depends on nothing but the graph, its target and seed."""

    def explain_several(self, question: "Question", num: int) -> list[list[Counterfactual]]:
        """Up to `num` answers for every graph: by default those of the seeds `seed`, `seed + 1`, …"""
        rounds = [self.explain_batch(question.reseeded(question.seed + turn)) for turn in range(num)]
        return [list(together) for together in zip(*rounds, strict=True)]

    def explain(
        self,
        graph: Graph,
        target: Asked | Sequence[Asked] | Int[Tensor, " b"] = None,
        ids: Sequence[str] = (),
        seed: int = 0,
        batch_size: int = 64,
        num: int = 1,
    ) -> list[Counterfactual]:
        """Up to `num` counterfactuals for each graph; those of a graph stand together.

        By default the target is the likeliest class that is not predicted.
        """
        batches = (graph[at : at + batch_size] for at in range(0, len(graph), batch_size))
        return list(self.explain_all(batches, target, ids, seed, num))

    def explain_all(
        self,
        batches: Iterable[Graph],
        target: Asked | Sequence[Asked] | Int[Tensor, " b"] = None,
        ids: Sequence[str] = (),
        seed: int = 0,
        num: int = 1,
    ) -> Iterator[Counterfactual]:
        """The same for a stream of batches: memory does not grow with the number of graphs."""
        done = 0
        for graph in batches:
            span = slice(done, done + len(graph))
            wanted = target if isinstance(target, int | AbstractRequest | None) else target[span]
            names = ids[span] or [str(done + k) for k in range(len(graph))]
            question = ask(self.classifier, graph, wanted, names, seed)
            for several, logits in zip(self.explain_several(question, num), question.logits, strict=True):
                yield from (settled(one, self.classifier, logits) for one in several)
            done += len(graph)


@dataclass(frozen=True)
class Question:
    """A batch of factuals, padded to all slots of the schema, with a goal for each.

    All slots, because then every graph is computed in the same shapes, whatever its neighbors in the batch are.
    `logits` are the classifier's outputs: one column of values where it predicts a value.
    """

    graph: Graph
    logits: Float[Tensor, "b c"]
    goals: tuple[AbstractGoal, ...]
    ids: list[str]
    seed: int

    @cached_property
    def seeds(self) -> list[int]:
        """A seed for each graph, from its content: order does not matter."""
        return [_scramble(f"{self.seed}/{self.graph.digest(k)}") for k in range(len(self.graph))]

    def reseeded(self, seed: int) -> "Question":
        """The same question with another seed."""
        return dataclasses.replace(self, seed=seed)

    @property
    def target(self) -> list[Target]:
        """The goals as explanations keep them."""
        return [target_of(goal) for goal in self.goals]

    @property
    def p_factual(self) -> Float[Tensor, " b"]:
        return shown_each(self.goals, self.logits)

    @property
    def already_there(self) -> Bool[Tensor, " b"]:
        """Which factuals need no change."""
        return reached_each(self.goals, self.logits)

    def rngs(self, stream: str) -> list[torch.Generator]:
        """A generator for each graph; streams of different names are independent."""
        return [torch.Generator().manual_seed(_scramble(f"{seed}/{stream}")) for seed in self.seeds]

    def answer(self, k: int, method: str, found: Graph | None, outcome: Outcome, **more) -> Counterfactual:
        """The Counterfactual of graph k with everything that the question knows."""
        return Counterfactual(
            id=self.ids[k],
            method=method,
            target=target_of(self.goals[k]),
            factual=self.graph[k],
            counterfactual=found,
            p_factual=float(self.p_factual[k]),
            outcome=outcome,
            seed=self.seed,
            **more,
        )


@torch.no_grad()
def ask(
    classifier: AbstractClassifier,
    graph: Graph,
    target: Asked | Sequence[Asked] | Int[Tensor, " b"],
    ids: Sequence[str],
    seed: int,
) -> Question:
    """Predict, and make goals of what is asked for: of each graph, or the same of all."""
    graph = graph.pad(graph.schema.max_nodes)
    logits = classifier(graph)
    if isinstance(target, int | AbstractRequest | None):
        target = [target] * len(graph)
    asked = [parse_goal(one) for one in (target.tolist() if isinstance(target, Tensor) else target)]
    goals = tuple(one.at(row) for one, row in zip(asked, logits, strict=True))
    return Question(graph, logits, goals, list(ids), seed)


@torch.no_grad()
def verdict(
    classifier: AbstractClassifier, graph: Graph, target: Sequence[Target] | Int[Tensor, " b"]
) -> tuple[list[Outcome], Float[Tensor, " b"]]:
    """What the classifier says of hard graphs, with the probability of the target, or the predicted value: the last
    word on a flip."""
    logits, goals = classifier(graph), goals_of(target)
    reached = reached_each(goals, logits)
    outcomes = []
    for k in range(len(graph)):
        if not bool(logits[k].isfinite().all()):
            outcomes.append(Outcome.NOT_A_NUMBER)
        elif float(graph.B[k].sum()) == 0:
            outcomes.append(Outcome.EMPTY)
        else:
            outcomes.append(Outcome.FLIPPED if bool(reached[k]) else Outcome.NOT_FLIPPED)
    return outcomes, shown_each(goals, logits)


@torch.no_grad()
def settled(found: Counterfactual, classifier: AbstractClassifier, before: Float[Tensor, " c"]) -> Counterfactual:
    """The explanation with the class that was reached as its target, where any other one was asked for.

    `before` is what the classifier says of the factual. A classifier that may not be asked again leaves it open.
    """
    if not isinstance(found.target, AnyOther) or found.counterfactual is None:
        return found
    try:
        (after,) = classifier(found.counterfactual.pad(found.factual.schema.max_nodes))
    except BudgetSpent:
        return found
    goal = found.target.settled(after)
    return dataclasses.replace(
        found,
        target=goal.index,
        p_factual=float(goal.shown(before)),
        p_counterfactual=float(goal.shown(after)),
        classifier_calls=found.classifier_calls + bool(found.classifier_calls),
    )


def _scramble(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big")
