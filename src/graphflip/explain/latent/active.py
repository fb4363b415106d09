"""ActiveGraphs: the graphs of a batch that still walk through the latent space, and where the others have stopped."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.decode import rounded
from ..counterfactual import Counterfactual, Outcome
from ..goals.batches import mean_outputs, reached_each, score_each, shown_each
from ..goals.goal import AbstractGoal
from ..method import Question, verdict


class Stopped(NamedTuple):
    """The hard graph at which a walk ended, how it ended, and the probability of the target there."""

    graph: Graph
    outcome: Outcome
    probability: float


class ActiveGraphs:
    """Bookkeeping of Algorithm 1 for a batch: its mask, which never turns back, and the answers.

    `active` are the numbers in the batch of the graphs still walking. Tensors with an axis `a` have a row for each of
    them, in this order; the axis `s` are draws of one code. Factuals that are classified as the target never start.
    A walk ends where the target is reached with `confidence`; 0 asks for the class alone.
    """

    def __init__(
        self, question: Question, classifier: AbstractClassifier, keep_path: bool = False, confidence: float = 0.0
    ):
        self.question, self.classifier, self.keep_path, self.confidence = question, classifier, keep_path, confidence
        already = question.already_there
        self.active = (~already).nonzero()[:, 0]
        self.stopped = {
            k: Stopped(question.graph[k], Outcome.ALREADY_THERE, float(question.p_factual[k]))
            for k in already.nonzero()[:, 0].tolist()
        }
        self.surest: dict[int, Stopped] = {}  # past the boundary, but not as sure as asked
        self.probabilities: list[list[float]] = [[] for _ in range(len(question.graph))]
        self.paths: list[list[Tensor]] = [[] for _ in range(len(question.graph))]

    @property
    def factual(self) -> Graph:
        """All graphs of the batch."""
        return self.question.graph

    @property
    def goals(self) -> list[AbstractGoal]:
        """Goals (y_D) of the graphs still walking."""
        return [self.question.goals[k] for k in self.active.tolist()]

    def rows_of(self, values: Float[Tensor, "b n dz"]) -> Float[Tensor, "a n dz"]:
        """Rows of the graphs still walking, from a tensor of the whole batch."""
        return values[self.active]

    def surprise(self, logits: Float[Tensor, "a s c"]) -> Float[Tensor, " a"]:
        """Cross-entropy -log p(y_D), or the distance from the range of values; the mean over draws."""
        return -score_each(self.goals, logits).mean(1)

    def record(self, z: Float[Tensor, "a n dz"], logits: Float[Tensor, "a s c"]) -> None:
        """Note the probability of the target, and if asked for the code, at this step."""
        shown = shown_each(self.goals, mean_outputs(logits.transpose(0, 1))).tolist()
        for row, k in enumerate(self.active.tolist()):
            self.probabilities[k].append(shown[row])
            if self.keep_path:
                self.paths[k].append(z[row])

    def stop(
        self, decoded: Graph, logits: Float[Tensor, "a s c"], gradient: Float[Tensor, "a n dz"], last: bool
    ) -> Bool[Tensor, " a"]:
        """Mask of the rows that walk on; False, for good, where the hard graph is classified as the target.

        The mean over draws and the best draw must both reach the goal. The best draw, rounded, is classified once more,
        and must have the confidence that is asked for. A walk also ends at the last step, and where logits or gradient
        are not finite.
        """
        goals, draws, rows = self.goals, logits.shape[1], torch.arange(len(logits))
        best = score_each(goals, logits).argmax(1)
        flipped = reached_each(goals, mean_outputs(logits.transpose(0, 1))) & reached_each(goals, logits[rows, best])
        broken = ~(logits.isfinite().all(-1).all(-1) & gradient.isfinite().all(-1).all(-1))
        walks_on = torch.ones(len(rows), dtype=torch.bool)
        at = (flipped | broken | last).nonzero()[:, 0]
        if len(at):
            hard = rounded(decoded.select((rows * draws + best)[at]))
            outcomes, probability = self._verdict(hard, [goals[k] for k in at.tolist()])
            for position, k in enumerate(at.tolist()):
                here = Stopped(hard[position], outcomes[position], probability[position])
                walks_on[k] = not self._ends(int(self.active[k]), here, bool(broken[k]), last)
        self.active = self.active[walks_on]
        return walks_on

    def _verdict(self, hard: Graph, goals: list[AbstractGoal]) -> tuple[list[Outcome], list[float]]:
        """Outcome of each hard graph (not confident: the class, but not the confidence), and its probability."""
        outcomes, shown = verdict(self.classifier, hard, goals)
        for k, goal in enumerate(goals):
            unsure = goal.unit == "probability" and float(shown[k]) < self.confidence
            if outcomes[k] is Outcome.FLIPPED and unsure:
                outcomes[k] = Outcome.NOT_CONFIDENT
        return outcomes, shown.tolist()

    def _ends(self, k: int, here: Stopped, broken: bool, last: bool) -> bool:
        """Note where the walk of graph k stands, and say whether it ends: here, or with the surest graph of the way."""
        if here.outcome is Outcome.NOT_CONFIDENT:
            self.surest[k] = max(self.surest.get(k, here), here, key=lambda one: one.probability)
        outcome = _end(here.outcome, broken, last)
        if outcome is None:
            return False
        self.stopped[k] = here._replace(outcome=outcome)
        if outcome is not Outcome.FLIPPED:
            self.stopped[k] = self.surest.get(k, self.stopped[k])
        return True

    def answers(self, method: str, seconds: float) -> list[Counterfactual]:
        """Counterfactuals of all graphs of the batch, once none of them walks any more."""
        return [
            self.question.answer(
                k,
                method,
                self.stopped[k].graph,
                self.stopped[k].outcome,
                p_counterfactual=self.stopped[k].probability,
                steps=len(self.probabilities[k]),
                seconds=seconds,
                probabilities=tuple(self.probabilities[k]),
                path=torch.stack(self.paths[k]) if self.paths[k] else None,
            )
            for k in range(len(self.factual))
        ]


def _end(outcome: Outcome, broken: bool, last: bool) -> Outcome | None:
    """Outcome of a walk that ends here; None if it goes on."""
    if broken:
        return Outcome.NOT_A_NUMBER
    if last:
        return Outcome.OUT_OF_STEPS if outcome is Outcome.NOT_FLIPPED else outcome
    return None if outcome in (Outcome.NOT_FLIPPED, Outcome.NOT_CONFIDENT, Outcome.EMPTY) else outcome
