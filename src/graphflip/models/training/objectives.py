"""What models are trained for, and the figures by which they are judged."""

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...data.dataset import Batch, GraphDataset
from ...graph import Graph
from ...nn.standardize import standardized
from ..networks.classifier import AbstractClassifier
from ..networks.decode import MostLikely
from ..networks.pegvae import PEGVAE
from ..storage.files import weights_blob

_BATCH = 128


@dataclass(frozen=True)
class Classification:
    """Cross-entropy; the best weights are those with the lowest on the validation part.

    Not those of the highest AUROC: that may be reached before probabilities mean anything. `hide` is the share of node
    attributes and of edges that the model does not get to see while it is trained; `weights` are what a graph of each
    class counts, the same if there are none.
    """

    hide: float = 0.0
    weights: tuple[float, ...] = ()
    score: str = "log_likelihood"

    @property
    def settings(self) -> dict[str, Any]:
        weights = {"weights": list(self.weights)} if self.weights else {}
        return {"hide": self.hide, "teacher": None, **weights}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        return _cross_entropy(model(with_gaps(batch.graph, self.hide, rng)), batch.labels, self.weights)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        return measure_classifier(model, dataset, self.weights)


@dataclass(frozen=True)
class Regression:
    """Squared error in units of `spread`, the standard deviation of the labels; `hide` is as in Classification."""

    spread: float = 1.0
    hide: float = 0.0
    score: str = "r2"

    @property
    def settings(self) -> dict[str, Any]:
        return {"hide": self.hide, "spread": self.spread}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        values = model(with_gaps(batch.graph, self.hide, rng))
        return nn.functional.mse_loss(values[:, 0] / self.spread, batch.labels / self.spread)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        return measure_regressor(model, dataset)


@dataclass(frozen=True)
class Imitation:
    """Cross-entropy to the probabilities that another classifier gives, or squared error to its values: labels play no
    part.

    `answers` are the teacher's for the train part, in its order, on whole graphs; `hide` is as in Classification.
    """

    teacher: AbstractClassifier
    answers: Float[Tensor, "g c"]
    hide: float = 0.0
    score: str = "likeness"

    @classmethod
    def of(cls, teacher: AbstractClassifier, dataset: GraphDataset, hide: float = 0.0) -> "Imitation":
        """Ask the teacher once about every graph of the train part."""
        outputs = predict(teacher, dataset.part("train"))
        return cls(teacher, outputs if outputs.shape[1] == 1 else outputs.softmax(-1), hide)

    @property
    def settings(self) -> dict[str, Any]:
        """The teacher stands there by the sha256 of its weights, which is also on its card."""
        return {"hide": self.hide, "teacher": hashlib.sha256(weights_blob(self.teacher)).hexdigest()}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        outputs, answers = model(with_gaps(batch.graph, self.hide, rng)), self.answers[batch.index]
        if answers.shape[1] > 1:
            return nn.functional.cross_entropy(outputs, answers)
        return nn.functional.mse_loss(outputs / self.spread, answers / self.spread)

    @property
    def spread(self) -> float:
        """Standard deviation of the teacher's values."""
        return spread_of(self.answers)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        """`agreement`: share of graphs of the same predicted class. `likeness`: -cross-entropy to the teacher, or for
        values R squared.

        Where the data name as many classes as the teacher has, they are taken to be the same, and figures on the labels
        are added.
        """
        logits, taught = predict(model, dataset), predict(self.teacher, dataset)
        if taught.shape[1] == 1:
            labels = {} if dataset.classes else measure_regressor(model, dataset)
            return {"likeness": r_squared(logits[:, 0], taught[:, 0]), **labels}
        agreement = float((logits.argmax(-1) == taught.argmax(-1)).float().mean())
        likeness = -float(nn.functional.cross_entropy(logits, taught.softmax(-1)))
        same_classes = len(dataset.classes) == taught.shape[1]
        labels = measure_classifier(model, dataset) if same_classes else {}
        return {"agreement": agreement, "likeness": likeness, **labels}


@dataclass(frozen=True)
class Reconstruction:
    """The paper's objective: -E[log p(G | z)] + beta KL; beta rises from zero in the first `burn_in` of the run."""

    beta: float
    burn_in: float = 0.1
    score: str = "objective"

    @property
    def settings(self) -> dict[str, Any]:
        return {"beta": self.beta, "burn_in": self.burn_in}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        assert isinstance(model, PEGVAE)
        beta = self.beta * min(1.0, progress / self.burn_in) if self.burn_in else self.beta
        # Per slot, so that one clipping threshold serves small and large graphs.
        return model.neg_elbo(batch.graph, rng, beta)[0].mean() / model.schema.max_nodes

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        assert isinstance(model, PEGVAE)
        figures = measure_vae(model, dataset, refine=False)
        objective = figures["kl"] * (1 - self.beta) - figures["neg_elbo"]
        return {"objective": objective, **figures}


def with_gaps(graph: Graph, share: float, rng: torch.Generator) -> Graph:
    """The graph without a random `share` of its node attributes and edges: what a robust model can do without."""
    if share == 0:
        return graph
    known = (torch.rand(graph.B.shape, generator=rng) >= share).to(graph.B)
    kept = (torch.rand(graph.A.shape, generator=rng) >= share).to(graph.A)
    if not graph.schema.directed:
        kept = kept.triu(1) + kept.triu(1).transpose(1, 2)
    return Graph.trusted(graph.B, graph.V * known[..., None], graph.A * kept, graph.E * kept[..., None], graph.schema)


@torch.no_grad()
def measure_classifier(model: nn.Module, dataset: GraphDataset, weights: tuple[float, ...] = ()) -> dict[str, float]:
    """AUROC (mean over classes that some graphs have and some have not), accuracy and cross-entropy on a dataset, the
    last with the weights of classes, if there are any."""
    logits = predict(model, dataset)
    figures = {
        "accuracy": float((logits.argmax(-1) == dataset.labels).float().mean()),
        "log_likelihood": -float(_cross_entropy(logits, dataset.labels, weights)),
    }
    margins = [
        logits[:, k] - torch.cat([logits[:, :k], logits[:, k + 1 :]], 1).logsumexp(1) for k in range(logits.shape[1])
    ]
    areas = [auroc(margin, (dataset.labels == k).long()) for k, margin in enumerate(margins)]
    return {"auroc": float(torch.tensor(areas, dtype=torch.float64).nanmean()), **figures}


def _cross_entropy(
    logits: Float[Tensor, "b c"], labels: Int[Tensor, " b"], weights: tuple[float, ...]
) -> Float[Tensor, ""]:
    weight = logits.new_tensor(weights) if weights else None
    return nn.functional.cross_entropy(logits, labels, weight=weight)


def measure_regressor(model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
    """Root mean squared error, mean absolute error, and R squared: the share of the labels' variance explained."""
    values, labels = predict(model, dataset)[:, 0], dataset.labels
    error = values - labels
    figures = {"rmse": float(error.square().mean().sqrt()), "mae": float(error.abs().mean())}
    return {"r2": r_squared(values, labels), **figures}


def r_squared(values: Float[Tensor, " g"], labels: Float[Tensor, " g"]) -> float:
    """The share of the labels' variance that the values explain; below 0 if their mean explains more."""
    variance = labels.var(correction=0).clamp(min=1e-12)
    return 1 - float((values - labels).square().mean() / variance)


def spread_of(values: Float[Tensor, "..."]) -> float:
    """Standard deviation; 1 where all are the same."""
    spread = float(values.std(correction=0))
    return spread if spread > 1e-12 else 1.0


@torch.no_grad()
def predict(model: nn.Module, dataset: GraphDataset) -> Float[Tensor, "g c"]:
    """Logits for every graph, in the dataset's order."""
    model.eval()
    rows: dict[int, Tensor] = {}
    for batch in dataset.batches(_BATCH):
        rows.update(zip(batch.index.tolist(), model(batch.graph), strict=True))
    return torch.stack([rows[k] for k in range(len(dataset))])


def auroc(scores: Float[Tensor, " g"], labels: Int[Tensor, " g"]) -> float:
    """Chance that a random member of class 1 scores higher than one of class 0; ties count half. NaN for one class.

    >>> auroc(torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([0, 0, 1, 1]))
    0.75
    """
    _, inverse, counts = scores.double().unique(return_inverse=True, return_counts=True)
    last = counts.cumsum(0)
    rank = (last - (counts - 1).double() / 2)[inverse]  # mean rank among ties, from 1
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return float("nan")
    return float((rank[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


@torch.no_grad()
def measure_vae(vae: PEGVAE, dataset: GraphDataset, seed: int = 1, refine: bool = True) -> dict[str, float]:
    """Mean -ELBO (beta 1) with its parts, in nats per graph, and what decoding `vae.locate(graph)` rebuilds exactly.

    `atoms`: share of nodes with the right type. `edges`: right edges with the right type, as a share of all edges that
    are there or were rebuilt. `graphs`: share of graphs rebuilt whole; `graphs_at_once`: the same from the posterior
    mean, without the steps that `locate` takes. `refine=False` leaves those steps out altogether.
    """
    vae.eval()
    rng = torch.Generator().manual_seed(seed)
    totals: dict[str, float] = {}

    def add(**values: Tensor) -> None:
        for name, value in values.items():
            totals[name] = totals.get(name, 0.0) + float(value.sum())

    for batch in dataset.batches(_BATCH):
        neg_elbo, parts, kl = vae.neg_elbo(batch.graph, rng)
        add(neg_elbo=neg_elbo, kl=kl, nodes=-parts.nodes, node_values=-parts.node_values)
        add(edges_nll=-parts.edges, edge_values=-parts.edge_values)
        padded = batch.graph.pad(vae.schema.max_nodes)
        at_once = _compare(padded, vae.decode(vae.encode(batch.graph, rng).mean, MostLikely()))
        rebuilt = _compare(padded, vae.decode(vae.locate(batch.graph, rng), MostLikely())) if refine else at_once
        add(**rebuilt, graphs_at_once=at_once["graphs"])
    shares = {
        "atoms": totals.pop("right_atoms") / totals.pop("all_atoms"),
        "edges": totals.pop("right_edges") / max(totals.pop("all_edges"), 1),
    }
    return {name: total / len(dataset) for name, total in totals.items()} | shares


def _compare(real: Graph, rebuilt: Graph) -> dict[str, Tensor]:
    """What is right; continuous attributes are if they are half a scale off at most."""
    real, rebuilt = standardized(real), standardized(rebuilt)
    there, there_too = real.B > 0.5, rebuilt.B > 0.5
    atom = ((real.V - rebuilt.V).abs().sum(-1) < 0.5) & (there == there_too)
    edge, edge_too = real.A > 0.5, rebuilt.A > 0.5
    bond = ((real.E - rebuilt.E).abs().sum(-1) < 0.5) & (edge == edge_too)
    return {
        "right_atoms": atom & there,
        "all_atoms": there,
        "right_edges": bond & edge,
        "all_edges": edge | edge_too,
        "graphs": atom.all(1) & bond.all(2).all(1),
    }
