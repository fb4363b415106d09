"""NetworkX graphs to GraphDataset and back."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..errors import DataError, SchemaError, require
from ..graph import Graph
from ..schema import Categories, Column, Continuous, Schema
from .dataset import GraphDataset
from .ragged import pointers


def from_networkx(
    graphs: Sequence[Any],
    labels: Sequence[str] | Sequence[int] | Sequence[float] | None = None,
    schema: Schema | None = None,
    name: str = "networkx",
    classes: Sequence[str] = (),
    seed: int = 0,
) -> GraphDataset:
    """Convert NetworkX graphs to a dataset, split 80/10/10.

    Args:
        graphs: `nx.Graph`s, or `nx.DiGraph`s, whose edges have a direction. Every node must have the same attributes,
            and every edge. `graph.graph["id"]`, if it is there, names the graph.
        labels: One label for each graph. Numbers that are not all whole are regression targets, anything else names
            classes. Default: `graph.graph["label"]`.
        schema: Columns to read, say those of a model. Default: read off the attributes; numbers that are not all whole
            are continuous columns, anything else names categories.
        name: Name of the dataset.
        classes: Names of the classes in their order. Default: sorted.
        seed: Decides the split.

    Returns:
        The dataset, nodes in the order of each NetworkX graph.

    Raises:
        DataError: The list is empty, or a graph is a multigraph, is empty, has self loops, lacks a label or an
            attribute; the message names it.

    Example:
        >>> import networkx as nx
        >>> dataset = from_networkx([nx.path_graph(4), nx.cycle_graph(4)], labels=["path", "ring"])
        >>> dataset
        GraphDataset(networkx: 2 graphs of up to 4 nodes, 2 classes)
        >>> dataset.classes, dataset.labels
        (('path', 'ring'), tensor([0, 1]))
    """
    graphs = list(graphs)
    if not graphs:
        raise DataError(f"{name}: a dataset must have at least one graph; got an empty list.")
    for k, graph in enumerate(graphs):
        _check(name, k, graph, graphs[0].is_directed())
    node_rows = [[values for _, values in graph.nodes(data=True)] for graph in graphs]
    edge_rows = [[values for _, _, values in graph.edges(data=True)] for graph in graphs]
    directed = graphs[0].is_directed()
    if schema is not None and schema.directed != directed:
        raise DataError(f"{name}: graphs must be {'DiGraph' if schema.directed else 'Graph'}, as the schema says.")
    columns = schema or Schema(
        nodes=_infer(node_rows), edges=_infer(edge_rows), max_nodes=max(map(len, graphs)), directed=directed
    )
    pairs = [_pairs(graph) for graph in graphs]
    targets, classes = _labels(name, graphs, labels, classes)
    dataset = GraphDataset(
        name=name,
        schema=columns,
        node_ptr=pointers(_lengths(node_rows)),
        V=_encode(name, "node", columns.nodes, node_rows),
        edge_ptr=pointers(_lengths(edge_rows)),
        edges=torch.cat(pairs),
        E=_encode(name, "edge", columns.edges, edge_rows),
        labels=targets,
        classes=classes,
        ids=_ids(name, graphs),
    )
    dataset = dataset.split_randomly(seed)
    return dataset if schema else dataset.with_scales()


def to_networkx(graphs: GraphDataset | Graph) -> list[Any]:
    """Convert graphs to NetworkX, with attributes by the names of the schema's columns.

    Args:
        graphs: Hard graphs, or a dataset.

    Returns:
        One `nx.Graph` for each graph, or `nx.DiGraph` if the schema is directed. Those of a dataset have "label" and
        "id" in `graph.graph`.

    Raises:
        MissingExtra: NetworkX is not installed.

    Example:
        >>> from graphflip import Graph, Schema
        >>> (path,) = to_networkx(Graph.build(Schema(max_nodes=4), [{}, {}, {}], [(0, 1, {}), (1, 2, {})]))
        >>> list(path.edges)
        [(0, 1), (1, 2)]
    """
    nx = require("networkx", "nx", "Converting to NetworkX")
    converted = []
    for k in range(len(graphs)):
        is_dataset = isinstance(graphs, GraphDataset)
        graph = graphs.graphs(k) if is_dataset else graphs.select(k).trim()
        made = nx.DiGraph() if graph.schema.directed else nx.Graph()
        made.add_nodes_from((i, node) for i, node in enumerate(graph.nodes()) if node is not None)
        made.add_edges_from(graph.edges())
        if is_dataset:
            label = graphs.labels[k].item()
            made.graph |= {"label": graphs.classes[int(label)] if graphs.classes else label, "id": graphs.ids[k]}
        converted.append(made)
    return converted


def _check(name: str, k: int, graph: Any, directed: bool) -> None:
    if not hasattr(graph, "is_multigraph"):
        raise DataError(f"{name}: element {k} must be a NetworkX graph; got {type(graph).__name__}.")
    if graph.is_multigraph():
        raise DataError(
            f"{name}: graph {k} must have one edge per pair; got a multigraph. Convert it with nx.Graph(g)."
        )
    if graph.is_directed() != directed:
        raise DataError(f"{name}: graphs must be all directed or all undirected; graph {k} differs from graph 0.")
    if not len(graph):
        raise DataError(f"{name}: graph {k} must have at least one node; it is empty. Leave it out.")
    loop = next((i for i in graph if graph.has_edge(i, i)), None)
    if loop is not None:
        raise DataError(f"{name}: graph {k} must not have self loops; node {loop!r} has one. Remove it.")


def _infer(rows: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[Column, ...]:
    first = next((row for graph in rows for row in graph), {})
    columns: list[Column] = []
    for attribute in first:
        values = {row.get(attribute) for graph in rows for row in graph} - {None}
        if _is_real(values):
            columns.append(Continuous(name=attribute))
        else:
            columns.append(Categories(name=attribute, values=_sorted_texts(values)))
    return tuple(columns)


def _is_real(values: Collection[Any]) -> bool:
    """True if all values are numbers, and not all of them whole."""
    numbers = all(isinstance(value, Real) for value in values)
    return numbers and not all(isinstance(value, Integral) for value in values)


def _sorted_texts(values: set[Any]) -> tuple[str, ...]:
    """Texts of the values, numbers sorted by size, anything else by its text."""
    by_size = all(isinstance(value, Integral) for value in values)
    return tuple(str(value) for value in (sorted(values) if by_size else sorted(values, key=str)))


def _encode(
    name: str, kind: str, columns: tuple[Column, ...], rows: Sequence[Sequence[Mapping[str, Any]]]
) -> Float[Tensor, "rows d"]:
    names = {column.name for column in columns}
    for k, graph in enumerate(rows):
        for i, row in enumerate(graph):
            if set(row) != names:
                raise DataError(
                    f"{name}: graph {k}, {kind} {i}: attributes must be {sorted(names)}; got {sorted(row)}. "
                    f"Give every {kind} the same attributes."
                )
    flat = [(k, row) for k, graph in enumerate(rows) for row in graph]
    blocks = [_encode_column(name, kind, column, flat) for column in columns]
    return torch.cat([torch.empty(len(flat), 0), *blocks], 1)


def _encode_column(
    name: str, kind: str, column: Column, rows: Sequence[tuple[int, Mapping[str, Any]]]
) -> Float[Tensor, "rows d"]:
    encoded = []
    for k, row in rows:
        try:
            encoded.append(column.encode(row[column.name]))
        except (SchemaError, TypeError, ValueError) as error:
            raise DataError(f"{name}: graph {k}, {kind} attribute `{column.name}`: {error}") from error
    return torch.tensor(encoded, dtype=torch.float32).reshape(-1, column.width)


def _pairs(graph: Any) -> Int[Tensor, "m 2"]:
    number = {node: k for k, node in enumerate(graph)}
    pairs = [(number[i], number[j]) for i, j in graph.edges()]
    if not graph.is_directed():
        pairs = [(min(pair), max(pair)) for pair in pairs]
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)


def _labels(
    name: str, graphs: Sequence[Any], labels: Sequence[Any] | None, classes: Sequence[str]
) -> tuple[Tensor, tuple[str, ...]]:
    if labels is None:
        lacking = next((k for k, graph in enumerate(graphs) if "label" not in graph.graph), None)
        if lacking is not None:
            raise DataError(f'{name}: graph {lacking} must have a label. Give `labels`, or set graph.graph["label"].')
        labels = [graph.graph["label"] for graph in graphs]
    if _is_real(labels):
        return torch.tensor(labels, dtype=torch.float32), ()
    names: Sequence[Hashable] = tuple(classes) or _sorted_texts(set(labels))
    unknown = next((k for k, label in enumerate(labels) if str(label) not in names), None)
    if unknown is not None:
        raise DataError(f"{name}: graph {unknown}: the label must be one of {list(names)}; got {labels[unknown]!r}.")
    return torch.tensor([names.index(str(label)) for label in labels]), tuple(map(str, names))


def _ids(name: str, graphs: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(graph.graph.get("id", f"{name}/{k}")) for k, graph in enumerate(graphs))


def _lengths(rows: Sequence[Sequence[Any]]) -> Int[Tensor, " g"]:
    return torch.tensor([len(graph) for graph in rows])
