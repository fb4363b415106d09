"""AbstractDescent: methods that learn a relaxed change of each graph by gradient descent through the classifier."""

import time
from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..explain.counterfactual import Counterfactual
from ..explain.goals.batches import reached_each
from ..explain.goals.goal import AbstractGoal
from ..explain.method import Question
from ..graph import Graph
from .edge_weights import num_changed
from .rival import AbstractRival, Asking, checked

Parameters = list[Tensor]


class AbstractDescent(AbstractRival):
    """Interface of a method with parameters for each graph; those of a batch are learned side by side.

    The hard graph of every step is classified, and the flip with the fewest changes is the answer; where `last` is
    true, only the graph of the last step is classified, and a loss cannot ask if the goal is reached.
    `passes` is the number of graphs that one evaluation of the loss shows the classifier.
    """

    steps: int
    rate: float
    last: bool = False
    passes: int = 1

    @abstractmethod
    def begin(self, question: Question) -> Parameters:
        """Initial parameters, the first axis of each for the graphs of the batch."""

    @abstractmethod
    def loss(self, question: Question, parameters: Parameters, same: Bool[Tensor, " b"]) -> Float[Tensor, " b"]:
        """Loss of each graph; `same` is True where the hard graph is not classified as asked yet."""

    @abstractmethod
    def hard(self, graph: Graph, parameters: Parameters) -> Graph:
        """Hard graphs that the parameters stand for."""

    def optimizer(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Plain gradient descent, unless a method says otherwise."""
        return torch.optim.SGD(parameters, self.rate)

    def search(self, asking: Asking) -> Graph | None:
        """Descend for one graph; `explain_batch` does so for all graphs of a batch side by side."""
        outputs = asking.outputs(asking.factual)
        best, calls = self._descend(Question(asking.factual, outputs, (asking.goal,), [""], asking.rng.initial_seed()))
        asking.calls += calls
        return best[0]

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started, count = time.perf_counter(), len(question.graph)
        best, calls = self._descend(question)
        seconds = (time.perf_counter() - started) / max(count, 1)
        return [checked(self, question, k, best[k], seconds, calls, self.steps) for k in range(count)]

    def _descend(self, question: Question) -> tuple[list[Graph | None], int]:
        graph, calls = question.graph, 0
        best: list[Graph | None] = [None] * len(graph)
        least = torch.full((len(graph),), torch.inf)
        with torch.enable_grad():
            parameters = [tensor.detach().requires_grad_() for tensor in self.begin(question)]
            optimizer = self.optimizer(parameters)
            seen, flips = None, torch.zeros(len(graph), dtype=torch.bool)
            for step in range(self.steps + 1):
                if not self.last or step == self.steps:
                    with torch.no_grad():
                        after = self.hard(graph, parameters)
                        if seen is None or not (torch.equal(after.A, seen.A) and torch.equal(after.V, seen.V)):
                            seen, calls = after, calls + 1
                            flips = reached_each(question.goals, self.classifier(after)) & (after.num_nodes > 0)
                            _keep(after, flips, num_changed(graph, after), best, least)
                if step == self.steps:
                    break
                # Not `backward`, which would compute gradients of the classifier's weights as well.
                gradients = torch.autograd.grad(self.loss(question, parameters, ~flips).sum(), parameters)
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.grad = gradient
                calls += self.passes
                optimizer.step()
        return best, calls


def _keep(
    after: Graph, flips: Bool[Tensor, " b"], size: Tensor, best: list[Graph | None], least: Float[Tensor, " b"]
) -> None:
    for k in (flips & (size < least)).nonzero()[:, 0].tolist():
        best[k], least[k] = after[k], size[k]


def scores(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b c"]) -> Float[Tensor, " b"]:
    """Differentiable log-probability of each graph's goal, or minus a distance to it."""
    return torch.stack([goal.score(row) for goal, row in zip(goals, outputs, strict=True)])


def log_otherwise(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b c"]) -> Float[Tensor, " b"]:
    """Log-probability that the goal is not reached; for values, the distance to it."""
    score = scores(goals, outputs)
    if goals[0].unit != "probability":
        return -score
    return torch.log1p(-score.exp().clamp(max=1 - 1e-6))
