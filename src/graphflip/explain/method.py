"""AbstractExplainer: what every method that finds counterfactuals takes and gives."""

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..errors import BudgetSpent
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .counterfactual import Counterfactual, Outcome
from .goals.batches import reached_each, shown_each
from .goals.classes import AnyOther
from .goals.goal import AbstractGoal, AbstractRequest
from .goals.stored import Target, goals_of, target_of
from .goals.targets import parse_goal

Asked = int | AbstractRequest | None
"""What is asked for: a class by number, a request, or by default the likeliest class that is not predicted."""


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
