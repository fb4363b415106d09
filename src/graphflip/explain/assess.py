"""Assessor: gathers evidence for a counterfactual from models and rules that no search has consulted."""

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..errors import BudgetSpent, MissingExtra
from ..graph import Graph
from ..jsongraph import first_slots
from ..metrics import plausibility_threshold
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.pegvae import PEGVAE
from ..realism.alerts import claimed_move
from ..realism.change import ChemicalChange
from ..realism.corpus import Corpus
from .claims.validity import Validity, survives_round_trip
from .counterfactual import Counterfactual
from .evidence import Evidence
from .moves.environments import EnvironmentCounts
from .neighbors import TrainingMolecules


@dataclass(frozen=True, eq=False)
class Assessor:
    """Gathers evidence with the judges, environments and autoencoder that it has."""

    classifier: AbstractClassifier
    judges: Mapping[str, AbstractClassifier] = field(default_factory=dict)
    environments: EnvironmentCounts | None = None
    vae: PEGVAE | None = None
    nll_limit: float | None = None
    training: TrainingMolecules | None = None

    @torch.no_grad()
    def assess(self, counterfactual: Counterfactual) -> Counterfactual:
        """Add evidence to a counterfactual; one without a graph is returned unchanged."""
        after = counterfactual.counterfactual
        if after is None or not float(after.B.sum()):
            return counterfactual
        # Without a limit the likelihood was found to say nothing of a graph.
        nll = None if self.vae is None or self.nll_limit is None else float(nll_per_node(self.vae, after))
        claims: dict[str, bool | None] = {}
        if self.environments is not None:
            claims["environment"] = bool(self.environments.created_are_known(counterfactual.factual, after)[0])
        if nll is not None and self.nll_limit is not None:
            claims["plausible"] = nll <= self.nll_limit
        if after.schema.chemistry is not None:
            claims |= self._chemistry(counterfactual, after)
        judges = {name: float(counterfactual.goal.shown(judge(after))) for name, judge in self.judges.items()}
        near = self.nearest(counterfactual.factual, after)
        evidence = Evidence(judges, nll_per_node=nll, **claims, chemistry=chemistry_of(counterfactual), **near)
        return dataclasses.replace(counterfactual, evidence=evidence)

    def nearest(self, before: Graph, after: Graph) -> dict[str, Any]:
        """Evidence about the training molecules nearest to both graphs; none without RDKit."""
        try:
            find = None if self.training is None else self.training.nearest
            return {} if find is None else {"nearest_factual": find(before), "nearest_counterfactual": find(after)}
        except MissingExtra:
            return {}

    def _chemistry(self, counterfactual: Counterfactual, after: Graph) -> dict[str, bool | None]:
        before, now = Validity.of(counterfactual.factual), Validity.of(after)
        in_one_piece = now.num_parts == 1 or before.num_parts != 1
        claims: dict[str, bool | None] = {"molecule": now.molecule and in_one_piece, "radical_free": now.filled}
        if counterfactual.flipped:  # what does not reach the target cannot lose it
            with suppress(BudgetSpent):  # a classifier that may not be asked any more leaves it open
                claims["round_trip"] = survives_round_trip(self.classifier, after, counterfactual.target)
        return claims


def chemistry_of(counterfactual: Counterfactual) -> ChemicalChange | None:
    """Measure the chemistry of an answer; None if the graphs are no molecules."""
    factual, after = counterfactual.factual, counterfactual.counterfactual
    if after is None or factual.schema.chemistry is None:
        return None
    toward = counterfactual.class_name(counterfactual.target)
    return ChemicalChange.between(factual, after, Corpus.packaged(), claimed_move(counterfactual.classes, toward))


@torch.no_grad()
def nll_per_node(vae: PEGVAE, graph: Graph) -> Float[Tensor, " b"]:
    """-log p(G | z) + KL at the mean z of the posterior, in nats per node: no draw, so the same on every run.

    The slots after the last node are all alike: the autoencoder needs none of them.
    """
    taken = (graph.B > 0).any(0).nonzero()
    graph = first_slots(graph, int(taken[-1]) + 1 if len(taken) else 1)
    posterior = vae.encode(graph)
    nll = posterior.kl() - vae.log_likelihood(graph, posterior.mean).total
    return nll / graph.num_nodes.clamp(min=1)


def plausible_limit(vae: PEGVAE, real: GraphDataset, batch_size: int = 64) -> float:
    """Negative log-likelihood that 99 % of real graphs do not exceed, in nats per node."""
    batches = (real.graphs(slice(at, at + batch_size)) for at in range(0, len(real), batch_size))
    return plausibility_threshold(torch.cat([nll_per_node(vae, graph) for graph in batches]))
