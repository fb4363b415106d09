"""Counts of node environments by color refinement (Weisfeiler-Leman): vectors for models that are no GNN."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..graph import Graph
from ..nn.standardize import standardized
from ..schema import Categories, Column


@torch.no_grad()
def wl_counts(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """How often each environment of radius 0 to `rounds` occurs in each hard graph, hashed into `bins` bins.

    Categories decide; continuous columns are rounded to halves of their scale.
    """
    graph, nodes, edge_columns = standardized(graph), graph.schema.nodes, graph.schema.edges
    owner, slot = (graph.B > 0.5).nonzero(as_tuple=True)
    number = torch.zeros(graph.B.shape, dtype=torch.long)  # of a node, among those of all graphs
    number[owner, slot] = torch.arange(len(owner))
    at = (graph.A > 0.5).nonzero(as_tuple=True)
    i, j = number[at[0], at[1]], number[at[0], at[2]]
    colors = _mix(_fold(torch.cat([graph.B[owner, slot, None], graph.V[owner, slot]], -1), nodes))
    edges = _fold(torch.cat([graph.A[at][:, None], graph.E[at]], -1), edge_columns)
    found = [_bin(colors, 0, bins)]
    for turn in range(1, rounds + 1):
        # A sum of mixed neighbor colors is a hash of their multiset.
        received = torch.zeros_like(colors).index_add_(0, i, _mix(edges * 31 + colors[j]))
        if graph.schema.directed:
            received = (received * 7).index_add_(0, j, _mix(edges * 37 + colors[i]))
        colors = _mix(colors * 3 + received)
        found.append(_bin(colors, turn, bins))
    at = torch.cat([owner * bins + place for place in found])
    return torch.bincount(at, minlength=len(graph) * bins).view(len(graph), bins).to(graph.B.dtype)


def _bin(colors: Int[Tensor, " nodes"], turn: int, bins: int) -> Int[Tensor, " nodes"]:
    return (_mix(colors + turn) & 0x7FFFFFFFFFFFFFFF) % bins


def _fold(rows: Float[Tensor, "rows d"], columns: tuple[Column, ...]) -> Int[Tensor, " rows"]:
    """One number for a row: existence, and then these columns."""
    steps = [10.0, *(step for one in columns for step in [10.0 if isinstance(one, Categories) else 2.0] * one.width)]
    place = torch.arange(1, rows.shape[-1] + 1)
    return (_mix((rows * rows.new_tensor(steps)).round().long() * 1000003 + place)).sum(-1)


def _mix(x: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """A bijection of 64-bit integers that scatters neighbors apart (the finalizer of splitmix64)."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return x ^ ((x >> 31) & 0x1FFFFFFFF)
