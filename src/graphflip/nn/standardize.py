"""Continuous attributes as networks like them: around zero, of size one."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ..graph import Graph
from ..schema import Column, Continuous


def standardized(graph: Graph) -> Graph:
    """The graph with continuous columns less their mean and in units of their scale; what is not there stays zero."""
    schema = graph.schema
    if not any(isinstance(column, Continuous) for column in (*schema.nodes, *schema.edges)):
        return graph
    V = _scaled(graph.V, graph.B[..., None], schema.nodes)
    E = _scaled(graph.E, graph.A[..., None], schema.edges)
    return Graph.trusted(graph.B, V, graph.A, E, schema)


def _scaled(values: Float[Tensor, "*b d"], exists: Float[Tensor, "*b 1"], columns: Sequence[Column]) -> Tensor:
    means: list[float] = []
    scales: list[float] = []
    for column in columns:
        is_number = isinstance(column, Continuous)
        means += [column.mean] if is_number else [0.0] * column.width
        scales += [column.scale] if is_number else [1.0] * column.width
    return (values - values.new_tensor(means) * exists) / values.new_tensor(scales)
