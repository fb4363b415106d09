"""What is measured on counterfactuals: validity, identity preservation, believability. Columns of one number each."""

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
from ..explain.counterfactual import Counterfactual
from ..explain.goals.batches import reached_each, shown_each
from ..explain.goals.goal import AbstractGoal
from ..ged.distance import graph_edit_distance
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.pegvae import PEGVAE

Measures = dict[str, Float[Tensor, " _"]]
"""One number for each counterfactual under the name of its mean; NaN where there is nothing to measure."""

Columns = dict[str, Tensor]
"""The same for those counterfactuals alone that are there."""

MEASURES = (
    "flip_ratio", "flip_ratio_label", "sic",
    "ged", "ged_lower", "ged_exact_share", "led", "led_aligned", "cosine", "edge_sp", "node_sp", "edits", "heavy_edits",
    "nafr", "nafr_other", "molecule", "plausible", "seconds",
)  # fmt: skip

_BATCH = 64


@dataclass(frozen=True, eq=False)
class Pairs:
    """The counterfactuals that are there, batched with their factuals; `rows` are their numbers among all `total`."""

    total: int
    rows: Int[Tensor, " k"]
    factual: Graph
    counterfactual: Graph
    goals: list[AbstractGoal]

    @classmethod
    def of(cls, found: Sequence[Counterfactual]) -> "Pairs | None":
        """None where no graph was returned at all."""
        known = {k: one.counterfactual for k, one in enumerate(found) if one.counterfactual is not None}
        if not known:
            return None
        return cls(
            len(found),
            torch.tensor(list(known)),
            stack([found[k].factual for k in known]),
            stack(list(known.values())),
            [found[k].goal for k in known],
        )

    def spread(self, column: Tensor, otherwise: float = torch.nan) -> Float[Tensor, " total"]:
        """A column with one value for every question, also those without an answer."""
        return torch.full((self.total,), otherwise).index_copy(0, self.rows, column.float())


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What the paper's counterfactuals are measured with: models, the limit of plausibility, the time for one GED."""

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
    """The paper's measures and more; `tick` is called after each graph. Without a graph nothing was flipped."""
    flips = ("flip_ratio", "flip_ratio_label", *by.judges)
    values = dict.fromkeys(flips, torch.zeros(len(found))) | {"seconds": seconds}
    pairs = Pairs.of(found)
    if pairs is not None:
        columns = validity(pairs, by.classifier, by.judges) | _latent(pairs, by) | sparsity(pairs)
        columns["flip_ratio_label"] = (columns.pop("predicted") != labels[pairs.rows]) & columns.pop("usable")
        columns |= {"molecule": are_molecules(pairs.counterfactual, pairs.factual)}
        columns |= {"plausible": plausibility(pairs.counterfactual, by.vae) <= by.nll_limit}
        columns |= edit_counts(pairs, by.ged_seconds, tick)
        values |= {name: pairs.spread(column, 0.0 if name in flips else torch.nan) for name, column in columns.items()}
    for _ in range(len(found) - (0 if pairs is None else len(pairs.rows))):
        tick()
    return {name: values.get(name, torch.full((len(found),), torch.nan)) for name in MEASURES}


def stack(graphs: Sequence[Graph]) -> Graph:
    """One batch with all slots of the schema, as explainers see graphs."""
    return Graph.cat(graphs).pad(graphs[0].schema.max_nodes)


def in_batches(f: Callable[[Graph], Tensor], graph: Graph) -> Tensor:
    """`f` of a batch of any size, computed by parts: memory does not grow with it."""
    return torch.cat([f(graph[at : at + _BATCH]) for at in range(0, len(graph), _BATCH)])


def validity(pairs: Pairs, classifier: AbstractClassifier, judges: Mapping[str, AbstractClassifier]) -> Columns:
    """The classifier is asked again, and the judges: nothing is taken from what the explainer says.

    `p_target` is the probability of the target, or the value predicted, `sic` what it has gained. An empty graph is not
    `usable`: no flip.
    """
    before, after = in_batches(classifier, pairs.factual), in_batches(classifier, pairs.counterfactual)
    usable = (pairs.counterfactual.num_nodes > 0) & after.isfinite().all(1)
    flips = reached_each(pairs.goals, after) & usable
    was, now = (shown_each(pairs.goals, outputs) for outputs in (before, after))
    says = {name: in_batches(judge, pairs.counterfactual) for name, judge in judges.items()}
    return {
        "predicted": after.argmax(1),
        "usable": usable,
        "flip_ratio": flips,
        "p_target": now,
        "sic": metrics.confidence_gain(was, now),
        **{name: flips & reached_each(pairs.goals, outputs) for name, outputs in says.items()},
    }


def sparsity(pairs: Pairs) -> Columns:
    """Shares of edges and of nodes that are as they were, under the alignment that the method keeps."""
    return {
        "edge_sp": metrics.edge_sparsity(pairs.factual, pairs.counterfactual),
        "node_sp": metrics.node_sparsity(pairs.factual, pairs.counterfactual),
    }


def edit_counts(pairs: Pairs, ged_seconds: float, tick: Callable[[], None]) -> Columns:
    """Edits as the method aligns the graphs, and the edit distance, for which that alignment is a first upper bound."""
    rows = []
    kept = torch.arange(pairs.factual.num_slots)
    for before, after in zip(pairs.factual, pairs.counterfactual, strict=True):
        edits = edits_between(before, after)
        distance = graph_edit_distance(before, after, alignment=kept, time_limit=ged_seconds)
        heavy = len(heavy_edits(before, edits))
        rows.append((distance.upper, distance.lower, distance.exact, len(edits), heavy))
        tick()
    columns = torch.tensor(rows, dtype=torch.float32).unbind(1)
    return dict(zip(("ged", "ged_lower", "ged_exact_share", "edits", "heavy_edits"), columns, strict=True))


def are_molecules(graph: Graph, factual: Graph) -> Float[Tensor, " b"]:
    """Which graphs are molecules, in one part if the factual is; NaN where nodes are not atoms."""
    if graph.schema.chemistry is None:
        return torch.full((len(graph),), torch.nan)
    from ..data.molecules.molecule import is_molecule, num_fragments

    limit = torch.where(num_fragments(factual) == 1, 1, graph.schema.max_nodes)
    return is_molecule(graph, limit).float()


def plausibility(graph: Graph, vae: PEGVAE) -> Float[Tensor, " b"]:
    """Negative log-likelihood per node; the lower, the more plausible."""
    return in_batches(partial(nll_per_node, vae), graph)


def _latent(pairs: Pairs, by: Yardstick) -> Columns:
    both = pairs.factual, pairs.counterfactual
    z, w = (in_batches(lambda part: by.vae.encode(part).mean, graph) for graph in both)
    e, f = (in_batches(by.classifier.embed, graph) for graph in both)
    return {
        "led": metrics.latent_distance(z, w),
        "led_aligned": metrics.latent_distance(z, _match_slots(z, w)),
        "cosine": metrics.embedding_cosine(e, f),
    }


def _match_slots(z: Float[Tensor, "b n dz"], w: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n dz"]:
    """`w` with its slots in the order that is nearest to `z`."""
    cost = torch.cdist(z, w).square()
    orders = [torch.from_numpy(linear_sum_assignment(matrix.numpy())[1]) for matrix in cost]
    return torch.stack([code[order] for code, order in zip(w, orders, strict=True)])
