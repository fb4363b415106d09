"""Use of an autoencoder's likelihood: if it cannot tell real graphs from rewired ones, nothing is claimed with it."""

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.assess import nll_per_node
from ..graph import Graph
from ..metrics import plausibility_threshold
from ..models.networks.pegvae import PEGVAE
from ..models.training.evaluate import auroc

_TELLS = 0.7  # AUROC, real against rewired graphs, from which on a likelihood is of use
_COMPARED = 200


def useful_limit(vae: PEGVAE, dataset: GraphDataset) -> float | None:
    """Negative log-likelihood that 99 % of validation graphs do not exceed; None if it says nothing of a graph.

    It is of use if validation graphs and the same ones with the attributes of their nodes dealt anew can be
    told apart by it, with an AUROC of at least 0.7.
    """
    part = dataset.part("validation")
    some = part.subset(range(min(len(part), _COMPARED)))
    rng = torch.Generator().manual_seed(0)
    real = torch.cat([nll_per_node(vae, batch.graph) for batch in some.batches(64)])
    fake = torch.cat([nll_per_node(vae, rewired(batch.graph, rng)) for batch in some.batches(64)])
    labels, both = torch.cat([torch.zeros(len(real)), torch.ones(len(fake))]).long(), torch.cat([real, fake])
    tells = bool(both.isfinite().all()) and auroc(both, labels) >= _TELLS
    return plausibility_threshold(real) if tells else None


def rewired(graph: Graph, rng: torch.Generator) -> Graph:
    """Deal the attributes of each graph's nodes to other nodes of it; edges stay where they are."""
    order = torch.stack([_shuffled(exists, rng) for exists in graph.B])
    V: Float[Tensor, "b n dv"] = graph.V.gather(1, order[..., None].expand_as(graph.V))
    return Graph.trusted(graph.B, V, graph.A, graph.E, graph.schema)


def _shuffled(exists: Float[Tensor, " n"], rng: torch.Generator) -> Tensor:
    order, there = torch.arange(len(exists)), (exists > 0.5).nonzero()[:, 0]
    order[there] = there[torch.randperm(len(there), generator=rng)]
    return order
