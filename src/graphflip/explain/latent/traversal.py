"""LatentTraversal: counterfactuals by a classifier-guided walk through the latent space (CGCF, Algorithm 1)."""

import time
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.decode import Gumbel, MostLikely
from ...models.networks.pegvae import PEGVAE
from ..counterfactual import Counterfactual, Outcome
from ..goals.batches import mean_outputs, reached_each, score_each, shown_each
from ..goals.goal import AbstractGoal
from ..method import AbstractExplainer, Question, verdict


@dataclass(frozen=True)
class LatentTraversal(AbstractExplainer):
    """Walk from z_F against the gradient of -log p(target | decode(z)) + regularization |z - origin|; where values are
    predicted, the distance from the range that is asked for takes the place of -log p.

    `infer` is one of the three ways the paper names to get a graph from the decoder's distribution: a Gumbel-softmax
    draw with straight-through gradients, the mean loss over `samples` such draws, or the most likely graph. The walk
    of a graph ends for good when its hard graph is classified as the target; that graph is checked once more and
    returned. `optimizer="descent"` is the update as printed in the paper, `"adam"` is what its experiments use.
    `anchor` is what the regularizer pulls towards: the origin (paper) or the factual's code.
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    steps: int = 1000
    step_size: float = 0.05
    regularization: float = 1.0
    tau: float = 1.0
    infer: Literal["gumbel", "samples", "most_likely"] = "gumbel"
    samples: int = 8
    optimizer: Literal["adam", "descent"] = "adam"
    anchor: Literal["origin", "factual"] = "origin"
    keep_path: bool = False
    method: str = "cgcf"

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        walk = _Walk(self, question)
        for _ in range(self.steps):
            if not len(walk.active):
                break
            walk.step()
        seconds = (time.perf_counter() - started) / max(len(question.graph), 1)
        return walk.answers(seconds)


class _Walk:
    """The graphs still walking: `active` are their numbers in the batch, the other tensors have one row for each."""

    def __init__(self, settings: LatentTraversal, question: Question):
        self.settings, self.question = settings, question
        with torch.no_grad():
            z = settings.vae.locate(question.graph, question.rngs("identity"))
        self.rngs = question.rngs("noise")
        already = question.already_there
        self.active = (~already).nonzero()[:, 0]
        self.z, self.start = z[self.active], z[self.active]
        self.momentum, self.variance = torch.zeros_like(self.z), torch.zeros_like(self.z)
        self.turn = 0
        self.found: dict[int, tuple[Graph, Outcome, float]] = {
            k: (question.graph[k], Outcome.ALREADY_THERE, float(question.p_factual[k]))
            for k in already.nonzero()[:, 0].tolist()
        }
        self.steps_taken = dict.fromkeys(range(len(question.graph)), 0)
        self.probabilities: dict[int, list[float]] = {k: [] for k in self.steps_taken}
        self.paths: dict[int, list[Tensor]] = {k: [] for k in self.steps_taken}
        self.last: dict[int, Graph] = {}

    @property
    def goals(self) -> list[AbstractGoal]:
        """Those of the graphs still walking."""
        return [self.question.goals[k] for k in self.active.tolist()]

    def step(self) -> None:
        """Decode, classify, stop those that flipped, move the rest by one step."""
        self.turn += 1
        settings, goals = self.settings, self.goals
        z = self.z.detach().requires_grad_()
        graph, logits = self._decode_and_classify(z)
        loss = -score_each(goals, logits).mean(1)
        origin = self.start if settings.anchor == "factual" else torch.zeros_like(z)
        # The square root has no gradient at zero, where an anchored walk starts.
        norm = ((z - origin) ** 2).sum((1, 2)).clamp(min=1e-12).sqrt()
        (gradient,) = torch.autograd.grad((loss + settings.regularization * norm).sum(), z)
        self._record(z.detach(), logits.detach(), goals)
        keep = self._stop_flipped(graph, logits.detach(), goals, gradient)
        self._move(gradient, keep)

    def _decode_and_classify(self, z: Tensor) -> tuple[Graph, Float[Tensor, "a s c"]]:
        settings = self.settings
        if settings.infer == "most_likely":
            graph, draws = settings.vae.decode(z, MostLikely()), 1
        else:
            draws = settings.samples if settings.infer == "samples" else 1
            rngs = [self.rngs[k] for k in self.active.tolist() for _ in range(draws)]
            graph = settings.vae.decode(z.repeat_interleave(draws, 0), Gumbel(rngs, settings.tau))
        return graph, settings.classifier(graph).unflatten(0, (len(z), draws))

    def _record(self, z: Tensor, logits: Float[Tensor, "a s c"], goals: list[AbstractGoal]) -> None:
        probability = shown_each(goals, mean_outputs(logits.transpose(0, 1))).tolist()
        for row, k in enumerate(self.active.tolist()):
            self.probabilities[k].append(probability[row])
            self.steps_taken[k] = self.turn
            if self.settings.keep_path:
                self.paths[k].append(z[row])

    def _stop_flipped(
        self, graph: Graph, logits: Float[Tensor, "a s c"], goals: list[AbstractGoal], gradient: Tensor
    ) -> Int[Tensor, " kept"]:
        """Take out the graphs that are done; returns the rows that walk on."""
        draws, rows = logits.shape[1], torch.arange(len(goals))
        best = score_each(goals, logits).argmax(1)
        flipped = reached_each(goals, mean_outputs(logits.transpose(0, 1))) & reached_each(goals, logits[rows, best])
        broken = ~(logits.isfinite().all(-1).all(-1) & gradient.isfinite().all(-1).all(-1))
        done = torch.zeros(len(goals), dtype=torch.bool)
        candidates = (flipped | broken | (self.turn == self.settings.steps)).nonzero()[:, 0]
        if len(candidates):
            hard = rounded(graph.select((rows * draws + best)[candidates]))
            wanted = [goals[k] for k in candidates.tolist()]
            outcomes, probability = verdict(self.settings.classifier, hard, wanted)
            for position, k in enumerate(candidates.tolist()):
                number, outcome = int(self.active[k]), outcomes[position]
                if broken[k]:
                    outcome = Outcome.NOT_A_NUMBER
                elif self.turn == self.settings.steps and outcome is Outcome.NOT_FLIPPED:
                    outcome = Outcome.OUT_OF_STEPS
                if outcome is not Outcome.NOT_FLIPPED and not (
                    outcome is Outcome.EMPTY and self.turn < self.settings.steps
                ):
                    done[k] = True
                    self.found[number] = (hard[position], outcome, float(probability[position]))
        return (~done).nonzero()[:, 0]

    def _move(self, gradient: Tensor, keep: Int[Tensor, " kept"]) -> None:
        """One step for those that walk on; the others are dropped with their momentum."""
        settings = self.settings
        self.active, self.z, self.start = self.active[keep], self.z[keep], self.start[keep]
        self.momentum, self.variance, gradient = self.momentum[keep], self.variance[keep], gradient[keep]
        if settings.optimizer == "descent":
            self.z = self.z - settings.step_size * gradient
            return
        self.momentum = 0.9 * self.momentum + 0.1 * gradient
        self.variance = 0.999 * self.variance + 0.001 * gradient**2
        mean = self.momentum / (1 - 0.9**self.turn)
        spread = (self.variance / (1 - 0.999**self.turn)).sqrt()
        self.z = self.z - settings.step_size * mean / (spread + 1e-8)

    def answers(self, seconds: float) -> list[Counterfactual]:
        settings, question = self.settings, self.question
        rows = []
        for k in range(len(question.graph)):
            graph, outcome, probability = self.found[k]
            rows.append(
                question.answer(
                    k,
                    settings.method,
                    graph,
                    outcome,
                    p_counterfactual=probability,
                    steps=self.steps_taken[k],
                    seconds=seconds,
                    probabilities=tuple(self.probabilities[k]),
                    path=torch.stack(self.paths[k]) if self.paths[k] else None,
                )
            )
        return rows


def rounded(graph: Graph) -> Graph:
    """The hard graph that a straight-through graph stands for: 0/1 exactly, without gradients."""
    graph = graph.detach()
    B, A = graph.B.round(), graph.A.round()
    V = _round_columns(graph.V, list(graph.schema.node_slices())) * B[..., None]
    E = _round_columns(graph.E, list(graph.schema.edge_slices())) * A[..., None]
    return Graph.trusted(B, V, A, E, graph.schema)


def _round_columns(values: Tensor, slices: list) -> Tensor:
    from ...schema import Categories

    parts = [values[..., at].round() if isinstance(column, Categories) else values[..., at] for column, at in slices]
    return torch.cat(parts, -1) if parts else values
