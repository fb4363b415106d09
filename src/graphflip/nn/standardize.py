"""Continuous attributes as networks like them, around zero and of size one, and back in the units of the data."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ..graph import Graph
from ..schema import Column


def standardized(graph: Graph) -> Graph:
    """The graph with continuous columns less their mean and in units of their scale; what is not there stays zero."""
    schema = graph.schema
    V = to_standard(graph.V, graph.B[..., None], schema.nodes)
    E = to_standard(graph.E, graph.A[..., None], schema.edges)
    return graph if V is graph.V and E is graph.E else Graph.trusted(graph.B, V, graph.A, E, schema)


def to_standard(
    values: Float[Tensor, "*b d"], exists: Float[Tensor, "*b 1"], columns: Sequence[Column]
) -> Float[Tensor, "*b d"]:
    """Attributes of what exists, or exists with a probability, with continuous ones less their mean, by scale."""
    if not _any_continuous(columns):
        return values
    mean, scale = _units(columns, values)
    return (values - mean * exists) / scale


def from_standard(values: Float[Tensor, "*b d"], columns: Sequence[Column]) -> Float[Tensor, "*b d"]:
    """What a network says of attributes, with continuous ones in the units of the data."""
    if not _any_continuous(columns):
        return values
    mean, scale = _units(columns, values)
    return mean + scale * values


def _any_continuous(columns: Sequence[Column]) -> bool:
    return any(column.is_continuous for column in columns)


def _units(columns: Sequence[Column], like: Tensor) -> tuple[Float[Tensor, " d"], Float[Tensor, " d"]]:
    """Mean and scale of every column; 0 and 1 for categories."""
    means = [column.mean for column in columns for _ in range(column.width)]
    scales = [column.scale for column in columns for _ in range(column.width)]
    return like.new_tensor(means), like.new_tensor(scales)
