"""Graph classifiers: the interface, the paper's invariant network, and two stronger ones of other families."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal, cast

import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from ...graph import Graph
from ...nn.layers import EquivariantBlock, InvariantReadout, QuietLinear, append_edges
from ...nn.messages import AttentionLayer, RelationalLayer, num_relations, relations
from ...nn.pooling import pooled_nodes
from ...nn.rippling import dense_answers, relational_pools
from ...nn.saturation import saturated, saturated_schema
from ...nn.standardize import standardized
from ...nn.variations import Variations
from ...schema import Schema


class AbstractClassifier(nn.Module, ABC):
    """Interface of a model to explain: class logits for a batch of graphs, whatever the order of their nodes.

    C(G) in the paper. Graphs may be hard or relaxed. A model with one output predicts a value instead. A model
    implements `embed` and `head`, and has the `schema` of its graphs; `graphflip.models.adapters` wraps models of PyG
    and plain functions.

    Example:
        A classifier that looks at the number of nodes alone:

        >>> class Size(AbstractClassifier):
        ...     schema = Schema(max_nodes=9)
        ...     def embed(self, graph):
        ...         return graph.B.sum(1, keepdim=True)
        ...     def head(self, embedding):
        ...         return torch.cat([4 - embedding, embedding - 4], -1)
        >>> Size()(Graph.build(Size.schema, [{}, {}, {}], []))
        tensor([[ 1., -1.]])
    """

    schema: Schema
    has_gradients: ClassVar[bool] = True
    """False for models that only read hard graphs, and have no gradients with respect to them."""

    @abstractmethod
    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        """Compute the graph embedding, the input of the last layers."""

    @abstractmethod
    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        """Compute class logits, or one value, from an embedding."""

    def forward(self, graph: Graph) -> Float[Tensor, "b c"]:
        return self.head(self.embed(graph))

    @torch.no_grad()
    def of_variations(self, variations: Variations) -> Float[Tensor, "b c"]:
        """The same for hard graphs that differ from one in a few places; a model that reads lists need not make them
        dense."""
        return dense_answers(self, variations)


@torch.no_grad()
def num_outputs(classifier: AbstractClassifier) -> int:
    """Number of classes; 1 for a model that predicts a value."""
    return classifier(Graph.build(classifier.schema, [], []).pad(1)).shape[1]


class Outputs(BaseModel):
    """Outputs of a model: logits of `num_classes` classes, or with one class a value.

    A value is `center` plus the last layer's output times `spread`: mean and standard deviation of the training labels.
    Logits are the last layer's output divided by `temperature`, which calibrates probabilities; 1 changes nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    num_classes: int = Field(default=2, gt=0, le=10_000)
    center: FiniteFloat = 0.0
    spread: FiniteFloat = Field(default=1.0, gt=0)
    temperature: FiniteFloat = Field(default=1.0, gt=0)

    def scaled(self, outputs: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        """Convert outputs of the last layer to calibrated logits, or to the units of the labels."""
        if self.num_classes == 1:
            return self.center + self.spread * outputs
        return outputs if self.temperature == 1 else outputs / self.temperature


class ClassifierConfig(Outputs):
    """Sizes of a classifier.

    Args:
        num_classes: Number of classes; 1 for a model that predicts a value.
        center: Mean of the labels, for values.
        spread: Standard deviation of the labels, for values.
        temperature: Number by which logits are divided, for classes.
        width: Channels.
        depth: Layers.
        hidden: Width of the last hidden layer.
        dropout: Share of units dropped while training.
        inner_dropout: Share of units dropped inside each layer of messages while training, where the model has such.
        leak: Slope of the last hidden layer below zero.
        bonds: "types" shows the attributes of each edge to the model; "sums" shows their sums at each node instead, so
            that the answer does not depend on which bonds of an aromatic ring are written as double, see `saturated`.
    """

    width: int = Field(default=64, gt=0, le=2**16)
    depth: int = Field(default=4, gt=0, le=1000)
    hidden: int = Field(default=128, gt=0, le=2**16)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    inner_dropout: float = Field(default=0.0, ge=0, lt=1)
    leak: float = Field(default=0.0, ge=0, lt=1)
    bonds: Literal["types", "sums"] = "types"


class InvariantClassifier(AbstractClassifier):
    """The paper's classifier (appendix A.1): four equivariant modules, max-pooling, one hidden layer.

    The first module sees B and V only; its pair features are appended to A and E.

    Args:
        schema: Columns of the graphs.
        config: Sizes, and the number of outputs.

    Example:
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> InvariantClassifier(graph.schema).eval()(graph).shape
        torch.Size([2, 2])
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=20, depth=4, hidden=200)

    def __init__(self, schema: Schema, config: ClassifierConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        d, directed = config.width, schema.directed
        inner = [EquivariantBlock(2, 2, d, d, directed) for _ in range(config.depth - 3)]
        self.lift = EquivariantBlock(1, 2, 1 + schema.dv, d, directed)
        self.pairs = nn.ModuleList([EquivariantBlock(2, 2, d + 1 + schema.de, d, directed), *inner])
        self.lower = EquivariantBlock(2, 1, d, d, directed)
        self.pool = InvariantReadout()
        self.hidden, self.out = nn.Linear(d, config.hidden), QuietLinear(config.hidden, config.num_classes)

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        graph = standardized(graph if graph.num_slots else graph.pad(1))
        pack = not self.schema.directed
        X = self.lift(torch.cat([graph.B[..., None], graph.V], -1), graph.B, pack)
        X = append_edges(X, graph.A, graph.E, pack)
        for block in self.pairs:
            X = block(X, graph.B, pack)
        return self.pool(self.lower(X, graph.B, pack), graph.B)

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.out(self.hidden(embedding).relu()))


class _MessageClassifier(AbstractClassifier):
    """Embed nodes, pass messages, pool every depth (sum, mean, maximum), classify."""

    default: ClassVar[ClassifierConfig]

    def __init__(self, schema: Schema, config: ClassifierConfig | None = None):
        super().__init__()
        self.schema, self.config = schema, config or self.default
        config, seen = self.config, saturated_schema(schema) if self.config.bonds == "sums" else schema
        kinds = num_relations(seen.de, seen.directed)
        self.enter = nn.Linear(1 + seen.dv, config.width)
        self.join = nn.Linear(3 * config.width * (config.depth + 1), config.hidden)
        self.out = QuietLinear(config.hidden, config.num_classes)
        self.drop = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList([self._layer(config.width, kinds) for _ in range(config.depth)])

    @abstractmethod
    def _layer(self, width: int, kinds: int) -> nn.Module:
        """Make one layer of messages over this many kinds of edges."""

    def embed(self, graph: Graph) -> Float[Tensor, "b h"]:
        graph = standardized(graph if graph.num_slots else graph.pad(1))  # a maximum is of something
        graph = saturated(graph) if self.config.bonds == "sums" else graph
        pooled = pooled_nodes(self._states(graph), graph.B.sum(1, keepdim=True).clamp(min=1), self.training)
        return leaky_relu(self.join(self.drop(pooled)), self.config.leak)

    def _states(self, graph: Graph) -> Iterator[Float[Tensor, "b n d"]]:
        """Features of each node at the start and after each layer, weighed by its existence."""
        return self._each_node(graph)

    def _each_node(self, graph: Graph) -> Iterator[Float[Tensor, "b n d"]]:
        B, R = graph.B, relations(graph)
        exists = B[..., None]
        again = torch.is_grad_enabled() or bool((B * B != B).any())  # features of hard graphs are weighed already
        h = self.enter(torch.cat([exists, graph.V], -1)) * exists
        yield h * exists if again else h
        for layer in self.layers:
            h = layer(h, R, B)
            yield h * exists if again else h

    def head(self, embedding: Float[Tensor, "b h"]) -> Float[Tensor, "b c"]:
        return self.config.scaled(self.out(self.drop(embedding)))


class _RelationalClassifier(_MessageClassifier):
    """Messages with one weight per kind of edge.

    For many hard graphs without gradients, such as the candidates of a search, which differ in a few places, nodes of
    one color (that look alike as far as messages have come) are computed once.
    """

    @torch.no_grad()
    def of_variations(self, variations: Variations) -> Float[Tensor, "b c"]:
        if self.training or self.schema.directed or self.config.bonds == "sums":
            return super().of_variations(variations)
        pooled = torch.cat(list(relational_pools(self.enter, self.layers, variations)), -1)
        return self.head(leaky_relu(self.join(pooled), self.config.leak))

    def _states(self, graph: Graph) -> Iterator[Float[Tensor, "b n d"]]:
        slots = len(graph) * graph.num_slots
        many = len(graph) > 1 and slots >= _MANY and not (self.training or torch.is_grad_enabled())
        return self._each_color(graph) if many and graph.refinement.is_exact else self._each_node(graph)

    def _each_color(self, graph: Graph) -> Iterator[Float[Tensor, "b n d"]]:
        refinement = graph.refinement
        kinds = refinement.edges[refinement.kinds.first]
        h = self.enter(refinement.nodes[refinement.alike(0).first])
        yield refinement.spread(h, 0)
        for rounds, layer in enumerate(cast(Iterable[RelationalLayer], self.layers), 1):
            h = layer.of_colors(h, kinds, refinement.links(rounds))
            yield refinement.spread(h, rounds)


class RelationalGIN(_RelationalClassifier):
    """Graph isomorphism network with one weight per kind of edge: the default classifier.

    Args:
        schema: Columns of the graphs.
        config: Sizes, and the number of outputs.

    Example:
        >>> from graphflip import Graph, Schema
        >>> path = Graph.build(Schema(max_nodes=3), [{}, {}, {}], [(0, 1, {}), (1, 2, {})])
        >>> RelationalGIN(path.schema).eval()(path).shape
        torch.Size([1, 2])
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=64, depth=4, hidden=128, dropout=0.3)

    def _layer(self, width: int, kinds: int) -> nn.Module:
        return RelationalLayer(width, kinds, dropout=self.config.inner_dropout)


class AveragingClassifier(_RelationalClassifier):
    """Message passing with averages where `RelationalGIN` has sums: a surrogate.

    Args:
        schema: Columns of the graphs.
        config: Sizes, and the number of outputs; by default a smaller network than the classifier's.

    Example:
        >>> from graphflip import Schema
        >>> sum(weights.numel() for weights in AveragingClassifier(Schema(max_nodes=4)).parameters())
        97922
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=48, depth=4, hidden=96, dropout=0.3)

    def _layer(self, width: int, kinds: int) -> nn.Module:
        return RelationalLayer(width, kinds, average=True, dropout=self.config.inner_dropout)


class AttentionClassifier(_MessageClassifier):
    """Attention over neighbors, another family than sums of messages: the GNN judge.

    Args:
        schema: Columns of the graphs; those of the model that is to be judged.
        config: Sizes, and the number of outputs.

    Example:
        >>> from graphflip.testing import random_graph
        >>> judge = AttentionClassifier(random_graph(n=3, seed=1).schema).eval()
        >>> judge(random_graph(n=3, num_graphs=1, seed=1)).shape
        torch.Size([1, 2])
    """

    default: ClassVar[ClassifierConfig] = ClassifierConfig(width=64, depth=4, hidden=128, dropout=0.3)

    def _layer(self, width: int, kinds: int) -> nn.Module:
        return AttentionLayer(width, 4, kinds)


# From this many slots of several graphs on, finding nodes that look alike costs less than it saves.
_MANY = 480
