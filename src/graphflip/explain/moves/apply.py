"""Differences applied to a graph: the tensors of many candidates at once."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...graph import Graph
from ...schema import Column
from .attributes import Attributes
from .difference import Difference


def apply_differences(graph: Graph, differences: Sequence[Difference]) -> Graph:
    """The batch of graphs that differ from one hard graph as given; slots are added where new nodes need them."""
    last = [max(difference.touched, default=0) for difference in differences]
    graph = graph.pad(max(graph.num_slots, max(last, default=0) + 1))
    B, V, A, E = (
        tensor.expand(len(differences), *tensor.shape[1:]).clone() for tensor in (graph.B, graph.V, graph.A, graph.E)
    )
    nodes = [(c, i, change.after) for c, each in enumerate(differences) for i, change in each.nodes.items()]
    edges = [(c, i, j, change.after) for c, each in enumerate(differences) for (i, j), change in each.edges.items()]
    if nodes:
        c, i = torch.tensor([where[:-1] for where in nodes]).T
        V[c, i], B[c, i] = _rows([after for *_, after in nodes], graph.schema.nodes, graph.V)
    if edges:
        c, i, j = torch.tensor([where[:-1] for where in edges]).T
        E[c, i, j], A[c, i, j] = _rows([after for *_, after in edges], graph.schema.edges, graph.E)
        if not graph.schema.directed:
            E[c, j, i], A[c, j, i] = E[c, i, j], A[c, i, j]
    return Graph.trusted(B, V, A, E, graph.schema)


def _rows(cells: list[Attributes | None], columns: tuple[Column, ...], like: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of V or E for some attributes, and 1 for each that exists, 0 for None."""
    known = {attributes: _row(attributes, columns) for attributes in set(cells)}
    rows = like.new_tensor([known[attributes] for attributes in cells]).reshape(len(cells), like.shape[-1])
    return rows, like.new_tensor([float(attributes is not None) for attributes in cells])


def _row(attributes: Attributes | None, columns: tuple[Column, ...]) -> list[float]:
    if attributes is None:
        return [0.0] * sum(column.width for column in columns)
    return [number for column, value in zip(columns, attributes, strict=True) for number in column.encode(value)]
