"""AbstractExplainer: the interface of every method that finds counterfactuals, and the question it answers."""

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
from .claims.boundary import lead
from .counterfactual import Counterfactual, Outcome
from .goals.batches import reached_each, shown_each
from .goals.classes import AnyOther
from .goals.goal import AbstractGoal, AbstractRequest
from .goals.stored import Target, goals_of, target_of
from .goals.targets import parse_goal

Asked = int | AbstractRequest | None
"""A target: a class by number, a request, or None for the likeliest class that is not predicted."""


class AbstractExplainer(ABC):
    """Interface of a method: it finds a counterfactual for each graph of a batch.

    A method implements `explain_batch`. `method` is its name in tables and files, `classifier` the model to explain.

    Example:
        >>> from graphflip.explain import NoChange
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> isinstance(NoChange(RelationalGIN(graph.schema).eval()), AbstractExplainer)
        True
    """

    method: str
    classifier: AbstractClassifier

    @abstractmethod
    def explain_batch(self, question: "Question") -> list[Counterfactual]:
        """Answer for every graph of a batch.

        Args:
            question: Padded graphs with a goal and a seed for each.

        Returns:
            One answer for each graph, in order. It depends on nothing but the graph, its goal and its seed.
        """

    def explain_several(self, question: "Question", num: int) -> list[list[Counterfactual]]:
        """Give up to `num` answers for every graph: by default those of the seeds `seed`, `seed + 1`, …

        Args:
            question: Padded graphs with a goal and a seed for each.
            num: Most answers for each graph.
        """
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
        """Find up to `num` counterfactuals for each graph.

        Args:
            graph: Factuals, a batch of hard graphs.
            target: One target for all graphs, or one for each: a class number, a request such as `Shift(0.5)`, or None
                for the likeliest class that is not predicted.
            ids: Names of the graphs; by default their numbers.
            seed: Seed of all draws. A graph's answer does not depend on the other graphs.
            batch_size: Graphs explained at a time.
            num: Most counterfactuals for each graph.

        Returns:
            Counterfactuals; those of a graph stand together, in the order of the graphs.

        Raises:
            ConfigError: If the classifier has no such output as the target.
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
        """Explain a stream of batches, as `explain` does; memory does not grow with the number of graphs.

        Args:
            batches: Batches of hard graphs.
            target: One target for all graphs, or one for each graph of the stream.
            ids: Names of the graphs; by default their numbers.
            seed: Seed of all draws.
            num: Most counterfactuals for each graph.
        """
        done = 0
        for graph in batches:
            span = slice(done, done + len(graph))
            wanted = target if isinstance(target, int | AbstractRequest | None) else target[span]
            names = ids[span] or [str(done + k) for k in range(len(graph))]
            question = ask(self.classifier, graph, wanted, names, seed)
            for several, logits in zip(self.explain_several(question, num), question.logits, strict=True):
                yield from (settled(each, self.classifier, logits) for each in several)
            done += len(graph)


@dataclass(frozen=True)
class Question:
    """A batch of factuals, with all slots of the schema or, if it has very many, with ample ones, and a goal for each.

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
        """Goals as explanations keep them: class numbers where they are classes."""
        return [target_of(goal) for goal in self.goals]

    @property
    def p_factual(self) -> Float[Tensor, " b"]:
        """Probability of each factual's goal, or its predicted value."""
        return shown_each(self.goals, self.logits)

    @property
    def already_there(self) -> Bool[Tensor, " b"]:
        """True where the factual itself reaches its goal."""
        return reached_each(self.goals, self.logits)

    def rngs(self, stream: str) -> list[torch.Generator]:
        """A generator for each graph; streams of different names are independent."""
        return [torch.Generator().manual_seed(_scramble(f"{seed}/{stream}")) for seed in self.seeds]

    def answer(self, k: int, method: str, counterfactual: Graph | None, outcome: Outcome, **more) -> Counterfactual:
        """Make the Counterfactual of graph k, with all that the question knows filled in."""
        return Counterfactual(
            id=self.ids[k],
            method=method,
            target=target_of(self.goals[k]),
            factual=self.graph[k],
            counterfactual=counterfactual,
            p_factual=float(self.p_factual[k]),
            lead_factual=lead(self.logits[k]),
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
    """Predict for each graph and turn its target into a goal; one target may stand for all graphs."""
    graph = graph.ample()
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
    """Classify hard graphs: outcome of each, and the probability of its target or its predicted value.

    Every claim of a flip goes through here.
    """
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
def settled(explanation: Counterfactual, classifier: AbstractClassifier, before: Float[Tensor, " c"]) -> Counterfactual:
    """Replace the target "any other class" by the class that was reached.

    `before` are the classifier's outputs for the factual. A classifier whose budget is spent leaves the target open.
    """
    if not isinstance(explanation.target, AnyOther) or explanation.counterfactual is None:
        return explanation
    try:
        (after,) = classifier(explanation.counterfactual.ample())
    except BudgetSpent:
        return explanation
    goal = explanation.target.settled(after)
    return dataclasses.replace(
        explanation,
        target=goal.index,
        p_factual=float(goal.shown(before)),
        p_counterfactual=float(goal.shown(after)),
        classifier_calls=explanation.classifier_calls + bool(explanation.classifier_calls),
    )


def _scramble(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big")
