"""Graph: an immutable batch of graphs as the four dense tensors B, V, A, E of Hansen et al. (2025), section 2.1."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .coloring.isomorphism import Plain, color_refinement, isomorphic
from .coloring.refinement import Refinement
from .errors import GraphError
from .schema import Categories, Column, Continuous, Schema
from .validation import check_tensors

Attributes = dict[str, str | float]
"""The attributes of one node or one edge by column name: `{"type": "C", "charge": 0.1}`."""

Index = SupportsIndex | slice | Tensor | Sequence[int]
"""What selects graphs of a batch: a number, numbers, a slice or a mask."""

_Slices = list[tuple[Categories | Continuous, slice]]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A batch of graphs, hard (entries 0 or 1) or relaxed (probabilities).

    `B` says which node slots exist (the first column of the paper's n x 2 matrix; the other is 1 - B), `A` which edges.
    Each group of categories in V sums to B, each one in E sums to A: rows of what does not exist are zero.
    Undirected graphs store every edge in both directions; there are no self loops.

    Comparing and hashing ignore the order of nodes:

    >>> from graphflip import Categories, Schema
    >>> schema = Schema(nodes=(Categories(name="type", values=("C", "O")),), max_nodes=3)
    >>> graph = Graph.build(schema, [{"type": "C"}, {"type": "C"}, {"type": "O"}], [(0, 1, {}), (1, 2, {})])
    >>> graph
    Graph(3 nodes: C 2, O 1; 2 edges)
    >>> graph == graph.permute(torch.tensor([2, 0, 1]))
    True
    """

    B: Float[Tensor, "b n"]
    V: Float[Tensor, "b n dv"]
    A: Float[Tensor, "b n n"]
    E: Float[Tensor, "b n n de"]
    schema: Schema

    def __post_init__(self) -> None:
        check_tensors(self.B, self.V, self.A, self.E, self.schema)

    @classmethod
    def trusted(cls, B: Tensor, V: Tensor, A: Tensor, E: Tensor, schema: Schema) -> "Graph":
        """A graph from tensors that are right by construction; skips every check."""
        graph = object.__new__(cls)
        for name, value in (("B", B), ("V", V), ("A", A), ("E", E), ("schema", schema)):
            object.__setattr__(graph, name, value)
        return graph

    @classmethod
    def build(
        cls,
        schema: Schema,
        nodes: Sequence[Attributes],
        edges: Sequence[tuple[int, int, Attributes]],
    ) -> "Graph":
        """One graph from lists: a node is `{"type": "C"}`, an edge `(i, j, {"type": "single"})`.

        In undirected graphs an edge may be listed once or in both directions.
        """
        n = len(nodes)
        if n > schema.max_nodes:
            raise GraphError(
                f"A graph must have at most {schema.max_nodes} nodes; got {n}. "
                f"Leave it out, or fit models with a larger limit (max_nodes={n}): graphflip fit DATA --max-nodes {n}."
            )
        V, A, E = torch.zeros(n, schema.dv), torch.zeros(n, n), torch.zeros(n, n, schema.de)
        for i, attributes in enumerate(nodes):
            V[i] = _encode(schema.nodes, attributes, f"node {i}")
        for i, j, attributes in edges:
            if not (0 <= i < n and 0 <= j < n) or i == j:
                raise GraphError(f"An edge must join two different nodes of 0..{n - 1}; got ({i}, {j}). Remove it.")
            row = _encode(schema.edges, attributes, f"edge ({i}, {j})")
            if A[i, j] and not torch.equal(E[i, j], row):
                raise GraphError(
                    f"An edge must have one set of attributes; ({i}, {j}) is listed twice. Keep one of them."
                )
            for a, b in ((i, j),) if schema.directed else ((i, j), (j, i)):
                A[a, b], E[a, b] = 1.0, row
        return cls(torch.ones(1, n), V[None], A[None], E[None], schema)

    def __len__(self) -> int:
        return self.B.shape[0]

    @property
    def num_slots(self) -> int:
        """Number of node slots, empty ones included."""
        return self.B.shape[1]

    @property
    def num_nodes(self) -> Float[Tensor, " b"]:
        """Number of (expected) nodes of each graph."""
        return self.B.sum(1)

    @property
    def num_edges(self) -> Float[Tensor, " b"]:
        """Number of (expected) edges of each graph; an undirected edge counts once."""
        total = self.A.sum((1, 2))
        return total if self.schema.directed else total / 2

    @property
    def is_hard(self) -> bool:
        """Whether every existence and every category is exactly 0 or 1."""
        parts = [self.B, self.A]
        parts += [self.V[..., at] for column, at in self.schema.node_slices() if not column.is_continuous]
        parts += [self.E[..., at] for column, at in self.schema.edge_slices() if not column.is_continuous]
        return all(bool(((part == 0) | (part == 1)).all()) for part in parts)

    def permute(self, order: Int[Tensor, " n"] | Int[Tensor, "b n"]) -> "Graph":
        """Reorder slots: slot i of the result is slot `order[i]` (one order for all graphs, or one for each)."""
        slots = torch.arange(self.num_slots, device=order.device)
        if order.shape[-1] != len(slots) or not bool((order.sort(-1).values == slots).all()):
            raise GraphError(f"`order` must name each of the {self.num_slots} slots once; got {order.tolist()}.")
        order = order.expand(len(self), -1)
        batch = torch.arange(len(self), device=self.B.device)[:, None]
        rows, columns = order[:, :, None], order[:, None, :]
        return Graph.trusted(
            self.B[batch, order],
            self.V[batch, order],
            self.A[batch[..., None], rows, columns],
            self.E[batch[..., None], rows, columns],
            self.schema,
        )

    def pad(self, n: int) -> "Graph":
        """Add empty slots at the end until there are `n`."""
        extra = n - self.num_slots
        if extra < 0:
            raise GraphError(f"Padding must not drop slots: the graph has {self.num_slots}, got n={n}. Use `trim`.")
        if n > self.schema.max_nodes:
            raise GraphError(f"A graph must have at most {self.schema.max_nodes} slots (max_nodes); got n={n}.")
        pad = torch.nn.functional.pad
        return Graph.trusted(
            pad(self.B, (0, extra)),
            pad(self.V, (0, 0, 0, extra)),
            pad(self.A, (0, extra, 0, extra)),
            pad(self.E, (0, 0, 0, extra, 0, extra)),
            self.schema,
        )

    def trim(self) -> "Graph":
        """Move existing nodes to the front, in their order, and drop the slots that are empty in every graph."""
        exists = self.B > 0
        n = int(exists.sum(1).max()) if len(self) else 0
        order = torch.argsort((~exists).int(), dim=1, stable=True)
        front = self.permute(order)
        return Graph.trusted(front.B[:, :n], front.V[:, :n], front.A[:, :n, :n], front.E[:, :n, :n], self.schema)

    def select(self, index: Index) -> "Graph":
        """The graphs at `index`, as a batch (an integer gives a batch of one)."""
        if not isinstance(index, slice):
            index = torch.as_tensor(index, device=self.B.device)
            index = index[None] if index.ndim == 0 else index
            index = index if index.numel() else index.long()  # the tensor of an empty list is a float
        return Graph.trusted(self.B[index], self.V[index], self.A[index], self.E[index], self.schema)

    def __getitem__(self, index: Index) -> "Graph":
        return self.select(index)

    def __iter__(self) -> Iterator["Graph"]:
        return (self.select(i) for i in range(len(self)))

    @staticmethod
    def cat(graphs: Sequence["Graph"]) -> "Graph":
        """One batch of several, padded to the largest."""
        if not graphs:
            raise GraphError("A batch needs at least one graph; got an empty list.")
        if any(graph.schema != graphs[0].schema for graph in graphs):
            raise GraphError("Graphs of one batch must have the same schema; these differ. Load them from one dataset.")
        n = max(graph.num_slots for graph in graphs)
        padded = [graph.pad(n) for graph in graphs]
        B, V, A, E = (torch.cat([getattr(graph, name) for graph in padded]) for name in "BVAE")
        return Graph.trusted(B, V, A, E, graphs[0].schema)

    def to(self, where: torch.device | torch.dtype | str) -> "Graph":
        """The same graph on another device or in another floating-point type."""
        B, V, A, E = (tensor.to(where) for tensor in (self.B, self.V, self.A, self.E))
        return Graph.trusted(B, V, A, E, self.schema)

    def detach(self) -> "Graph":
        """The same graph, cut off from the computation that made it."""
        return Graph.trusted(self.B.detach(), self.V.detach(), self.A.detach(), self.E.detach(), self.schema)

    def nodes(self, index: int = 0) -> list[Attributes | None]:
        """Attributes of each slot of graph `index`, the likeliest if relaxed; None where the slot is empty."""
        slices = list(self.schema.node_slices())
        rows, exists = self.V[index].tolist(), (self.B[index] > 0.5).tolist()
        return [_decode(slices, row) if there else None for row, there in zip(rows, exists, strict=True)]

    def edges(self, index: int = 0) -> list[tuple[int, int, Attributes]]:
        """Edges `(i, j, attributes)` of graph `index`, the likeliest if relaxed; an undirected one once, with i < j."""
        slices = list(self.schema.edge_slices())
        there = self.A[index] > 0.5
        pairs = (there if self.schema.directed else there.triu(1)).nonzero()
        rows = self.E[index][pairs[:, 0], pairs[:, 1]].tolist()
        return [(i, j, _decode(slices, row)) for (i, j), row in zip(pairs.tolist(), rows, strict=True)]

    def colors(self, index: int = 0) -> list[str]:
        """For each existing node a text that nodes share when color refinement cannot tell them apart."""
        return color_refinement(*self._plain(index), directed=self.schema.directed)

    def digest(self, index: int = 0) -> str:
        """A text that equal graphs share whatever the order of their nodes, the same in every process."""
        return hashlib.blake2b("".join(sorted(self.colors(index))).encode(), digest_size=16).hexdigest()

    @cached_property
    def refinement(self) -> Refinement:
        """Colors of the nodes of all graphs by their surroundings, kept for the models that ask for them."""
        return Refinement(self.B, self.V, self.A, self.E, self.schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            len(self) == len(other)
            and self.schema == other.schema
            and all(
                isomorphic(self._plain(i), other._plain(i), directed=self.schema.directed) for i in range(len(self))
            )
        )

    def __hash__(self) -> int:
        return hash(tuple(self.digest(i) for i in range(len(self))))

    def __repr__(self) -> str:
        if len(self) != 1 or not self.is_hard:
            kind = "hard" if self.is_hard else "relaxed"
            return f"Graph({len(self)} {kind} graphs of {self.num_slots} slots, {self.schema.dv} node columns)"
        types = [" ".join(str(v) for v in node.values()) for node in self.nodes() if node is not None]
        counts = ", ".join(f"{kind} {types.count(kind)}" for kind in sorted(set(types)) if kind)
        listed = f": {counts}" if counts and len(counts) < 200 else ""
        return f"Graph({len(types)} nodes{listed}; {int(self.num_edges)} edges)"

    def _plain(self, index: int) -> Plain:
        """Labels of existing nodes and of edges between them, renumbered: what isomorphism works on.

        A label is the row of numbers itself, to four digits, so that relaxed graphs compare by their probabilities.
        """
        slots = self.B[index].nonzero()[:, 0]
        V = torch.cat([self.B[index][:, None], self.V[index]], 1)[slots]
        A, E = self.A[index][slots][:, slots], self.E[index][slots][:, slots]
        i, j = (A if self.schema.directed else A.triu(1)).nonzero(as_tuple=True)
        rows = torch.cat([A[..., None], E], 2)[i, j]
        return _labels(V), list(zip(i.tolist(), j.tolist(), _labels(rows), strict=True))


def _labels(rows: Float[Tensor, "k d"]) -> list[str]:
    return [" ".join(f"{x:.4g}" for x in row) for row in (rows + 0.0).tolist()]  # + 0.0: -0.0 becomes 0.0


def _encode(columns: Sequence[Column], attributes: Attributes, what: str) -> Float[Tensor, " width"]:
    names = [column.name for column in columns]
    if set(attributes) != set(names):
        raise GraphError(
            f"{what} must have the attributes {names}; got {list(attributes)}. Add what is missing, drop the rest."
        )
    row: list[float] = []
    for column in columns:
        value = attributes[column.name]
        try:
            row += column.encode(value)
        except (TypeError, ValueError) as error:
            raise GraphError(
                f"`{column.name}` of {what} must be a number; got {value!r}. Correct it, or declare it as Categories."
            ) from error
    return torch.tensor(row)


def _decode(slices: _Slices, row: list[float]) -> Attributes:
    return {column.name: column.decode(row[at]) for column, at in slices}
