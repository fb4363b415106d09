"""Figures of real graphs, as the ceiling for those of counterfactuals."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.claims.validity import survives_round_trip
from ..explain.kit import Kit
from ..metrics import plausibility_threshold, share
from ..models.networks.classifier import AbstractClassifier
from .measure import are_molecules, in_batches, plausibility, stack
from .summary import Figures, number

JUDGES = {"nafr": "another GNN", "nafr_other": "trees"}
"""Name of the judge in a kit for each figure that a judge decides."""

_NEIGHBORS = 50


@dataclass(frozen=True, eq=False)
class Reality:
    """Measures of real graphs that no model was trained on.

    Args:
        confidence: The classifier's probability of the class that it predicts, for each graph.
        agrees: For each judge, by the name of its figure: True where it predicts the same class as the classifier.
        nll_limit: Negative log-likelihood per node that 99 % of the graphs do not exceed; None without an autoencoder.
        figures: Shares of the graphs that pass each measure.
    """

    confidence: Float[Tensor, " g"]
    agrees: Mapping[str, Bool[Tensor, " g"]]
    nll_limit: float | None
    figures: Figures

    @classmethod
    @torch.no_grad()
    def of(cls, kit: Kit, graphs: GraphDataset) -> "Reality":
        """Measure graphs with the models of a kit."""
        graph = stack([graphs.graphs()])
        probability = in_batches(kit.classifier, graph).softmax(1)
        confidence, predicted = probability.max(1)
        agrees = {name: in_batches(judge, graph).argmax(1) == predicted for name, judge in judges_of(kit).items()}
        figures: dict[str, float] = {name: share(column) for name, column in agrees.items()}
        limit = None
        if kit.vae is not None:
            nll = plausibility(graph, kit.vae)
            limit = plausibility_threshold(nll)
            figures["plausible"] = share(nll <= limit)
        if graph.schema.chemistry is not None:
            from ..data.molecules.validity import is_radical_free

            again = [survives_round_trip(kit.classifier, graph[k], int(predicted[k])) for k in range(len(graph))]
            figures["molecule"] = float(are_molecules(graph, graph).mean())
            figures["radical_free"] = share(is_radical_free(graph))
            figures["round_trip"] = share(torch.tensor(again))
        return cls(confidence, agrees, limit, {"n": len(graph)} | {k: number(v) for k, v in figures.items()})

    def ceiling(self, name: str, confidence: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
        """Share of real graphs of similar confidence on which a judge agrees with the classifier.

        These are the 50 graphs whose confidence is nearest, and all that are as near as the last of them.
        """
        if name not in self.agrees:
            return torch.full_like(confidence, torch.nan)
        distance = (self.confidence - confidence[:, None]).abs()  # b g
        last = distance.kthvalue(min(_NEIGHBORS, len(self.confidence)), dim=1, keepdim=True).values
        near = (distance <= last).float()
        return (near * self.agrees[name]).sum(1) / near.sum(1)


def judges_of(kit: Kit) -> dict[str, AbstractClassifier]:
    """Judges of a kit, by the name of the figure that each decides."""
    return {figure: kit.judges[words] for figure, words in JUDGES.items() if words in kit.judges}
