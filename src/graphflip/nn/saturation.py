"""Saturation: graphs in which atoms know their bonds by kind, and edges say only that atoms are joined.

A benzene ring can be written with its double bonds in two ways, and a model that sees them could answer differently.
Each atom has the same number of single, double and triple bonds in all such forms, and these numbers together with the
joined pairs determine the bonds up to the choice of form. So a model that sees these alone loses nothing, and its
answer cannot depend on the form.
"""

import torch

from ..graph import Graph
from ..schema import Categories, Schema
from .sharing import shared


def saturated(graph: Graph) -> Graph:
    """Sum the edge attributes at each node into new node columns, and drop them from the edges.

    Args:
        graph: Hard or relaxed graphs; the sums are differentiable.

    Returns:
        Graphs of `saturated_schema`. Without gradients the result is kept, so that several models share it.
    """
    return shared(graph, "saturated", _summed)


def saturated_schema(schema: Schema) -> Schema:
    """Schema of `saturated` graphs: a node column with the number of edges of each kind, and no edge attributes."""
    sums = Categories(name="edges by kind", values=tuple(f"{k}" for k in range(schema.de)))
    return Schema(nodes=(*schema.nodes, sums), max_nodes=schema.max_nodes, directed=schema.directed)


def _summed(graph: Graph) -> Graph:
    V = torch.cat([graph.V, graph.E.sum(2)], -1)
    return Graph.trusted(graph.B, V, graph.A, graph.E[..., :0], saturated_schema(graph.schema))
