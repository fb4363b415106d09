"""What is measured on every counterfactual of a run: validity, identity preservation, believability, effort."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from .. import metrics
from ..edits import edits_between, heavy_edits
from ..explain.assess import nll_per_node
from ..explain.explainer import Counterfactual, target_probability
from ..ged import graph_edit_distance
from ..graph import Graph
from ..models.classifier import AbstractClassifier
from ..models.pegvae import PEGVAE

Measures = dict[str, Float[Tensor, " _"]]
"""One number for each counterfactual under the name of its mean; NaN where there is nothing to measure."""

MEASURES = (
    "flip_ratio", "flip_ratio_label", "sic",
    "ged", "ged_lower", "ged_exact_share", "led", "led_aligned", "cosine", "edge_sp", "node_sp", "edits", "heavy_edits",
    "nafr", "nafr_other", "molecule", "plausible", "seconds",
)  # fmt: skip

_Columns = dict[str, Tensor]
_BATCH = 64


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What counterfactuals are measured with: the models, the limit of plausibility, and the time for one GED."""

    classifier: AbstractClassifier
    vae: PEGVAE
    judges: Mapping[str, AbstractClassifier]
    nll_limit: float
    ged_seconds: float


@torch.no_grad()
def measure(
    found: Sequence[Counterfactual],
    labels: Int[Tensor, " b"],
    seconds: Float[Tensor, " b"],
    by: Yardstick,
    tick: Callable[[], None] = lambda: None,
) -> Measures:
    """All measures of one run; `tick` is called after each graph. Where no graph was returned, nothing was flipped."""
    there = torch.tensor([k for k, one in enumerate(found) if one.counterfactual is not None], dtype=torch.long)
    values = dict.fromkeys(("flip_ratio", "flip_ratio_label", *by.judges), torch.zeros(len(found)))
    values["seconds"] = seconds
    if len(there):
        known = [found[k] for k in there.tolist()]
        factual, counterfactual = stack([one.factual for one in known]), stack(_returned(known))
        target = torch.tensor([one.target for one in known])
        columns = _validity(factual, counterfactual, target, labels[there], by)
        columns |= _identity(factual, counterfactual, by) | _believability(factual, counterfactual, by)
        columns |= _edits(factual, counterfactual, by.ged_seconds, tick)
        for name, column in columns.items():
            empty = values.get(name, torch.full((len(found),), torch.nan))
            values[name] = empty.index_copy(0, there, column.float())
    for _ in range(len(found) - len(there)):
        tick()
    return {name: values.get(name, torch.full((len(found),), torch.nan)) for name in MEASURES}


def stack(graphs: Sequence[Graph]) -> Graph:
    """One batch with all slots of the schema, as explainers see graphs."""
    return Graph.cat(graphs).pad(graphs[0].schema.max_nodes)


def in_batches(f: Callable[[Graph], Tensor], graph: Graph) -> Tensor:
    """`f` of a batch of any size, computed by parts: memory does not grow with it."""
    return torch.cat([f(graph[at : at + _BATCH]) for at in range(0, len(graph), _BATCH)])


def are_molecules(graph: Graph, factual: Graph) -> Float[Tensor, " b"]:
    """Which graphs are molecules, in one part if the factual is; NaN where nodes are not atoms."""
    if graph.schema.chemistry is None:
        return torch.full((len(graph),), torch.nan)
    from ..data.molecule import is_molecule, num_fragments

    limit = torch.where(num_fragments(factual) == 1, 1, graph.schema.max_nodes)
    return is_molecule(graph, limit).float()


def _returned(known: Sequence[Counterfactual]) -> list[Graph]:
    return [one.counterfactual for one in known if one.counterfactual is not None]


def _validity(factual: Graph, counterfactual: Graph, target: Tensor, labels: Tensor, by: Yardstick) -> _Columns:
    """The classifier is asked again: nothing is taken from what the explainer says."""
    before, after = in_batches(by.classifier, factual), in_batches(by.classifier, counterfactual)
    usable = (counterfactual.num_nodes > 0) & after.isfinite().all(1)
    flips = metrics.flipped(after.argmax(1), target, usable)
    judged = {name: in_batches(judge, counterfactual).argmax(1) == target for name, judge in by.judges.items()}
    return {
        "flip_ratio": flips,
        "flip_ratio_label": (after.argmax(1) != labels) & usable,
        "sic": metrics.confidence_gain(target_probability(before, target), target_probability(after, target)),
        **{name: flips & agrees for name, agrees in judged.items()},
    }


def _identity(factual: Graph, counterfactual: Graph, by: Yardstick) -> _Columns:
    z, w = (in_batches(lambda part: by.vae.encode(part).mean, graph) for graph in (factual, counterfactual))
    e, f = (in_batches(by.classifier.embed, graph) for graph in (factual, counterfactual))
    return {
        "led": metrics.latent_distance(z, w),
        "led_aligned": metrics.latent_distance(z, _match_slots(z, w)),
        "cosine": metrics.embedding_cosine(e, f),
        "edge_sp": metrics.edge_sparsity(factual, counterfactual),
        "node_sp": metrics.node_sparsity(factual, counterfactual),
    }


def _match_slots(z: Float[Tensor, "b n dz"], w: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n dz"]:
    """`w` with its slots in the order that is nearest to `z`."""
    cost = torch.cdist(z, w).square()
    orders = [torch.from_numpy(linear_sum_assignment(matrix.numpy())[1]) for matrix in cost]
    return torch.stack([code[order] for code, order in zip(w, orders, strict=True)])


def _believability(factual: Graph, counterfactual: Graph, by: Yardstick) -> _Columns:
    return {
        "molecule": are_molecules(counterfactual, factual),
        "plausible": in_batches(partial(nll_per_node, by.vae), counterfactual) <= by.nll_limit,
    }


def _edits(factual: Graph, counterfactual: Graph, seconds: float, tick: Callable[[], None]) -> _Columns:
    """Edits as the method aligns the graphs, and the edit distance, for which that alignment is a first upper bound."""
    rows = []
    kept = torch.arange(factual.num_slots)
    for before, after in zip(factual, counterfactual, strict=True):
        edits = edits_between(before, after)
        distance = graph_edit_distance(before, after, alignment=kept, time_limit=seconds)
        heavy = len(heavy_edits(before, edits))
        rows.append((distance.upper, distance.lower, distance.exact, len(edits), heavy))
        tick()
    columns = torch.tensor(rows, dtype=torch.float32).unbind(1)
    return dict(zip(("ged", "ged_lower", "ged_exact_share", "edits", "heavy_edits"), columns, strict=True))
