"""Nodes and edges of graphs as lists, read from their tensors."""

import operator
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from .schema import AttributeDict, Schema, decoder

Nodes = list[AttributeDict | None]
"""Attributes of the node in each slot; None where a slot is empty."""

Edges = list[tuple[int, int, AttributeDict]]
"""Ends and attributes of each edge, by slots; an undirected edge once, the lower slot first."""


class Lists:
    """Nodes and edges of each graph of a batch. Those of a single graph are read once and kept: many ask for them.

    Args:
        B, V, A, E: Tensors of the graphs.
        schema: Meaning of their columns.
    """

    def __init__(
        self,
        B: Float[Tensor, "b n"],
        V: Float[Tensor, "b n dv"],
        A: Float[Tensor, "b n n"],
        E: Float[Tensor, "b n n de"],
        schema: Schema,
    ):
        self.B, self.V, self.A, self.E, self.schema = B, V, A, E, schema

    def nodes(self, index: int) -> Nodes:
        """Nodes of one graph, in new dictionaries."""
        nodes = self._nodes if self._is_only(index) else self._read_nodes(index)
        return [None if attributes is None else attributes.copy() for attributes in nodes]

    def edges(self, index: int) -> Edges:
        """Edges of one graph, in new dictionaries."""
        edges = self._edges if self._is_only(index) else self._read_edges(index)
        return [(i, j, attributes.copy()) for i, j, attributes in edges]

    def _is_only(self, index: int) -> bool:
        return len(self.B) == 1 and operator.index(index) in (0, -1)

    @cached_property
    def _nodes(self) -> Nodes:
        return self._read_nodes(0)

    @cached_property
    def _edges(self) -> Edges:
        return self._read_edges(0)

    def _read_nodes(self, index: int) -> Nodes:
        rows, exists = self.V[index].tolist(), (self.B[index] > 0.5).tolist()
        decode = decoder(self.schema.node_slices())
        return [decode(row) if there else None for row, there in zip(rows, exists, strict=True)]

    def _read_edges(self, index: int) -> Edges:
        decode, there = decoder(self.schema.edge_slices()), self.A[index] > 0.5
        i, j = (there if self.schema.directed else there.triu(1)).nonzero(as_tuple=True)
        return list(zip(i.tolist(), j.tolist(), map(decode, self.E[index][i, j].tolist()), strict=True))
