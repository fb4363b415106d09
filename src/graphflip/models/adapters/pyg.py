"""PyGClassifier: an ordinary PyG graph classifier, unchanged, differentiable in relaxed graphs."""

import inspect
from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ...errors import ClassifierError, NotDifferentiable, require
from ...graph import Graph
from ...schema import Column, Schema
from ..networks.classifier import AbstractClassifier
from .checks import (
    check_answers,
    check_edges_matter,
    check_gradients,
    copied,
    gradients_at,
    relaxed,
    same,
    sample_graphs,
    without_edges,
)
from .outputs import ReturnType, as_logits, check_number_of_classes, check_scale, checked_return_type
from .relaxed import Mixture, Mixtures, weighted_messages
from .sparse import Form, Reader, SparseBatch

_OPTIONAL = ("edge_attr", "edge_weight", "batch_size")
_FAINT = 0.01  # an edge less likely than this is left out where a weight of 0 does not remove an edge


class PyGClassifier(AbstractClassifier):
    """Classifier around an ordinary PyG module, unchanged; its embedding is the logits.

    Hard graphs are given to the model as node and edge lists, so their logits are the model's own. In a relaxed graph
    the nodes with a probability of at least 1/2 take part, with mixed features and mixed embeddings, and each message
    is weighted by the probability of its edge. If a weight of 0 is as good as removing the edge, which is measured on
    the sample, all pairs of nodes take part, so that there are gradients for edges that are not there.

    Args:
        model: Module whose `forward` takes `x`, `edge_index` and `batch` by name, in any order. It may also take
            `edge_attr`, `edge_weight` (the only continuous edge column, or 1) and `batch_size`; or one `data` instead
            of all these. It is copied, in eval mode.
        schema: Schema of the graphs.
        num_classes: Expected number of classes. Default: as many as the model returns.
        x: Form of the nodes: "columns" (as in V; existence if there are none), "ids" (integers, one for each group of
            categories) or "id" (one integer, flat).
        edge_attr: Form of the edges, in the same words.
        return_type: Kind of the numbers returned: "raw" (logits), "log_probs", "probs", or "value" (regression).
        sample: Graphs to try the model on; the first four are used. Default: random graphs of the schema.

    Raises:
        ClassifierError: The model breaks a rule; each rule has its own kind, such as `IgnoresEdges`.
        ConfigError: A form does not fit the schema, or a word is unknown.

    Example:
        >>> import torch
        >>> from torch_geometric.nn import GINConv, global_add_pool
        >>> from graphflip import Categories, Graph, Schema
        >>> class Net(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.layer, self.out = GINConv(torch.nn.Linear(2, 8)), torch.nn.Linear(8, 2)
        ...     def forward(self, x, edge_index, batch):
        ...         return self.out(global_add_pool(self.layer(x, edge_index).tanh(), batch))
        >>> schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=4)
        >>> classifier = PyGClassifier(Net(), schema)
        >>> classifier(Graph.build(schema, [{"type": "a"}, {"type": "b"}], [(0, 1, {})])).shape
        torch.Size([1, 2])
    """

    def __init__(
        self,
        model: nn.Module,
        schema: Schema,
        num_classes: int | None = None,
        *,
        x: Form = "columns",
        edge_attr: Form = "columns",
        return_type: ReturnType = "raw",
        sample: Graph | None = None,
    ):
        super().__init__()
        self.schema = schema
        self.return_type: ReturnType = checked_return_type(return_type)
        self.nodes, self.edges = Reader(schema.nodes, x, "x"), Reader(schema.edges, edge_attr, "edge_attr")
        self.names = _arguments(model, schema)
        self.model = copied(model)
        self.num_classes = num_classes or 2  # until the model has been heard
        sample = sample_graphs(schema, sample, self.model)
        check_answers(self, sample)
        logits = self._hard(sample)[sample.B.any(1)]
        check_number_of_classes(logits.shape[1], num_classes)
        check_scale(logits, return_type)
        self.num_classes = logits.shape[1]
        check_edges_matter(self, sample)
        self.removes_edges = self._measure(sample)
        check_gradients(self, sample)

    def embed(self, graph: Graph) -> Float[Tensor, "b c"]:
        """Call the model: logits, or values; differentiable in relaxed graphs."""
        wants_gradient = torch.is_grad_enabled() and any(getattr(graph, part).requires_grad for part in "BVAE")
        if graph.is_hard and not wants_gradient:
            return self._hard(graph)
        return self._relaxed(graph, self.removes_edges)

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        """Return the embedding, which is the logits already."""
        return embedding

    def _hard(self, graph: Graph) -> Float[Tensor, "b c"]:
        batch = SparseBatch.of(graph, graph.B > 0.5, graph.A > 0.5)
        return self._logits(graph, batch, self.nodes.read(batch.V), self.edges.read(batch.E))

    def _relaxed(self, graph: Graph, all_pairs: bool) -> Float[Tensor, "b c"]:
        here = graph.B >= 0.5
        batch = SparseBatch.of(graph, here, _pairs(graph, here, all_pairs))

        def weigh(edges: Int[Tensor, "2 m"]) -> Float[Tensor, " m"]:
            source, to = edges
            weight = graph.A[batch.index[source], batch.slot[source], batch.slot[to]]
            return torch.where(source == to, 1.0, weight)  # layers that add self loops mean them to be there

        mixtures = Mixtures()
        x = _mixed(self.nodes, batch.V, mixtures)
        edge_attr = _mixed(self.edges, batch.E, mixtures)
        with ExitStack() as stack:
            stack.enter_context(weighted_messages(self.model, weigh))
            stack.enter_context(mixtures.embedded(self.model))
            return self._logits(graph, batch, x, edge_attr)

    def _logits(self, graph: Graph, batch: SparseBatch, x: Tensor, edge_attr: Tensor) -> Float[Tensor, "b c"]:
        if not batch.num_graphs:
            return graph.B.new_zeros(len(graph), self.num_classes)
        given: dict[str, Any] = {"x": x, "edge_index": batch.edge_index, "batch": batch.owner, "edge_attr": edge_attr}
        given |= {"edge_weight": _edge_weight(batch, graph.schema), "batch_size": batch.num_graphs}
        if self.names == ("data",):
            returned = self.model(require("torch_geometric.data", "pyg", "PyG classifiers").Data(**given))
        else:
            returned = self.model(**{name: given[name] for name in self.names})
        return batch.spread(as_logits(returned, batch.num_graphs, self.return_type), len(graph))

    def _measure(self, sample: Graph) -> bool:
        """True if weight 0 is as good as no edge, gradients included; raises if weight 1 changes an answer."""
        with torch.no_grad():
            expected = self._hard(sample)
            if not same(self._relaxed(sample, all_pairs=False), expected):
                raise NotDifferentiable(
                    "Weighting every message by 1 must not change a model's answer; it does. Models that drop nodes on "
                    "the way (pooling layers) or use ids otherwise than in nn.Embedding cannot be relaxed: wrap this "
                    "one with `BlackBox`, which needs no gradients."
                )
            if not same(self._relaxed(sample, all_pairs=True), expected):
                return False
        hardest = Graph.cat([relaxed(sample), without_edges(sample)])  # roots of a degree that is zero
        gradients = gradients_at(lambda graph: self._relaxed(graph, all_pairs=True), hardest)
        return all(bool(gradient.isfinite().all()) for gradient in gradients.values())


def _arguments(model: nn.Module, schema: Schema) -> tuple[str, ...]:
    """Names of the arguments that the model will be given."""
    if not isinstance(model, nn.Module):
        raise ClassifierError(f"A PyG classifier must be a torch.nn.Module; got {type(model).__name__}.")
    parameters = inspect.signature(model.forward).parameters
    needed = [name for name, p in parameters.items() if p.default is p.empty and p.kind not in _STARRED]
    if needed == ["data"]:
        return ("data",)
    unknown = [name for name in needed if name not in ("x", "edge_index", "batch", *_OPTIONAL)]
    missing = [name for name in ("x", "edge_index", "batch") if name not in parameters]
    if unknown or missing:
        raise ClassifierError(
            "A PyG classifier's forward must take x, edge_index and batch, and may take edge_attr, edge_weight and "
            f"batch_size, or one `data`; this one takes {', '.join(parameters)}. Write a module around it that does."
        )
    if "edge_attr" in needed and not schema.de:
        raise ClassifierError(
            "The model takes `edge_attr`, but the schema has no edge columns. Use a schema that has them."
        )
    skipped = {"edge_attr"} if not schema.de else set()
    if "edge_weight" not in needed and _weight_column(schema.edges) is None:
        skipped.add("edge_weight")  # the model's own default
    return tuple(name for name in ("x", "edge_index", "batch", *_OPTIONAL) if name in {*parameters} - skipped)


_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _weight_column(columns: tuple[Column, ...]) -> int | None:
    """Position in E of the continuous column, if there is exactly one."""
    continuous = [column for column in columns if column.is_continuous]
    if len(continuous) != 1:
        return None
    return sum(column.width for column in columns[: columns.index(continuous[0])])


def _edge_weight(batch: SparseBatch, schema: Schema) -> Float[Tensor, " m"]:
    at = _weight_column(schema.edges)
    return batch.V.new_ones(batch.edge_index.shape[1]) if at is None else batch.E[:, at]


def _pairs(graph: Graph, here: Bool[Tensor, "b n"], all_pairs: bool) -> Bool[Tensor, "b n n"]:
    both = here[:, :, None] & here[:, None, :]
    if not all_pairs:
        return both & (graph.A > _FAINT)
    return both & ~torch.eye(here.shape[1], dtype=torch.bool, device=here.device)


def _mixed(reader: Reader, rows: Float[Tensor, "m d"], mixtures: Mixtures) -> Tensor:
    """Relaxed rows in the form that a model reads: the columns, or integers that stand for mixtures."""
    if reader.form == "columns":
        return rows
    widths = [column.width for column in reader.columns]
    parts = zip(rows.split(widths, 1), reader.known_ids(), strict=True)
    return reader.shaped(mixtures.integers([Mixture(prob, ids) for prob, ids in parts]))
