"""Standardize continuous attributes to mean 0 and scale 1 for networks, and convert them back."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ..graph import Graph
from ..schema import Column


def standardized(graph: Graph) -> Graph:
    """Standardize the continuous columns of a graph; attributes of absent nodes and edges stay zero."""
    schema = graph.schema
    V = to_standard(graph.V, graph.B[..., None], schema.nodes)
    E = to_standard(graph.E, graph.A[..., None], schema.edges)
    return graph if V is graph.V and E is graph.E else Graph.trusted(graph.B, V, graph.A, E, schema)


def to_standard(
    values: Float[Tensor, "*b d"], exists: Float[Tensor, "*b 1"], columns: Sequence[Column]
) -> Float[Tensor, "*b d"]:
    """Standardize attributes: (value - mean * existence) / scale; existence may be a probability."""
    if not _any_continuous(columns):
        return values
    mean, scale = _units(columns, values)
    return (values - mean * exists) / scale


def from_standard(values: Float[Tensor, "*b d"], columns: Sequence[Column]) -> Float[Tensor, "*b d"]:
    """Convert attributes that a network predicts to the units of the data."""
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
