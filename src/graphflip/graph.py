"""Graph: an immutable batch of graphs as the four dense tensors B, V, A, E of Hansen et al. (2025), section 2.1."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .coloring.isomorphism import Plain, color_refinement, isomorphic, plain_graph
from .coloring.refinement import Refinement
from .errors import GraphError
from .lists import Lists
from .schema import AttributeDict, Schema
from .validation import check_tensors, has_hard_values, read_lists

Index = SupportsIndex | slice | Tensor | Sequence[int]
"""Selection of graphs of a batch: a number, several numbers, a slice or a mask."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A batch of graphs, hard (entries 0 or 1) or relaxed (probabilities).

    All graphs of a batch have the same number n of node slots; a graph with fewer nodes is padded with empty slots,
    whose rows are zero. `graph[i]` is one graph as a batch of one. `==` and `hash` ignore the order of nodes.

    Args:
        B: Existence of nodes, of shape b x n: the first column of the paper's n x 2 matrix (the other is 1 - B).
        V: Node attributes, of shape b x n x dv. Each group of categories sums to B.
        A: Existence of edges, of shape b x n x n, without self loops; symmetric if the graphs are undirected.
        E: Edge attributes, of shape b x n x n x de. Each group of categories sums to A.
        schema: Meaning of the columns of V and E, largest number of nodes, direction of edges.

    Raises:
        GraphError: If the tensors do not fit each other or the schema.

    Example:
        >>> from graphflip import Categories, Schema
        >>> schema = Schema(nodes=(Categories(name="type", values=("C", "O")),), max_nodes=3)
        >>> graph = Graph.build(schema, [{"type": "C"}, {"type": "C"}, {"type": "O"}], [(0, 1, {}), (1, 2, {})])
        >>> graph
        Graph(3 nodes: C 2, O 1; 2 edges)
        >>> graph.V.shape, graph.A[0].tolist()
        (torch.Size([1, 3, 2]), [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        >>> graph == graph.permute(torch.tensor([2, 0, 1]))
        True
        >>> Graph.cat([graph, graph])
        Graph(2 hard graphs of 3 slots, 2 node columns)
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
        """Make a graph of tensors that are right by construction; skips every check of `Graph(B, V, A, E, schema)`."""
        graph = object.__new__(cls)
        for name, value in (("B", B), ("V", V), ("A", A), ("E", E), ("schema", schema)):
            object.__setattr__(graph, name, value)
        return graph

    @classmethod
    def build(
        cls,
        schema: Schema,
        nodes: Sequence[AttributeDict],
        edges: Sequence[tuple[int, int, AttributeDict]],
    ) -> "Graph":
        """Build one graph from lists of nodes and edges.

        Args:
            schema: Attributes that nodes and edges have.
            nodes: Attributes of each node, as in `{"type": "C"}`.
            edges: Two node numbers and attributes, as in `(0, 1, {"type": "single"})`. An undirected edge may be listed
                once or in both directions.

        Returns:
            A batch of one hard graph without empty slots.

        Raises:
            GraphError: If there are too many nodes, or an edge or the names of attributes are wrong.
            SchemaError: If a category is not in the schema.

        Example:
            >>> Graph.build(Schema(max_nodes=3), [{}, {}, {}], [(0, 1, {}), (1, 2, {})])
            Graph(3 nodes; 2 edges)
        """
        V, A, E = read_lists(schema, nodes, edges)
        return cls(torch.ones(1, len(nodes)), V[None], A[None], E[None], schema)

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

    @cached_property
    def is_hard(self) -> bool:
        """True if every existence and every category is exactly 0 or 1."""
        return has_hard_values(self.B, self.V, self.A, self.E, self.schema)

    def permute(self, order: Int[Tensor, " n"] | Int[Tensor, "b n"]) -> "Graph":
        """Reorder the slots: the action of a permutation on graphs, (P B, P V, P A P^T, P E P^T), section 2.2.

        Args:
            order: Slot i of the result is slot `order[i]`; one order for all graphs (n), or one for each (b x n).

        Raises:
            GraphError: If `order` does not name each slot once.
        """
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

    def ample(self) -> "Graph":
        """Pad to the slots in which models are asked about single graphs, see `Schema.ample_slots`."""
        return self.pad(self.schema.ample_slots(self.num_slots))

    def pad(self, n: int) -> "Graph":
        """Add empty slots at the end.

        Args:
            n: Number of slots of the result, from `num_slots` to `schema.max_nodes`.

        Raises:
            GraphError: If `n` is out of range.
        """
        extra = n - self.num_slots
        if not extra:
            return self
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
        """Select graphs of the batch, as `graph[index]` does.

        Args:
            index: A number, several numbers, a slice or a mask.

        Returns:
            The selected graphs as a batch; a number gives a batch of one.
        """
        if len(self) == 1 and type(index) is int and index in (0, -1):
            return self
        if not isinstance(index, slice):
            index = torch.as_tensor(index, device=self.B.device)
            index = index[None] if index.ndim == 0 else index
            index = index if index.numel() else index.long()  # the tensor of an empty list is a float
        return Graph.trusted(self.B[index], self.V[index], self.A[index], self.E[index], self.schema)

    __getitem__ = select

    def __iter__(self) -> Iterator["Graph"]:
        return (self.select(i) for i in range(len(self)))

    @staticmethod
    def cat(graphs: Sequence["Graph"]) -> "Graph":
        """Join several batches into one, padded to the largest.

        Args:
            graphs: One or more batches of the same schema.

        Returns:
            All graphs, in order, as one batch.

        Raises:
            GraphError: If there are no graphs or their schemas differ.
        """
        if not graphs:
            raise GraphError("A batch needs at least one graph; got an empty list.")
        if any(graph.schema != graphs[0].schema for graph in graphs):
            raise GraphError("Graphs of one batch must have the same schema; these differ. Load them from one dataset.")
        n = max(graph.num_slots for graph in graphs)
        padded = [graph.pad(n) for graph in graphs]
        B, V, A, E = (torch.cat([getattr(graph, name) for graph in padded]) for name in "BVAE")
        return Graph.trusted(B, V, A, E, graphs[0].schema)

    def to(self, where: torch.device | torch.dtype | str) -> "Graph":
        """Copy the graphs to a device (`"cuda"`) or a floating-point type (`torch.float64`)."""
        B, V, A, E = (tensor.to(where) for tensor in (self.B, self.V, self.A, self.E))
        return Graph.trusted(B, V, A, E, self.schema)

    def detach(self) -> "Graph":
        """Detach the four tensors from the computation that made them."""
        B, V, A, E = (tensor.detach() for tensor in (self.B, self.V, self.A, self.E))
        return Graph.trusted(B, V, A, E, self.schema)

    def nodes(self, index: int = 0) -> list[AttributeDict | None]:
        """List the nodes of one graph.

        Args:
            index: Position of the graph in the batch.

        Returns:
            For each slot its attributes (the likeliest if relaxed), as in `{"type": "C"}`; None if it is empty.
        """
        return self._lists.nodes(index)

    def edges(self, index: int = 0) -> list[tuple[int, int, AttributeDict]]:
        """List the edges of one graph.

        Args:
            index: Position of the graph in the batch.

        Returns:
            Edges `(i, j, attributes)` between slots (the likeliest if relaxed); an undirected one once, with i < j.
        """
        return self._lists.edges(index)

    @cached_property
    def _lists(self) -> Lists:
        return Lists(self.B, self.V, self.A, self.E, self.schema)

    def colors(self, index: int = 0) -> list[str]:
        """Color the existing nodes of one graph: nodes that Weisfeiler-Leman cannot tell apart share a text."""
        return color_refinement(*self._plain(index), directed=self.schema.directed)

    def digest(self, index: int = 0) -> str:
        """Hash of one graph as a text: equal graphs have equal digests, in any order of nodes and in every process."""
        return hashlib.blake2b("".join(sorted(self.colors(index))).encode(), digest_size=16).hexdigest()

    @cached_property
    def refinement(self) -> Refinement:
        """Weisfeiler-Leman colors of the nodes of all graphs; computed once, for the models that use them."""
        return Refinement(self.B, self.V, self.A, self.E, self.schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if len(self) != len(other) or self.schema != other.schema:
            return False
        directed = self.schema.directed
        return all(isomorphic(self._plain(i), other._plain(i), directed) for i in range(len(self)))

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
        return plain_graph(self.B[index], self.V[index], self.A[index], self.E[index], self.schema.directed)
