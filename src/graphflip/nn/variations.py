"""Variations: many hard graphs that differ from one in a few places, as lists of nodes and edges.

Messages outside of the changed neighborhood are those of the one graph: k layers reach k edges far. So networks compute
them once, and for each variation only what a change has reached.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..graph import Graph
from ..schema import Schema
from .standardize import to_standard

# Entries of a tensor below which it costs less to make it than to look for what is needed.
_FEW = 500_000


class GraphLists(NamedTuple):
    """Nodes and edges of hard graphs; an undirected edge is listed in both directions.

    Args:
        V: Attributes of nodes.
        ends: Node that an edge comes from, and node that it leads to, as A[i, j] does.
        E: Attributes of edges.
    """

    V: Float[Tensor, "nodes dv"]
    ends: Int[Tensor, "2 edges"]
    E: Float[Tensor, "edges de"]

    def standardized(self, schema: Schema) -> "GraphLists":
        """The same with continuous attributes of mean 0 and scale 1."""
        V = to_standard(self.V, self.V.new_ones(len(self.V), 1), schema.nodes)
        return GraphLists(V, self.ends, to_standard(self.E, self.E.new_ones(len(self.E), 1), schema.edges))


@dataclass(frozen=True, eq=False)
class Variations:
    """Graphs that differ from one in a few places.

    Args:
        schema: Schema of the graphs.
        one: The graph from which they differ.
        all: Nodes and edges of all of them; nodes of a graph follow each other.
        num_graphs: Number of variations.
        owner: Graph of each node, ascending.
        origin: The node of `one` that a node is; -1 if it is new.
        changed: True for nodes that are new or have other attributes.
        rewired: True for nodes at which an edge came, went or has other attributes.
        gone: Graph and node of `one` of every node that is missing.
    """

    schema: Schema
    one: GraphLists
    all: GraphLists
    num_graphs: int
    owner: Int[Tensor, " nodes"]
    origin: Int[Tensor, " nodes"]
    changed: Bool[Tensor, " nodes"]
    rewired: Bool[Tensor, " nodes"]
    gone: Int[Tensor, "2 g"]

    def __len__(self) -> int:
        return self.num_graphs

    @cached_property
    def standardized(self) -> "Variations":
        """The same with continuous attributes of mean 0 and scale 1."""
        if not self.schema.has_continuous:
            return self
        return replace(self, one=self.one.standardized(self.schema), all=self.all.standardized(self.schema))

    @cached_property
    def num_nodes(self) -> Int[Tensor, " b"]:
        """Number of nodes of each graph."""
        return torch.bincount(self.owner, minlength=self.num_graphs)

    def select(self, start: int, end: int) -> Graph:
        """The graphs from `start` to `end` as dense tensors."""
        low, high = (int(torch.searchsorted(self.owner, bound)) for bound in (start, end))
        owner = self.owner[low:high] - start
        first = torch.zeros(end - start, dtype=torch.int64).index_add_(0, owner, torch.ones_like(owner)).cumsum(0)
        slot = torch.arange(high - low) - torch.nn.functional.pad(first, (1, 0))[owner]
        n = max(int(self.num_nodes[start:end].max()) if end > start else 0, 1)
        V, E = self.all.V, self.all.E
        within = (self.all.ends[0] >= low) & (self.all.ends[0] < high)
        i, j = self.all.ends[:, within] - low
        dense = Graph.trusted(
            V.new_zeros(end - start, n),
            V.new_zeros(end - start, n, V.shape[1]),
            V.new_zeros(end - start, n, n),
            V.new_zeros(end - start, n, n, E.shape[1]),
            self.schema,
        )
        dense.B[owner, slot], dense.V[owner, slot] = 1.0, V[low:high]
        dense.A[owner[i], slot[i], slot[j]], dense.E[owner[i], slot[i], slot[j]] = 1.0, E[within]
        return dense

    def ripple(self, hops: int) -> "Ripple":
        """Nodes that changes have reached after so many layers of messages."""
        known = self._ripples
        while len(known) <= hops:
            reached = known[-1].reached
            i, j = self.all.ends
            known.append(Ripple(self, (reached | self.rewired).index_fill(0, i[reached[j]], True)))
        return known[hops]

    @cached_property
    def _ripples(self) -> list["Ripple"]:
        return [Ripple(self, self.changed)]


class Ripple:
    """Nodes of all variations that changes have reached, and where their features stand.

    Features of a layer are a table: first those of the nodes of the one graph, then those of the nodes that were
    reached, in their order.
    """

    def __init__(self, variations: Variations, reached: Bool[Tensor, " nodes"]):
        self.variations, self.reached = variations, reached
        self.nodes = reached.nonzero()[:, 0]
        self.owner, self.origin = variations.owner[self.nodes], variations.origin[self.nodes]

    @cached_property
    def row(self) -> Int[Tensor, " nodes"]:
        """Row of every node in the table."""
        rows = self.variations.origin.clone()
        rows[self.nodes] = torch.arange(len(self.nodes)) + len(self.variations.one.V)
        return rows

    @cached_property
    def links(self) -> tuple[Int[Tensor, " links"], Int[Tensor, " links"]]:
        """Edges at the nodes that were reached: their numbers, and for each the number of its node among these."""
        i, _ = self.variations.all.ends
        edges = self.reached[i].nonzero()[:, 0]
        return edges, (self.reached.cumsum(0) - 1)[i[edges]]

    @cached_property
    def blocked(self) -> Bool[Tensor, "b n"]:
        """True for nodes of the one graph that a variation does not have, or has with other features."""
        whole = self.variations
        blocked = torch.zeros(len(whole), len(whole.one.V), dtype=torch.bool)
        old = self.origin >= 0
        blocked[self.owner[old], self.origin[old]] = True
        blocked[whole.gone[0], whole.gone[1]] = True
        return blocked

    def total(self, one: Float[Tensor, "n d"], reached: Float[Tensor, "u d"]) -> Float[Tensor, "b d"]:
        """Sum over the nodes of each variation."""
        whole, old = self.variations, self.origin >= 0
        sums = one.sum(0).repeat(len(whole), 1).index_add_(0, self.owner, reached)
        sums.index_add_(0, self.owner[old], one[self.origin[old]], alpha=-1)
        return sums.index_add_(0, whole.gone[0], one[whole.gone[1]], alpha=-1)

    def highest(self, one: Float[Tensor, "n d"], reached: Float[Tensor, "u d"]) -> Float[Tensor, "b d"]:
        """Maximum over the nodes of each variation, and over 0."""
        best = self._highest_left(one)
        to = self.owner[:, None].expand(-1, reached.shape[1])
        return best.scatter_reduce_(0, to, reached, "amax")

    def _highest_left(self, one: Float[Tensor, "n d"]) -> Float[Tensor, "b d"]:
        """Maximum over the nodes that were not reached: the first in falling order that is left, for each channel."""
        if self.blocked.numel() * one.shape[1] < _FEW:
            return one.relu().masked_fill(self.blocked[..., None], 0.0).amax(1)
        values, order = one.sort(0, descending=True)
        best = one.new_zeros(len(self.variations), one.shape[1])
        missing = torch.ones_like(best, dtype=torch.bool)
        for value, node in zip(values, order, strict=True):
            free = missing & ~self.blocked[:, node]
            best = torch.where(free, value.relu(), best)
            missing &= ~free & (value > 0)
            if not bool(missing.any()):
                break
        return best
