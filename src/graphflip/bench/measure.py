"""Measures of counterfactuals: validity, identity preservation, believability; one number for each counterfactual."""

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
"""Columns by name, with one number for each question; NaN where there is nothing to measure."""

Columns = dict[str, Tensor]
"""Columns by name, with one number for each counterfactual; questions without an answer are left out."""

MEASURES = (
    "flip_ratio", "flip_ratio_label", "sic",
    "ged", "ged_lower", "ged_exact_share", "led", "led_aligned", "cosine", "edge_sp", "node_sp", "edits", "heavy_edits",
    "nafr", "nafr_other", "molecule", "plausible", "seconds",
)  # fmt: skip

_BATCH = 64


@dataclass(frozen=True, eq=False)
class Pairs:
    """Counterfactuals batched with their factuals; questions without an answer are left out.

    Args:
        total: Number of questions.
        rows: Index of each pair among the questions.
        factual: The graphs that were explained.
        counterfactual: The answers, in the same order.
        goals: The goal of each question.
    """

    total: int
    rows: Int[Tensor, " k"]
    factual: Graph
    counterfactual: Graph
    goals: list[AbstractGoal]

    @classmethod
    def of(cls, answers: Sequence[Counterfactual]) -> "Pairs | None":
        """Batch the answers that have a counterfactual graph; None if none has."""
        known = {k: answer.counterfactual for k, answer in enumerate(answers) if answer.counterfactual is not None}
        if not known:
            return None
        return cls(
            len(answers),
            torch.tensor(list(known)),
            stack([answers[k].factual for k in known]),
            stack(list(known.values())),
            [answers[k].goal for k in known],
        )

    def spread(self, column: Tensor, otherwise: float = torch.nan) -> Float[Tensor, " total"]:
        """Extend a column to all questions, with the value `otherwise` for those without an answer."""
        return torch.full((self.total,), otherwise).index_copy(0, self.rows, column.float())


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Models and limits by which the counterfactuals of the paper's experiment are measured.

    Args:
        classifier: Classifier that was explained.
        vae: Autoencoder whose latent space distances are measured in.
        judges: Other classifiers, by the name of the figure that counts the flips they confirm.
        nll_limit: Negative log-likelihood per node, in nats, up to which a graph is plausible.
        ged_seconds: Time limit for the edit distance of a pair.
    """

    classifier: AbstractClassifier
    vae: PEGVAE
    judges: Mapping[str, AbstractClassifier]
    nll_limit: float
    ged_seconds: float


@torch.no_grad()
def measure(
    answers: Sequence[Counterfactual],
    labels: Int[Tensor, " b"],
    seconds: Float[Tensor, " b"],
    by: Yardstick,
    tick: Callable[[], None] = lambda: None,
) -> Measures:
    """Compute `MEASURES` for every answer; one without a graph counts as not flipped.

    `labels` are those of the factuals, `seconds` the time that each answer took; `tick` is called after each answer.
    """
    flips = ("flip_ratio", "flip_ratio_label", *by.judges)
    values = dict.fromkeys(flips, torch.zeros(len(answers))) | {"seconds": seconds}
    pairs = Pairs.of(answers)
    if pairs is not None:
        columns = validity(pairs, by.classifier, by.judges) | _latent(pairs, by) | sparsity(pairs)
        columns["flip_ratio_label"] = (columns.pop("predicted") != labels[pairs.rows]) & columns.pop("usable")
        columns |= {"molecule": are_molecules(pairs.counterfactual, pairs.factual)}
        columns |= {"plausible": plausibility(pairs.counterfactual, by.vae) <= by.nll_limit}
        columns |= edit_counts(pairs, by.ged_seconds, tick)
        values |= {name: pairs.spread(column, 0.0 if name in flips else torch.nan) for name, column in columns.items()}
    for _ in range(len(answers) - (0 if pairs is None else len(pairs.rows))):
        tick()
    return {name: values.get(name, torch.full((len(answers),), torch.nan)) for name in MEASURES}


def stack(graphs: Sequence[Graph]) -> Graph:
    """Concatenate graphs into one batch, padded to `max_nodes` slots as for explainers."""
    return Graph.cat(graphs).pad(graphs[0].schema.max_nodes)


def in_batches(f: Callable[[Graph], Tensor], graph: Graph) -> Tensor:
    """Apply `f` to a large batch in parts of 64 graphs, to bound memory."""
    return torch.cat([f(graph[at : at + _BATCH]) for at in range(0, len(graph), _BATCH)])


def validity(pairs: Pairs, classifier: AbstractClassifier, judges: Mapping[str, AbstractClassifier]) -> Columns:
    """Ask the classifier and the judges anew; nothing is taken from the explainer's own claims.

    `p_target` is the probability of the target (or the predicted value), `sic` its gain over that of the factual.
    `usable` is False for an empty graph, which never counts as a flip.
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
    """Shares of edges and of nodes that are unchanged; nodes are matched by their slots."""
    return {
        "edge_sp": metrics.edge_sparsity(pairs.factual, pairs.counterfactual),
        "node_sp": metrics.node_sparsity(pairs.factual, pairs.counterfactual),
    }


def edit_counts(pairs: Pairs, ged_seconds: float, tick: Callable[[], None]) -> Columns:
    """Count edits between graphs matched by their slots, and compute the edit distance, starting from this match."""
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
    """1 for each graph that is a valid molecule, in one part if its factual is, else 0; NaN if nodes are not atoms."""
    if graph.schema.chemistry is None:
        return torch.full((len(graph),), torch.nan)
    from ..data.molecules.validity import is_molecule, num_fragments

    limit = torch.where(num_fragments(factual) == 1, 1, graph.schema.max_nodes)
    return is_molecule(graph, limit).float()


def plausibility(graph: Graph, vae: PEGVAE) -> Float[Tensor, " b"]:
    """Negative log-likelihood of each graph under the autoencoder, in nats per node; lower is more plausible."""
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
    """Reorder the slots of `w` so that they are nearest to those of `z`."""
    cost = torch.cdist(z, w).square()
    orders = [torch.from_numpy(linear_sum_assignment(matrix.numpy())[1]) for matrix in cost]
    return torch.stack([code[order] for code, order in zip(w, orders, strict=True)])
