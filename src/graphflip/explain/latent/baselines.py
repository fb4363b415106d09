"""The paper's baselines (section 3.3) and two controls, behind the same interface as the walk.

The nearest neighbors of a code are looked for among the training graphs whose label is the target. A code is a set of
slots: compared slot by slot, as in the paper's code, distances depend on the order of nodes in the file. `aligned`
matches the slots first (the default), so that renumbering nodes changes no answer.
"""

import time
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from ...data.dataset import GraphDataset
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.decode import Gumbel, MostLikely
from ...models.networks.pegvae import PEGVAE
from ..counterfactual import Counterfactual, Outcome
from ..goals.batches import outputs_of_labels
from ..goals.stored import Target, goal_of
from ..method import AbstractExplainer, Question, verdict


@dataclass(frozen=True)
class RandomExample(AbstractExplainer):
    """A graph drawn from the prior: nothing leads it to the target."""

    vae: PEGVAE
    classifier: AbstractClassifier
    method: str = "random"

    @torch.no_grad()
    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        shape = (self.vae.schema.max_nodes, self.vae.config.dz)
        z = torch.stack([torch.randn(shape, generator=rng) for rng in question.rngs("prior")]).to(question.graph.B)
        return _offer(self, question, self.vae.decode(z, Gumbel(question.rngs("noise"))), started)


@dataclass(frozen=True)
class NoChange(AbstractExplainer):
    """Control: the factual itself. It never flips; what a metric gives it is that metric's zero."""

    classifier: AbstractClassifier
    method: str = "no_change"

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return _offer(self, question, question.graph, time.perf_counter())


@dataclass(frozen=True)
class ReconstructionOnly(AbstractExplainer):
    """Control: the factual, encoded and decoded. What it flips, the autoencoder's errors flip."""

    vae: PEGVAE
    classifier: AbstractClassifier
    method: str = "reconstruction"

    @torch.no_grad()
    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        z = self.vae.locate(question.graph, question.rngs("identity"))
        return _offer(self, question, self.vae.decode(z, MostLikely()), started)


@dataclass(frozen=True)
class LatentIndex:
    """Codes and labels of training graphs, to find neighbors in."""

    dataset: GraphDataset
    codes: Float[Tensor, "g n dz"]

    @classmethod
    @torch.no_grad()
    def build(cls, vae: PEGVAE, dataset: GraphDataset, seed: int = 0) -> "LatentIndex":
        """Encode every graph of a dataset (usually its train part)."""
        codes = torch.zeros(len(dataset), dataset.schema.max_nodes, vae.config.dz)
        for batch in dataset.batches(128):
            rngs = [torch.Generator().manual_seed(seed + int(k)) for k in batch.index]
            codes[batch.index] = vae.locate(batch.graph, rngs)
        return cls(dataset, codes)

    def nearest(
        self, z: Float[Tensor, "n dz"], target: Target, k: int, aligned: bool
    ) -> list[tuple[int, Int[Tensor, " n"]]]:
        """The k nearest graphs whose label is the target, each with the order of its slots that matches z."""
        candidates = goal_of(target).reached(outputs_of_labels(self.dataset.labels)).nonzero()[:, 0]
        codes = self.codes[candidates]
        if not aligned:
            nearest = (codes - z).square().sum((1, 2)).argsort(stable=True)[:k]
            return [(int(candidates[row]), torch.arange(len(z))) for row in nearest]
        return [(int(candidates[row]), order) for row, order in _nearest_aligned(z, codes, k)]


def _nearest_aligned(z: Tensor, codes: Tensor, k: int) -> list[tuple[int, Tensor]]:
    """Exact nearest neighbors under the best matching of slots.

    Sorting each coordinate by itself gives a lower bound (and, for one number per slot, the distance itself), so few
    candidates have to be matched.
    """
    bound = (codes.sort(dim=1).values - z.sort(dim=0).values).square().sum((1, 2))
    best: list[tuple[float, int, Tensor]] = []
    for row in bound.argsort(stable=True).tolist():
        if len(best) == k and float(bound[row]) >= best[-1][0] - 1e-6:
            break
        cost = torch.cdist(z[None], codes[row][None])[0].square()
        _, order = linear_sum_assignment(cost.numpy())
        order = torch.from_numpy(order)
        distance = float((z - codes[row][order]).square().sum())
        best = sorted([*best, (distance, row, order)], key=lambda item: item[:2])[:k]
    return [(row, order) for _, row, order in best]


@dataclass(frozen=True)
class NearestNeighbor(AbstractExplainer):
    """The training graph with the target label whose code is nearest."""

    vae: PEGVAE
    classifier: AbstractClassifier
    index: LatentIndex
    aligned: bool = True
    method: str = "nearest"

    @torch.no_grad()
    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        z = self.vae.locate(question.graph, question.rngs("identity"))
        found = []
        for k in range(len(z)):
            near = self.index.nearest(z[k], question.goals[k], 1, self.aligned)
            if near:
                ((row, order),) = near
                neighbor = self.index.dataset.graphs([row]).pad(self.vae.schema.max_nodes)
                found.append(neighbor.permute(order))
        return _offer(self, question, Graph.cat(found) if found else None, started)


@dataclass(frozen=True)
class NeighborMean(AbstractExplainer):
    """The decoded mean of the codes of the k nearest training graphs with the target label."""

    vae: PEGVAE
    classifier: AbstractClassifier
    index: LatentIndex
    k: int = 10
    aligned: bool = True
    method: str = "neighbor_mean"

    @torch.no_grad()
    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        z = self.vae.locate(question.graph, question.rngs("identity"))
        means = []
        for k in range(len(z)):
            near = self.index.nearest(z[k], question.goals[k], self.k, self.aligned)
            if near:
                means.append(torch.stack([self.index.codes[row][order] for row, order in near]).mean(0))
        found = self.vae.decode(torch.stack(means), MostLikely()) if means else None
        return _offer(self, question, found, started)


def _offer(
    explainer: AbstractExplainer, question: Question, found: Graph | None, started: float
) -> list[Counterfactual]:
    """Answers of a method that makes one proposal for each graph; none at all if the target label is unknown."""
    count = len(question.graph)
    seconds = (time.perf_counter() - started) / max(count, 1)
    if found is None or len(found) != count:
        return [
            question.answer(k, explainer.method, None, Outcome.NOTHING_TO_OFFER, p_counterfactual=None, seconds=seconds)
            for k in range(count)
        ]
    found = found.detach()
    outcomes, probability = verdict(explainer.classifier, found, question.goals)
    return [
        question.answer(
            k, explainer.method, found[k], outcomes[k], p_counterfactual=float(probability[k]), seconds=seconds
        )
        for k in range(count)
    ]
