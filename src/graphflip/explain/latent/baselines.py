"""The paper's baselines (section 3.3) and two controls, behind the same interface as the walk.

The nearest neighbors of a code are looked for among the training graphs whose label is the target. A code is a set of
slots: compared slot by slot, as in the paper's code, distances depend on the order of nodes in the file. `aligned`
matches the slots first (the default), so that renumbering nodes changes no answer.
"""

import time
from abc import abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...data.dataset import GraphDataset
from ...ged.assignment import linear_assignment
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.decode import Gumbel, MostLikely
from ...models.networks.pegvae import PEGVAE
from ..counterfactual import Counterfactual, Outcome
from ..goals.batches import outputs_of_labels
from ..goals.stored import Target, goal_of
from ..method import AbstractExplainer, Question, verdict


class _OneProposal(AbstractExplainer):
    """A method that proposes one graph for each factual, without a search."""

    @abstractmethod
    def propose(self, question: Question) -> Graph | None:
        """Return one graph for each factual of the batch; None if there is nothing to propose for some of them."""

    @torch.no_grad()
    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started, count = time.perf_counter(), len(question.graph)
        proposals = self.propose(question)
        seconds = (time.perf_counter() - started) / max(count, 1)
        if proposals is None:
            nothing = {"p_counterfactual": None, "seconds": seconds}
            return [question.answer(k, self.method, None, Outcome.NOTHING_TO_OFFER, **nothing) for k in range(count)]
        outcomes, probability = verdict(self.classifier, proposals, question.goals)
        return [
            question.answer(
                k, self.method, proposals[k], outcomes[k], p_counterfactual=float(probability[k]), seconds=seconds
            )
            for k in range(count)
        ]


@dataclass(frozen=True)
class RandomExample(_OneProposal):
    """The paper's *Random*: a graph drawn from the prior, z ~ N(0, 1) and G ~ p(G | z). Nothing leads it to the target.

    Args:
        vae: Autoencoder to draw from.
        classifier: Model to explain.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import PEGVAE, RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> answers = RandomExample(PEGVAE(graph.schema).eval(), RelationalGIN(graph.schema).eval()).explain(graph)
        >>> [answer.method for answer in answers]
        ['random', 'random']
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    method: str = "random"

    def propose(self, question: Question) -> Graph | None:
        shape = (self.vae.schema.max_nodes, self.vae.config.dz)
        z = torch.stack([torch.randn(shape, generator=rng) for rng in question.rngs("prior")]).to(question.graph.B)
        return self.vae.decode(z, Gumbel(question.rngs("noise")))


@dataclass(frozen=True)
class NearestNeighbor(_OneProposal):
    """The paper's *Graph of NN from Training*: the training graph with the target label whose code is nearest.

    Args:
        vae: Autoencoder that gives the factual's code.
        classifier: Model to explain.
        index: Codes and labels of training graphs.
        aligned: True matches the slots of two codes before their distance is taken; False compares them slot by slot.
        method: Name in tables and files.

    Example:
        >>> from graphflip import GraphDataset
        >>> from graphflip.models import PEGVAE, RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graphs = [random_graph(n=4, num_graphs=1, seed=seed) for seed in range(4)]
        >>> vae, classifier = PEGVAE(graphs[0].schema).eval(), RelationalGIN(graphs[0].schema).eval()
        >>> train = GraphDataset.from_graphs("toy", graphs[:3], torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> (answer,) = NearestNeighbor(vae, classifier, LatentIndex.build(vae, train)).explain(graphs[3], target=1)
        >>> answer.counterfactual.num_nodes.tolist()
        [4.0]
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    index: "LatentIndex"
    aligned: bool = True
    method: str = "nearest"

    def propose(self, question: Question) -> Graph | None:
        z, neighbors = self.vae.locate(question.graph, question.rngs("identity")), []
        for code, goal in zip(z, question.goals, strict=True):
            for row, order in self.index.nearest(code, goal, 1, self.aligned):
                neighbor = self.index.dataset.graphs([row]).pad(self.vae.schema.max_nodes)
                neighbors.append(neighbor.permute(order))
        return Graph.cat(neighbors).detach() if neighbors and len(neighbors) == len(z) else None


@dataclass(frozen=True)
class NeighborMean(_OneProposal):
    """The paper's *Decoded Mean of k-NN*: decode the mean code of the nearest training graphs of the target.

    Args:
        vae: Autoencoder that gives the factual's code and decodes the mean.
        classifier: Model to explain.
        index: Codes and labels of training graphs, as for `NearestNeighbor`.
        k: Number of neighbors; fewer are taken if the training data have fewer of the target label.
        aligned: As for `NearestNeighbor`.
        method: Name in tables and files.

    Example:
        >>> from graphflip import PEGVAE
        >>> from graphflip.data.planted.motif import planted
        >>> data = planted(num_graphs=6)
        >>> vae = PEGVAE(data.schema).eval()
        >>> near = LatentIndex.build(vae, data).nearest(torch.zeros(data.schema.max_nodes, vae.config.dz), 1, 2, True)
        >>> len(near)
        2
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    index: "LatentIndex"
    k: int = 10
    aligned: bool = True
    method: str = "neighbor_mean"

    def propose(self, question: Question) -> Graph | None:
        z, means = self.vae.locate(question.graph, question.rngs("identity")), []
        for code, goal in zip(z, question.goals, strict=True):
            near = self.index.nearest(code, goal, self.k, self.aligned)
            if near:
                means.append(torch.stack([self.index.codes[row][order] for row, order in near]).mean(0))
        return self.vae.decode(torch.stack(means), MostLikely()) if means and len(means) == len(z) else None


@dataclass(frozen=True)
class ReconstructionOnly(_OneProposal):
    """Control: the factual, encoded and decoded. Every flip it makes is an error of the autoencoder.

    Args:
        vae: Autoencoder to rebuild the factual with.
        classifier: Model to explain.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import PEGVAE, RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=4, num_graphs=1, seed=0)
        >>> control = ReconstructionOnly(PEGVAE(graph.schema).eval(), RelationalGIN(graph.schema).eval())
        >>> control.explain(graph)[0].counterfactual is not None
        True
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    method: str = "reconstruction"

    def propose(self, question: Question) -> Graph | None:
        return self.vae.decode(self.vae.locate(question.graph, question.rngs("identity")), MostLikely())


@dataclass(frozen=True)
class NoChange(_OneProposal):
    """Control: the factual itself. It never flips; the value that a metric gives it is that metric's zero.

    Args:
        classifier: Model to explain.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=4, num_graphs=1, seed=0)
        >>> NoChange(RelationalGIN(graph.schema).eval()).explain(graph)[0].edits
        []
    """

    classifier: AbstractClassifier
    method: str = "no_change"

    def propose(self, question: Question) -> Graph | None:
        return question.graph


@dataclass(frozen=True)
class LatentIndex:
    """Codes and labels of training graphs, to find the nearest neighbors of a code among.

    Args:
        dataset: Labeled graphs, usually the train part of a dataset.
        codes: Latent codes of its graphs, in their order.

    Example:
        >>> from graphflip import GraphDataset
        >>> from graphflip.models import PEGVAE
        >>> from graphflip.testing import random_graph
        >>> graphs = [random_graph(n=4, num_graphs=1, seed=seed) for seed in range(3)]
        >>> train = GraphDataset.from_graphs("toy", graphs, torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> index = LatentIndex.build(PEGVAE(train.schema).eval(), train)
        >>> [row for row, order in index.nearest(index.codes[2], target=1, k=1, aligned=True)]
        [2]
    """

    dataset: GraphDataset
    codes: Float[Tensor, "g n dz"]

    @classmethod
    @torch.no_grad()
    def build(cls, vae: PEGVAE, dataset: GraphDataset, seed: int = 0) -> "LatentIndex":
        """Encode every graph of a dataset.

        Args:
            vae: Autoencoder to encode with.
            dataset: Labeled graphs, usually the train part of a dataset.
            seed: Seed of the slots' identities (see `PEGVAE.draw_identity`), the number of the graph added.
        """
        codes = torch.zeros(len(dataset), dataset.schema.max_nodes, vae.config.dz)
        for batch in dataset.batches(128):
            rngs = [torch.Generator().manual_seed(seed + int(k)) for k in batch.index]
            codes[batch.index] = vae.locate(batch.graph, rngs)
        return cls(dataset, codes)

    def nearest(
        self, z: Float[Tensor, "n dz"], target: Target, k: int, aligned: bool
    ) -> list[tuple[int, Int[Tensor, " n"]]]:
        """Find the nearest graphs whose label reaches a target.

        Args:
            z: Code of one graph.
            target: Class number, or another goal that the label must reach.
            k: Number of neighbors.
            aligned: True matches slots before the distance is taken.

        Returns:
            Up to k pairs, the nearest first: the graph's number in the dataset, and the order of its slots that
            matches those of z.
        """
        candidates = goal_of(target).reached(outputs_of_labels(self.dataset.labels)).nonzero()[:, 0]
        codes = self.codes[candidates]
        if not aligned:
            nearest = (codes - z).square().sum((1, 2)).argsort(stable=True)[:k]
            return [(int(candidates[row]), torch.arange(len(z))) for row in nearest]
        return [(int(candidates[row]), order) for row, order in _nearest_aligned(z, codes, k)]


def _nearest_aligned(z: Tensor, codes: Tensor, k: int) -> list[tuple[int, Tensor]]:
    """Find the exact nearest neighbors under the best matching of slots.

    Sorting each coordinate by itself gives a lower bound (and, for one number per slot, the distance itself), so few
    candidates have to be matched.
    """
    bound = (codes.sort(dim=1).values - z.sort(dim=0).values).square().sum((1, 2))
    best: list[tuple[float, int, Tensor]] = []
    for row in bound.argsort(stable=True).tolist():
        if len(best) == k and float(bound[row]) >= best[-1][0] - 1e-6:
            break
        cost = torch.cdist(z[None], codes[row][None])[0].square()
        _, order = linear_assignment(cost.numpy())
        order = torch.from_numpy(order)
        distance = float((z - codes[row][order]).square().sum())
        best = sorted([*best, (distance, row, order)], key=lambda item: item[:2])[:k]
    return [(row, order) for _, row, order in best]
