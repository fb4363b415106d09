"""AbstractRival: a method of the literature behind the interface of all explainers, with what it can do."""

import time
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..explain.counterfactual import Counterfactual, Outcome
from ..explain.goals.goal import AbstractGoal
from ..explain.method import AbstractExplainer, Question, verdict
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier


@dataclass(frozen=True)
class Abilities:
    """Changes that a method can make, and what it needs; shown in tables, so that nobody takes a limit for a failure.

    Args:
        removes_edges: Edges can go.
        adds_edges: Edges can come between nodes that are there.
        changes_attributes: Attributes of nodes can change.
        changes_nodes: Nodes can come and go.
        takes_constraints: Parts can be frozen or forbidden.
        needs: Things it cannot do without: "gradients", "training", "molecules" or a package.
    """

    removes_edges: bool = True
    adds_edges: bool = False
    changes_attributes: bool = False
    changes_nodes: bool = False
    takes_constraints: bool = False
    needs: tuple[str, ...] = ()

    @property
    def marks(self) -> dict[str, bool]:
        """Columns of a table, by heading."""
        return {
            "removes edges": self.removes_edges,
            "adds edges": self.adds_edges,
            "changes attributes": self.changes_attributes,
            "adds and removes nodes": self.changes_nodes,
            "takes constraints": self.takes_constraints,
        }


@dataclass(frozen=True)
class About:
    """Origin and limits of a method.

    Args:
        title: Name in the literature.
        reference: Authors, year, venue and number of its paper.
        abilities: Changes that it can make.
        reproduced: A figure of its paper and how near ours is, or the reason why there is none.
    """

    title: str
    reference: str
    abilities: Abilities
    reproduced: str = ""


@dataclass(eq=False)
class Asking:
    """One graph to explain, and the classifier, whose calls are counted.

    Args:
        classifier: Model to explain.
        factual: Graph to explain, a batch of one, padded to all slots of its schema.
        goal: What the classifier must predict.
        rng: Source of all random numbers.
    """

    classifier: AbstractClassifier
    factual: Graph
    goal: AbstractGoal
    rng: torch.Generator
    calls: int = field(default=0, init=False)

    @torch.no_grad()
    def outputs(self, graphs: Graph) -> Float[Tensor, "b c"]:
        """Classify hard graphs."""
        self.calls += len(graphs)
        return self.classifier(graphs.pad(self.factual.num_slots))

    def reached(self, graphs: Graph) -> Bool[Tensor, " b"]:
        """True for the graphs that the classifier predicts as asked; a graph without nodes never is."""
        return self.goal.reached(self.outputs(graphs)) & (graphs.num_nodes > 0)


class AbstractRival(AbstractExplainer):
    """Interface of a method that looks for one counterfactual at a time: it implements `search`.

    `about` has its name, paper and abilities. `explain_batch` asks the classifier once more about whatever the search
    returns, so a flip is never claimed that the classifier denies.

    Example:
        >>> from graphflip.rivals.irand import IRand
        >>> IRand.about.abilities.adds_edges
        True
    """

    about: ClassVar[About]

    @abstractmethod
    def search(self, asking: Asking) -> Graph | None:
        """Look for a counterfactual.

        Args:
            asking: The graph, the goal, a source of random numbers, and the classifier.

        Returns:
            One hard graph whose slots are those of the factual, or None if nothing was found.
        """

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        rngs = question.rngs(self.method)
        return [self._one(question, k, rngs[k]) for k in range(len(question.graph))]

    def _one(self, question: Question, k: int, rng: torch.Generator) -> Counterfactual:
        started = time.perf_counter()
        asking = Asking(self.classifier, question.graph[k], question.goals[k], rng)
        graph = self.search(asking)
        return checked(self, question, k, graph, time.perf_counter() - started, asking.calls)


def checked(
    rival: AbstractRival, question: Question, k: int, graph: Graph | None, seconds: float, calls: int, steps: int = 0
) -> Counterfactual:
    """Make the answer for graph k of a question from what a method proposes, asking the classifier once more."""
    told = {"seconds": seconds, "classifier_calls": calls, "steps": steps}
    if graph is None:
        return question.answer(k, rival.method, None, Outcome.OUT_OF_STEPS, p_counterfactual=None, **told)
    graph = graph.pad(max(graph.num_slots, question.graph.num_slots)).detach()
    (outcome,), probability = verdict(rival.classifier, graph, question.goals[k : k + 1])
    return question.answer(k, rival.method, graph, outcome, p_counterfactual=float(probability), **told)
