"""What models and rules say of real graphs: the ceiling of what counterfactuals can reach."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.assess import survives_round_trip
from ..explain.kit import Kit
from ..metrics import plausibility_threshold, share
from ..models.networks.classifier import AbstractClassifier
from .measure import are_molecules, in_batches, plausibility, stack
from .summary import Figures, number

JUDGES = {"nafr": "another GNN", "nafr_other": "trees"}
"""Which of a kit's judges stands behind which figure."""

_NEIGHBORS = 50


@dataclass(frozen=True, eq=False)
class Reality:
    """Real graphs that no model was trained on, as classifier, judges and rules see them.

    `confidence` is the classifier's probability of the class it predicts, `agrees` whether a judge predicts the same.
    99 % of the graphs do not exceed `nll_limit`. `figures` are shares of the graphs.
    """

    confidence: Float[Tensor, " g"]
    agrees: Mapping[str, Bool[Tensor, " g"]]
    nll_limit: float | None
    figures: Figures

    @classmethod
    @torch.no_grad()
    def of(cls, kit: Kit, graphs: GraphDataset) -> "Reality":
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
            from ..data.molecules.molecule import is_radical_free

            again = [survives_round_trip(kit.classifier, graph[k], int(predicted[k])) for k in range(len(graph))]
            figures["molecule"] = float(are_molecules(graph, graph).mean())
            figures["radical_free"] = share(is_radical_free(graph))
            figures["round_trip"] = share(torch.tensor(again))
        return cls(confidence, agrees, limit, {"n": len(graph)} | {k: number(v) for k, v in figures.items()})

    def ceiling(self, name: str, confidence: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
        """How often a judge agrees with the classifier on real graphs of like confidence.

        Those are the 50 whose confidence is nearest, and all that are as near as the last of them.
        """
        if name not in self.agrees:
            return torch.full_like(confidence, torch.nan)
        distance = (self.confidence - confidence[:, None]).abs()  # b g
        last = distance.kthvalue(min(_NEIGHBORS, len(self.confidence)), dim=1, keepdim=True).values
        near = (distance <= last).float()
        return (near * self.agrees[name]).sum(1) / near.sum(1)


def judges_of(kit: Kit) -> dict[str, AbstractClassifier]:
    """The judges that a kit has, by the figure they stand behind."""
    return {figure: kit.judges[words] for figure, words in JUDGES.items() if words in kit.judges}
