"""The plain classifiers that the literature explains: a graph convolutional network of 3 x 20, and a GIN.

Both see nodes and edges, but not the attributes of edges, as in the papers on counterfactuals of graphs.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...graph import Graph
from ...nn.standardize import standardized
from ...schema import Schema
from .classifier import AbstractClassifier, ClassifierConfig


class PlainGCN(AbstractClassifier):
    """Graph convolutions of Kipf and Welling (2017): h = ReLU(D^-1/2 (A + I) D^-1/2 h W + b), three times 20 wide.

    The readout is the one of PGExplainer's classifiers: maximum and sum over nodes, then one linear layer. The layers
    are those of PyG's `GCNConv`; for directed graphs, messages go along the edges.

    Args:
        schema: Columns of the graphs.
        config: Sizes, and the number of outputs.

    Example:
        >>> from graphflip import Graph, Schema
        >>> path = Graph.build(Schema(max_nodes=3), [{}, {}, {}], [(0, 1, {}), (1, 2, {})])
        >>> PlainGCN(path.schema).eval()(path).shape
        torch.Size([1, 2])
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=20, depth=3, hidden=40)

    def __init__(self, schema: Schema, config: ClassifierConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        widths = [1 + schema.dv] + [config.width] * config.depth
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in pairwise(widths)])
        self.out = nn.Linear(2 * config.width, config.num_classes)

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        graph = standardized(graph if graph.num_slots else graph.pad(1))
        exists = graph.B[..., None]
        h, A = _nodes(graph), convolution(graph)
        for layer in self.layers:
            h = (A @ nn.functional.linear(h, layer.weight) + layer.bias).relu() * exists  # pyright: ignore
        return torch.cat([h.amax(1), h.sum(1) / 10], -1)

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.out(embedding))


class PlainGIN(AbstractClassifier):
    """Graph isomorphism network of Xu et al. (2019) without normalization: h = MLP(h + sum over neighbors).

    Sums over the nodes of every depth are classified by one linear layer, as in its paper.

    Args:
        schema: Columns of the graphs.
        config: Sizes, and the number of outputs.

    Example:
        >>> from graphflip import Graph, Schema
        >>> path = Graph.build(Schema(max_nodes=3), [{}, {}, {}], [(0, 1, {}), (1, 2, {})])
        >>> PlainGIN(path.schema).eval()(path).shape
        torch.Size([1, 2])
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=32, depth=3, hidden=32)

    def __init__(self, schema: Schema, config: ClassifierConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        widths = [1 + schema.dv] + [config.width] * config.depth
        self.layers = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(a, config.hidden), nn.ReLU(), nn.Linear(config.hidden, b), nn.ReLU())
                for a, b in pairwise(widths)
            ]
        )
        self.out = nn.Linear(sum(widths), config.num_classes)

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        graph = standardized(graph if graph.num_slots else graph.pad(1))
        return torch.cat([h.sum(1) / 10 for h in self._states(graph)], -1)

    def _states(self, graph: Graph) -> Iterator[Float[Tensor, "b n d"]]:
        exists, h = graph.B[..., None], _nodes(graph)
        yield h
        for layer in self.layers:
            h = layer(h + graph.A.transpose(1, 2) @ h) * exists
            yield h

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.out(embedding))


def convolution(graph: Graph) -> Float[Tensor, "b n n"]:
    """D^-1/2 (A + I) D^-1/2, where row i has what node i receives; edges of a relaxed graph count by probability."""
    received = graph.A.transpose(1, 2) + torch.diag_embed(graph.B)
    scale = received.sum(2).clamp(min=1e-6).rsqrt() * (graph.B > 0)
    return scale[:, :, None] * received * scale[:, None, :]


def _nodes(graph: Graph) -> Float[Tensor, "b n d"]:
    """Existence and attributes of nodes; zero in empty slots."""
    return torch.cat([graph.B[..., None], graph.V], -1)
