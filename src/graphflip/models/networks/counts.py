"""CountClassifier: a small network, or logistic regression, on counts of environments; neither a GNN nor a tree."""

from itertools import pairwise
from typing import ClassVar

from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from ...graph import Graph
from ...nn.layers import QuietLinear
from ...schema import Schema
from .classifier import AbstractClassifier, Outputs
from .wl import wl_counts


class CountConfig(Outputs):
    """Which environments are counted, and the network on them: no `hidden` layer is logistic regression.

    `blind` is the share of counts that are hidden while training, `dropout` that of hidden units.
    """

    radius: int = Field(default=2, ge=0)
    bins: int = Field(default=2048, gt=0)
    hidden: tuple[int, ...] = Field(default=(64,), max_length=2)
    blind: float = Field(default=0.2, ge=0, lt=1)
    dropout: float = Field(default=0.5, ge=0, lt=1)


class CountClassifier(AbstractClassifier):
    """Network on log(1 + counts of environments): a surrogate for hard graphs, without gradients for them.

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

    def __init__(self, schema: Schema, config: CountConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        widths = (config.bins, *config.hidden)
        layers = [nn.Dropout(config.blind)]
        for d, e in pairwise(widths):
            layers += [nn.Linear(d, e), nn.ReLU(), nn.Dropout(config.dropout)]
        self.network = nn.Sequential(*layers, QuietLinear(widths[-1], config.num_classes))

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        return wl_counts(graph, self.config.radius, self.config.bins).log1p_()

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.network(embedding))
