"""Predictions of models on whole datasets, and the figures by which models are judged."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...data.dataset import GraphDataset
from ...graph import Graph
from ...nn.standardize import standardized
from ..networks.decode import MostLikely
from ..networks.pegvae import PEGVAE
from .calibration import reliability

_BATCH = 128
_PAIRS = 128 * 256**2  # most pairs of nodes that are worked on at once


@torch.no_grad()
def predict(model: nn.Module, dataset: GraphDataset) -> Float[Tensor, "g c"]:
    """Outputs of a model (logits, or values) for every graph, in the order of the dataset."""
    model.eval()
    rows: dict[int, Tensor] = {}
    for batch in dataset.batches(_BATCH, pairs=_PAIRS):
        rows.update(zip(batch.index.tolist(), model(batch.graph), strict=True))
    return torch.stack([rows[k] for k in range(len(dataset))])


@torch.no_grad()
def measure_classifier(model: nn.Module, dataset: GraphDataset, weights: tuple[float, ...] = ()) -> dict[str, float]:
    """Measure `auroc`, `accuracy`, `log_likelihood` (minus the mean cross-entropy) and `ece` of a classifier.

    `ece` is the expected calibration error, see `Reliability`. AUROC is that of each class against the others, averaged
    over the classes that occur. `weights` are the weights of classes in the cross-entropy; equal if empty.
    """
    logits = predict(model, dataset)
    figures = {
        "accuracy": float((logits.argmax(-1) == dataset.labels).float().mean()),
        "log_likelihood": -float(cross_entropy(logits, dataset.labels, weights)),
        "ece": reliability(logits, dataset.labels).ece,
    }
    margins = [
        logits[:, k] - torch.cat([logits[:, :k], logits[:, k + 1 :]], 1).logsumexp(1) for k in range(logits.shape[1])
    ]
    areas = [auroc(margin, (dataset.labels == k).long()) for k, margin in enumerate(margins)]
    return {"auroc": float(torch.tensor(areas, dtype=torch.float64).nanmean()), **figures}


def measure_regressor(model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
    """Measure `r2` (share of the labels' variance that is explained), `rmse` and `mae` of a regressor on a dataset."""
    values, labels = predict(model, dataset)[:, 0], dataset.labels
    error = values - labels
    figures = {"rmse": float(error.square().mean().sqrt()), "mae": float(error.abs().mean())}
    return {"r2": r_squared(values, labels), **figures}


@torch.no_grad()
def measure_vae(vae: PEGVAE, dataset: GraphDataset, seed: int = 1, refine: bool = True) -> dict[str, float]:
    """Measure an autoencoder: mean -ELBO (beta 1) with its parts, in nats per graph, and how well it rebuilds graphs.

    Graphs are rebuilt by decoding `vae.locate(graph)`. `atoms` is the share of nodes that are rebuilt with the right
    attributes. `edges` is the number of edges rebuilt with the right attributes, divided by the number of edges that
    are in the graph or in what was rebuilt. `graphs` is the share of graphs rebuilt without a fault, `graphs_at_once`
    the same when decoding the posterior mean, without the gradient steps of `locate`. `refine=False` skips these steps
    everywhere. If there are continuous columns, `node_error` and `edge_error` are the mean absolute errors of those of
    nodes and of edges that are rebuilt as such, in standard deviations.
    """
    vae.eval()
    rng = torch.Generator().manual_seed(seed)
    totals: dict[str, float] = {}

    def add(**values: Tensor) -> None:
        for name, value in values.items():
            totals[name] = totals.get(name, 0.0) + float(value.sum())

    for batch in dataset.batches(max(min(_BATCH, _PAIRS // vae.schema.max_nodes**2), 1)):
        neg_elbo, parts, kl = vae.neg_elbo(batch.graph, rng)
        add(neg_elbo=neg_elbo, kl=kl, nodes=-parts.nodes, node_values=-parts.node_values)
        add(edges_nll=-parts.edges, edge_values=-parts.edge_values)
        padded = batch.graph.pad(vae.schema.max_nodes)
        at_once = _compare(padded, vae.decode(vae.encode(batch.graph, rng).mean, MostLikely()))
        rebuilt = _compare(padded, vae.decode(vae.locate(batch.graph, rng), MostLikely())) if refine else at_once
        add(**rebuilt, graphs_at_once=at_once["graphs"])
    errors = {
        f"{kind}_error": totals.pop(f"{kind}_miss") / max(totals.pop(f"{kind}_values"), 1)
        for kind in ("node", "edge")
        if f"{kind}_miss" in totals
    }
    shares = errors | {
        "atoms": totals.pop("right_atoms") / totals.pop("all_atoms"),
        "edges": totals.pop("right_edges") / max(totals.pop("all_edges"), 1),
    }
    return {name: total / len(dataset) for name, total in totals.items()} | shares


def _compare(real: Graph, rebuilt: Graph) -> dict[str, Tensor]:
    """Compare rebuilt graphs with real ones, slot by slot; a continuous attribute may be off by half of its scale."""
    real, rebuilt = standardized(real), standardized(rebuilt)
    there, there_too = real.B > 0.5, rebuilt.B > 0.5
    node_off, edge_off = (real.V - rebuilt.V).abs(), (real.E - rebuilt.E).abs()
    atom = (node_off < 0.5).all(-1) & (there == there_too)
    edge, edge_too = real.A > 0.5, rebuilt.A > 0.5
    bond = (edge_off < 0.5).all(-1) & (edge == edge_too)
    errors = {}
    for kind, off, both, columns in (
        ("node", node_off, there & there_too, real.schema.nodes),
        ("edge", edge_off, edge & edge_too, real.schema.edges),
    ):
        numbers = [column.is_continuous for column in columns for _ in range(column.width)]
        if any(numbers):
            missed = off[both][:, torch.tensor(numbers)]
            errors |= {f"{kind}_miss": missed, f"{kind}_values": torch.ones_like(missed)}
    return errors | {
        "right_atoms": atom & there,
        "all_atoms": there,
        "right_edges": bond & edge,
        "all_edges": edge | edge_too,
        "graphs": atom.all(1) & bond.all(2).all(1),
    }


def cross_entropy(
    logits: Float[Tensor, "b c"], labels: Int[Tensor, " b"], weights: tuple[float, ...], smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Mean cross-entropy; `weights` are those of the classes, equal if empty, and `smoothing` is of the labels."""
    weight = logits.new_tensor(weights) if weights else None
    return nn.functional.cross_entropy(logits, labels, weight=weight, label_smoothing=smoothing)


def auroc(scores: Float[Tensor, " g"], labels: Int[Tensor, " g"]) -> float:
    """Area under the ROC curve: chance that a random member of class 1 scores higher than one of class 0.

    Ties count half. NaN if there is only one class.

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


def r_squared(values: Float[Tensor, " g"], labels: Float[Tensor, " g"]) -> float:
    """R squared: share of the labels' variance that the values explain; below 0 if a constant explains more."""
    variance = labels.var(correction=0).clamp(min=1e-12)
    return 1 - float((values - labels).square().mean() / variance)


def spread_of(values: Float[Tensor, "..."]) -> float:
    """Standard deviation, to divide by: 1 if all values are the same."""
    spread = float(values.std(correction=0))
    return spread if spread > 1e-12 else 1.0
