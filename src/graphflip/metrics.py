"""Measures of counterfactuals: validity, identity preservation, believability, and the trade-off between them.

Abbreviations of the papers: SIC is `confidence_gain`, LED `latent_distance`, EdgeSp `edge_sparsity`, NodeSp
`node_sparsity`, NAFR `agreement`. For inputs without a counterfactual, flips are False and other values NaN.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .errors import ConfigError, GraphError
from .graph import Graph


def flipped(
    predicted: Int[Tensor, " b"], target: Int[Tensor, " b"], found: Bool[Tensor, " b"] | None = None
) -> Bool[Tensor, " b"]:
    """True for each counterfactual that is classified as its target; False where none was `found`."""
    flips = predicted == target
    return flips if found is None else flips & found


def flip_ratio(
    predicted: Int[Tensor, " b"], target: Int[Tensor, " b"], found: Bool[Tensor, " b"] | None = None
) -> float:
    """Share of all inputs whose counterfactual is classified as the target (not the class predicted for the input)."""
    return share(flipped(predicted, target, found))


def flip_ratio_label(
    predicted: Int[Tensor, " b"], label: Int[Tensor, " b"], found: Bool[Tensor, " b"] | None = None
) -> float:
    """Share of all inputs whose counterfactual is not classified as the label that the input has in the dataset.

    This is the definition in the code of Hansen et al.: a misclassified input counts as flipped without any change.
    """
    flips = predicted != label
    return share(flips if found is None else flips & found)


def confidence_gain(p_factual: Float[Tensor, " b"], p_counterfactual: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """Probability of the target for the counterfactual minus that for the factual, from -1 to 1."""
    return p_counterfactual - p_factual


def latent_distance(z: Float[Tensor, "b n dz"], z_counterfactual: Float[Tensor, "b n dz"]) -> Float[Tensor, " b"]:
    """Euclidean distance between two latent codes whose slot i is the same node."""
    return (z - z_counterfactual).flatten(1).norm(dim=1)


def embedding_cosine(e: Float[Tensor, "b d"], e_counterfactual: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
    """Cosine of the angle between two embeddings of a graph; 0 where one of them is zero.

    Trade-off curves take its negative, so that lower means closer.
    """
    return torch.nn.functional.cosine_similarity(e, e_counterfactual, dim=1)


def edge_sparsity(factual: Graph, counterfactual: Graph) -> Float[Tensor, " b"]:
    """One minus the number of edges added or removed, divided by the number of the factual's edges; at least 0.

    Slot i is the same node in both. Changes of an edge's attributes do not count. For a factual without edges it is 1
    if none was added, else 0.
    """
    before, after = _same_slots(factual, counterfactual)
    changed = (before.A - after.A).abs().sum((1, 2))
    total = before.A.sum((1, 2))
    return torch.where(total > 0, (1 - changed / total.clamp(min=1)).clamp(min=0), (changed == 0).to(total.dtype))


def node_sparsity(factual: Graph, counterfactual: Graph) -> Float[Tensor, " b"]:
    """Share of the factual's nodes that still exist and have the same categories; 1 for a graph without nodes."""
    before, after = _same_slots(factual, counterfactual)
    kept = before.B * after.B
    for column, at in factual.schema.node_slices():
        if not column.is_continuous:
            kept = kept * (before.V[..., at] == after.V[..., at]).all(-1)
    total = before.B.sum(1)
    return torch.where(total > 0, kept.sum(1) / total.clamp(min=1), torch.ones_like(total))


def agreement(flips: Bool[Tensor, " b"], judge_flips: Bool[Tensor, " b"]) -> float:
    """Share of all inputs that are flipped both for the classifier and for a judge that the explainer has not seen."""
    return share(flips & judge_flips)


def plausibility_threshold(nll_per_node: Float[Tensor, " b"], quantile: float = 0.99) -> float:
    """Quantile of the negative log-likelihood per node of real graphs; raises ConfigError if not in (0, 1]."""
    if not 0 < quantile <= 1:
        raise ConfigError(f"`quantile` must lie in (0, 1]; got {quantile}.")
    return float(torch.quantile(nll_per_node, quantile))


def plausible_share(nll_per_node: Float[Tensor, " b"], threshold: float) -> float:
    """Share of the values that are at most the threshold, NaN left out; NaN if there are no others."""
    return share(nll_per_node[~nll_per_node.isnan()] <= threshold)


def share(claims: Bool[Tensor, " b"]) -> float:
    """Share of entries that are True; NaN if there are none."""
    return float(claims.double().mean())


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation and number of the values that are not NaN."""

    mean: float
    spread: float
    count: int


def summarize(values: Float[Tensor, " b"]) -> Summary:
    """Compute mean and standard deviation of the values that are not NaN."""
    known = values[~values.isnan()].double()
    spread = float(known.std()) if len(known) > 1 else 0.0
    return Summary(float(known.mean()), spread, len(known))


@dataclass(frozen=True, eq=False)
class TradeoffCurve:
    """Mean validity of the `count` counterfactuals whose identity score is at most a threshold, for each threshold."""

    threshold: Float[Tensor, " k"]
    validity: Float[Tensor, " k"]
    count: Int[Tensor, " k"]


def tradeoff_curve(identity: Float[Tensor, " b"], validity: Float[Tensor, " b"], burn_in: int = 10) -> TradeoffCurve:
    """Mean validity given that the identity score (lower is closer) is at most a threshold.

    Thresholds are the scores that occur, from the first that at least `burn_in` counterfactuals reach. Inputs without a
    counterfactual (NaN) are left out.
    """
    if burn_in < 1:
        raise ConfigError(f"`burn_in` must be at least 1; got {burn_in}.")
    known = ~(identity.isnan() | validity.isnan())
    order = torch.argsort(identity[known], stable=True)
    scores, validity = identity[known][order], validity[known][order]
    threshold, size = torch.unique_consecutive(scores, return_counts=True)
    count = size.cumsum(0)
    mean = validity.double().cumsum(0)[count - 1] / count
    enough = count >= burn_in
    return TradeoffCurve(threshold[enough], mean[enough].to(validity.dtype), count[enough])


@dataclass(frozen=True, eq=False)
class Histogram:
    """Numbers of values in bins of equal width; the last bin includes its upper edge."""

    edges: Float[Tensor, " edges"]
    count: Int[Tensor, " k"]


def histogram(
    values: Float[Tensor, " b"], bins: int = 20, low: float | None = None, high: float | None = None
) -> Histogram:
    """Count the finite values in `bins` bins between `low` and `high`, by default their minimum and maximum."""
    known = values[values.isfinite()].double()
    if len(known) == 0:
        return Histogram(torch.zeros(1), torch.zeros(0, dtype=torch.long))
    low, high = (float(known.min()) if low is None else low), (float(known.max()) if high is None else high)
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = torch.linspace(low, high, bins + 1, dtype=torch.float64)
    inside = known[(known >= low) & (known <= high)]
    position = (torch.searchsorted(edges, inside, right=True) - 1).clamp(max=bins - 1)
    return Histogram(edges, torch.bincount(position, minlength=bins))


def _same_slots(factual: Graph, counterfactual: Graph) -> tuple[Graph, Graph]:
    if len(factual) != len(counterfactual):
        raise GraphError(
            f"Each factual needs one counterfactual; got {len(factual)} and {len(counterfactual)}. "
            "Select those for which one was found."
        )
    n = max(factual.num_slots, counterfactual.num_slots)
    return factual.pad(n), counterfactual.pad(n)
