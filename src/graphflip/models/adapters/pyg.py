"""PyGClassifier: an ordinary PyG graph classifier, unchanged, differentiable in relaxed graphs."""

from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ...errors import NotDifferentiable, require
from ...graph import Graph
from ...nn.variations import Variations
from ...schema import Schema
from ..networks.classifier import AbstractClassifier
from .arguments import module_arguments, weight_column
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
from .outputs import Place, ReturnType, as_logits, check_number_of_classes, check_scale, checked_return_type, taken
from .probe import Hints, fails_without_edges, recognize, single_precision, wide_sample
from .relaxed import Mixture, Mixtures, weighted_messages
from .sparse import Form, Reader, SparseBatch

_SMALL = 200  # slots up to which all pairs of nodes take part in a relaxed graph
_FAINT = 0.01  # an edge less likely than this is left out where a weight of 0 does not remove an edge


class PyGClassifier(AbstractClassifier):
    """Classifier around an ordinary PyG module, unchanged; its embedding is the logits.

    Hard graphs are given to the model as node and edge lists, so their logits are the model's own. In a relaxed graph
    the nodes with a probability of at least 1/2 take part, with mixed features and mixed embeddings, and each message
    is weighted by the probability of its edge. If a weight of 0 is as good as removing the edge, which is measured on
    the sample, all pairs of nodes take part (of a graph of more than 200 slots, those at most three edges apart), so
    that there are gradients for edges that are not there.

    What is not said of inputs and outputs is recognized by trying the model on graphs; `recognized` says as what.

    Args:
        model: Module whose `forward` takes `x` and `edge_index` by name, in any order, and mostly `batch`; one that
            does not is called graph by graph. It may also take `edge_attr`, `edge_weight` (the only continuous edge
            column, or 1) and `batch_size` or `num_graphs`; or one `data` instead of all these. It is copied, in eval
            mode, half precision as single precision.
        schema: Schema of the graphs.
        num_classes: Expected number of classes. Default: as many as the model returns.
        x: Form of the nodes: "columns" (as in V; existence if there are none), "ids" (integers, one for each group of
            categories) or "id" (one integer, flat). Default: recognized.
        edge_attr: Form of the edges, in the same words.
        return_type: Kind of the numbers returned: "raw" (logits), "log_probs", "probs", or "value" (regression).
            Default: recognized; a value must be said.
        output: Position or key of the logits, if the model returns several things. Default: recognized.
        sample: Graphs to try the model on; the first four are used, and more to recognize its outputs. Default: random
            graphs of the schema.

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
        x: Form | None = None,
        edge_attr: Form | None = None,
        return_type: ReturnType | None = None,
        output: Place = None,
        sample: Graph | None = None,
    ):
        super().__init__()
        self.schema, self.names = schema, module_arguments(model, schema)
        hints = Hints(x, edge_attr, output, None if return_type is None else checked_return_type(return_type))
        self.model = single_precision(copied(model))
        self.one_by_one = not {"batch", "data"} & {*self.names.values()}
        self.num_classes, self.needs_edges = num_classes or 2, False  # until the model has been heard
        given, sample = sample, sample_graphs(schema, sample, self.model)
        self.recognized = recognize(self._called_with, schema, wide_sample(schema, given, sample), hints)
        self.nodes = Reader(schema.nodes, self.recognized.x, "x")
        self.edges = Reader(schema.edges, self.recognized.edge_attr, "edge_attr")
        self.return_type: ReturnType = self.recognized.return_type
        self.output = self.recognized.output
        self.needs_edges = fails_without_edges(self._hard, sample)
        check_answers(self, sample)
        logits = self._hard(sample)[self._shown(sample).any(1)]
        check_number_of_classes(logits.shape[1], num_classes)
        check_scale(logits, self.return_type)
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

    @torch.no_grad()
    def of_variations(self, variations: Variations) -> Float[Tensor, "b c"]:
        """The same for hard graphs that are given as lists, which the model is shown as they are."""
        if self.one_by_one or self.needs_edges:
            return super().of_variations(variations)
        everything = variations.all
        V = everything.V if self.schema.dv else everything.V.new_ones(len(everything.V), 1)
        batch = SparseBatch(variations.owner, variations.owner, everything.ends, V, everything.E)
        nothing = V.new_zeros(0)
        empty = Graph.trusted(V.new_zeros(len(variations), 0), nothing, nothing, nothing, self.schema)
        return self._logits(empty, batch, self.nodes.read(batch.V), self.edges.read(batch.E))

    def head(self, embedding: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
        """Return the embedding, which is the logits already."""
        return embedding

    def _shown(self, graph: Graph) -> Bool[Tensor, "b n"]:
        """Nodes that the model sees; none of a graph without edges, if it cannot take such graphs."""
        here = graph.B > 0.5
        return here & graph.A.flatten(1).any(1)[:, None] if self.needs_edges else here

    def _called_with(self, graph: Graph, nodes: Reader, edges: Reader) -> Any:
        """Call the model on hard graphs with given readers."""
        if self.one_by_one:
            return torch.cat([_row(self._called_on(one, nodes, edges)) for one in graph])
        return self._called_on(graph, nodes, edges)

    def _called_on(self, graph: Graph, nodes: Reader, edges: Reader) -> Any:
        batch = SparseBatch.of(graph, graph.B > 0.5, graph.A > 0.5)
        return self._called(batch, nodes.read(batch.V), edges.read(batch.E))

    def _hard(self, graph: Graph) -> Float[Tensor, "b c"]:
        if self.one_by_one and len(graph) > 1:
            return torch.cat([self._hard(one) for one in graph])
        batch = SparseBatch.of(graph, self._shown(graph), graph.A > 0.5)
        return self._logits(graph, batch, self.nodes.read(batch.V), self.edges.read(batch.E))

    def _relaxed(self, graph: Graph, all_pairs: bool) -> Float[Tensor, "b c"]:
        if self.one_by_one and len(graph) > 1:
            return torch.cat([self._relaxed(one, all_pairs) for one in graph])
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
        if not batch.num_graphs or (self.needs_edges and not batch.edge_index.numel()):
            return graph.B.new_zeros(len(graph), self.num_classes)
        returned = taken(self._called(batch, x, edge_attr), self.output)
        returned = _row(returned) if self.one_by_one else returned
        return batch.spread(as_logits(returned, batch.num_graphs, self.return_type).to(graph.B), len(graph))

    def _called(self, batch: SparseBatch, x: Tensor, edge_attr: Tensor) -> Any:
        dtype = next((weight.dtype for weight in self.model.parameters() if weight.is_floating_point()), x.dtype)
        given: dict[str, Any] = {"x": x, "edge_index": batch.edge_index, "batch": batch.owner, "edge_attr": edge_attr}
        given["edge_weight"] = _edge_weight(batch, self.schema)
        given = {name: part.to(dtype) if part.is_floating_point() else part for name, part in given.items()}
        given["batch_size"] = batch.num_graphs
        if "data" in self.names.values():
            data = require("torch_geometric.data", "pyg", "PyG classifiers").Data(**given)
            data.num_graphs = batch.num_graphs
            return self.model(data)
        return self.model(**{name: given[what] for name, what in self.names.items()})

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


def _edge_weight(batch: SparseBatch, schema: Schema) -> Float[Tensor, " m"]:
    at = weight_column(schema.edges)
    return batch.V.new_ones(batch.edge_index.shape[1]) if at is None else batch.E[:, at]


def _row(returned: Any) -> Any:
    """The output for a single graph as a row."""
    return returned.reshape(1, -1) if isinstance(returned, Tensor) else returned


def _pairs(graph: Graph, here: Bool[Tensor, "b n"], all_pairs: bool) -> Bool[Tensor, "b n n"]:
    both = here[:, :, None] & here[:, None, :]
    if not all_pairs:
        return both & (graph.A > _FAINT)
    both &= ~torch.eye(here.shape[1], dtype=torch.bool, device=here.device)
    return both if here.shape[1] <= _SMALL else both & _near(graph.A)


@torch.no_grad()
def _near(A: Float[Tensor, "b n n"]) -> Bool[Tensor, "b n n"]:
    """Pairs of nodes that are at most three edges apart: all pairs of a large graph would be too many."""
    joined = ((A > _FAINT) | (A.transpose(1, 2) > _FAINT)).float()
    joined = joined + torch.eye(A.shape[1], device=A.device)
    return (joined @ (joined @ joined)) > 0


def _mixed(reader: Reader, rows: Float[Tensor, "m d"], mixtures: Mixtures) -> Tensor:
    """Relaxed rows in the form that a model reads: the columns, or integers that stand for mixtures."""
    if reader.form == "columns":
        return rows
    widths = [column.width for column in reader.columns]
    parts = zip(rows.split(widths, 1), reader.known_ids(), strict=True)
    return reader.shaped(mixtures.integers([Mixture(prob, ids) for prob, ids in parts]))
