"""CountClassifier: a small network, or logistic regression, on counts of the environments of nodes."""

from itertools import pairwise
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from ...graph import Graph
from ...nn.layers import QuietLinear
from ...nn.saturation import saturated
from ...nn.variations import Variations
from ...schema import Schema
from .classifier import AbstractClassifier, Outputs
from .wl import wl_counts_of_variations, wl_logs


class CountConfig(Outputs):
    """Settings of a `CountClassifier`.

    Args:
        radius: Largest radius of the environments that are counted, in edges.
        bins: Number of bins into which environments are hashed: the number of inputs of the network.
        hidden: Widths of the hidden layers, at most two; none is logistic regression.
        blind: Share of the counts that are set to zero at random in training.
        dropout: Share of the hidden units that are set to zero at random in training.
        bonds: "sums" if environments have sums of edge attributes at nodes instead of these, as in `ClassifierConfig`.
    """

    radius: int = Field(default=2, ge=0, le=100)
    bins: int = Field(default=2048, gt=0, le=2**24)
    hidden: tuple[int, ...] = Field(default=(64,), max_length=2)
    blind: float = Field(default=0.2, ge=0, lt=1)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    bonds: Literal["types", "sums"] = "types"


class CountClassifier(AbstractClassifier):
    """Network on log(1 + counts of environments): a surrogate that is neither a GNN nor a tree.

    It reads hard graphs only and has no gradients with respect to them.

    Args:
        schema: Columns of the graphs.
        config: Environments that are counted, and the network on them.

    Example:
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> CountClassifier(graph.schema).eval()(graph).shape
        torch.Size([2, 2])
    """

    default: ClassVar[CountConfig] = CountConfig()
    has_gradients: ClassVar[bool] = False

    def __init__(self, schema: Schema, config: CountConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        widths = (config.bins, *config.hidden)
        layers = [nn.Dropout(config.blind)]
        for d, e in pairwise(widths):
            layers += [nn.Linear(d, e), nn.ReLU(), nn.Dropout(config.dropout)]
        self.network = nn.Sequential(*layers, QuietLinear(widths[-1], config.num_classes))

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        graph = saturated(graph) if self.config.bonds == "sums" else graph
        return wl_logs(graph, self.config.radius, self.config.bins)

    @torch.no_grad()
    def of_variations(self, variations: Variations) -> Float[Tensor, "b c"]:
        if self.training or self.schema.directed or self.config.bonds == "sums":
            return super().of_variations(variations)
        return self.head(wl_counts_of_variations(variations, self.config.radius, self.config.bins).log1p_())

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.network(embedding))
