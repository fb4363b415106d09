"""Refinement: Weisfeiler-Leman colors of the nodes of a whole batch of hard graphs, round by round.

A message-passing layer gives the same result for all nodes of one color, so that it can be computed once per color.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from ..schema import Column, Schema


class Alike(NamedTuple):
    """Partition of nodes by color: the `color` of each node, numbered from 0, and the `first` node of each color."""

    color: Int[Tensor, " nodes"]
    first: Int[Tensor, " colors"]


class Links(NamedTuple):
    """Edges between the colors of one round and those of the round before.

    `own` is the color that the nodes of a color had in the round before. The neighbors of color c are the entries of
    `senders` from `starts[c]` on, each encoded as (neighbor's color) * (number of kinds of edges) + (kind of the edge).
    """

    own: Int[Tensor, " colors"]
    senders: Int[Tensor, " links"]
    starts: Int[Tensor, " colors"]


class Refinement:
    """Colors of the existing nodes of all graphs of a batch, graph after graph; `owner` is the graph of each node.

    Categories are compared exactly; continuous columns, which should be standardized, are rounded to halves. A color is
    a hash of 64 bits: a collision of two different surroundings is practically impossible.
    """

    @torch.no_grad()
    def __init__(
        self,
        B: Float[Tensor, "b n"],
        V: Float[Tensor, "b n dv"],
        A: Float[Tensor, "b n n"],
        E: Float[Tensor, "b n n de"],
        schema: Schema,
    ):
        self.schema, self.shape, n = schema, B.shape, max(B.shape[1], 1)
        self._exists = B, A
        slots, pairs = (_where(exists > 0.5) for exists in self._exists)
        self.owner = slots // n
        self.nodes = torch.cat([B.flatten()[slots, None], V.flatten(0, 1).index_select(0, slots)], -1)
        self.edges = torch.cat([A.flatten()[pairs, None], E.flatten(0, 2).index_select(0, pairs)], -1)
        # The number of the node in each slot; an empty slot has one more than the last.
        self._number = torch.full((B.numel(),), len(slots), device=B.device)
        self._number[slots] = torch.arange(len(slots), device=B.device)
        i = pairs // n  # the slot of the first end
        ends = i, i // n * n + pairs % n
        self._i, self._j = (self._number[end] for end in ends)
        self._edge_hash = _fold(self.edges, schema.edges)
        self._colors = {0: mix(_fold(self.nodes, schema.nodes))}
        self._alike: dict[int, Alike] = {}
        self._links: dict[int, Links] = {}
        self._spread: dict[int, Int[Tensor, " slots"]] = {}

    @cached_property
    def is_exact(self) -> bool:
        """True if nodes of one color have exactly the same surroundings: hard, undirected graphs without fractions."""
        if self.schema.directed or self.schema.has_continuous:
            return False
        found = zip((self.nodes, self.edges), self._exists, strict=True)
        return all(len(rows) == exists.count_nonzero() and bool((rows == rows.round()).all()) for rows, exists in found)

    @torch.no_grad()
    def colors(self, rounds: int) -> Int[Tensor, " nodes"]:
        """Color of each node after `rounds` rounds: a hash of its environment of that radius."""
        if rounds not in self._colors:
            colors, i, j = self.colors(rounds - 1), self._i, self._j
            # A sum of mixed neighbor colors is a hash of their multiset.
            received = torch.zeros_like(colors).index_add_(0, i, mix(self._edge_hash * 31 + colors[j]))
            if self.schema.directed:
                received = (received * 7).index_add_(0, j, mix(self._edge_hash * 37 + colors[i]))
            self._colors[rounds] = mix(colors * 3 + received)
        return self._colors[rounds]

    @cached_property
    def kinds(self) -> Alike:
        """Partition of the edges by their attributes."""
        return _alike(self._edge_hash)

    def alike(self, rounds: int) -> Alike:
        """Partition of the nodes by their colors after `rounds` rounds."""
        if rounds not in self._alike:
            self._alike[rounds] = _alike(self.colors(rounds))
        return self._alike[rounds]

    def links(self, rounds: int) -> Links:
        """Edges from the colors of round `rounds` (at least 1) to those of the round before."""
        if rounds not in self._links:
            before, first = self.alike(rounds - 1).color.cpu().numpy(), self.alike(rounds).first.cpu().numpy()
            chosen = np.zeros(len(self.owner), bool)
            chosen[first] = True
            to, senders, kinds = (part.cpu().numpy() for part in (self._i, self._j, self.kinds.color))
            edges = np.flatnonzero(chosen[to])
            sent = before[senders[edges]] * len(self.kinds.first) + kinds[edges]
            degree = self._degree[first]
            parts = before[first], sent, degree.cumsum() - degree
            self._links[rounds] = Links(*(torch.from_numpy(part).to(self.owner.device) for part in parts))
        return self._links[rounds]

    def spread(self, values: Float[Tensor, "colors d"], rounds: int) -> Float[Tensor, "b n d"]:
        """Spread values of the colors of a round to the slots of their nodes; zero where there is no node."""
        if rounds not in self._spread:  # models that follow need the same places
            color, first = self.alike(rounds)
            self._spread[rounds] = torch.cat([color, color.new_tensor([len(first)])]).index_select(0, self._number)
        rows = torch.cat([values, values.new_zeros(1, values.shape[1])]).index_select(0, self._spread[rounds])
        return rows.view(*self.shape, values.shape[1])

    @cached_property
    def _degree(self) -> NDArray[np.int64]:
        return np.bincount(self._i.cpu().numpy(), minlength=len(self.owner))


class NodeColors:
    """Colors of the nodes of undirected hard graphs that are given as lists; the same as those of `Refinement`.

    Args:
        V: Attributes of nodes, standardized.
        ends: Nodes at the ends of edges, in both directions.
        E: Attributes of edges, standardized.
        schema: Schema of the graphs.
    """

    def __init__(
        self, V: Float[Tensor, "nodes dv"], ends: Int[Tensor, "2 m"], E: Float[Tensor, "m de"], schema: Schema
    ):
        nodes, edges = (torch.cat([rows.new_ones(len(rows), 1), rows], -1) for rows in (V, E))
        self.first, self.ends = mix(_fold(nodes, schema.nodes)), ends
        self.edges = _fold(edges, schema.edges)

    @staticmethod
    def next(
        own: Int[Tensor, " u"], senders: Int[Tensor, " links"], edges: Int[Tensor, " links"], to: Int[Tensor, " links"]
    ) -> Int[Tensor, " u"]:
        """Colors one round later of nodes with the colors `own`; link k brings node `to[k]` the color of a sender."""
        return mix(own * 3 + torch.zeros_like(own).index_add_(0, to, mix(edges * 31 + senders)))


def mix(x: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """Hash 64-bit integers one to one, so that close numbers end far apart (the finalizer of splitmix64)."""
    return torch.from_numpy(_mixed(x.cpu().numpy())).to(x.device)


def _mixed(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same; in NumPy, whose operations on few numbers take half as long."""
    mixed = x.view(np.uint64)
    for bits, factor in _STEPS:
        mixed = (mixed ^ (mixed >> bits)) * factor
    return (mixed ^ (mixed >> _LAST)).view(np.int64)


_STEPS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST = np.uint64(31)


def _alike(hashes: Int[Tensor, " m"]) -> Alike:
    """Partition positions by their hashes; classes are numbered in the order of their first members."""
    color, first = _classes(hashes.cpu().numpy())
    return Alike(*(torch.from_numpy(part).to(hashes.device) for part in (color, first)))


def _classes(hashes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same; in NumPy, which sorts few numbers faster."""
    order = np.argsort(hashes)
    is_new = np.diff(hashes[order], prepend=0) != 0
    is_new[:1] = True
    first = np.minimum.reduceat(order, np.flatnonzero(is_new)) if len(order) else order
    by_first = np.argsort(first)
    number, color = np.empty_like(first), np.empty_like(order)
    number[by_first] = np.arange(len(first))
    color[order] = number[is_new.cumsum() - 1]
    return color, first[by_first]


def _where(true: Bool[Tensor, "*any"]) -> Int[Tensor, " k"]:
    return torch.from_numpy(np.flatnonzero(true.cpu().numpy())).to(true.device)


def _fold(rows: Float[Tensor, "rows d"], columns: tuple[Column, ...]) -> Int[Tensor, " rows"]:
    """Hash of each row of numbers: existence, then the attributes in these columns."""
    steps = [10.0, *(2.0 if column.is_continuous else 10.0 for column in columns for _ in range(column.width))]
    place = torch.arange(1, rows.shape[-1] + 1, device=rows.device)
    return mix((rows * rows.new_tensor(steps)).round().long() * 1000003 + place).sum(-1)
