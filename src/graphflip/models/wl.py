"""Counts of node environments by color refinement (Weisfeiler-Leman): vectors for models that are no GNN."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..graph import Graph


@torch.no_grad()
def wl_counts(graph: Graph, rounds: int, bins: int) -> Float[Tensor, "b bins"]:
    """How often each environment of radius 0 to `rounds` occurs in each hard graph, hashed into `bins` bins.

    Categories decide; continuous columns are rounded to one decimal of their value.
    """
    exists = graph.B > 0.5
    nodes = _fold(torch.cat([graph.B[..., None], graph.V], -1))
    edges = _fold(torch.cat([graph.A[..., None], graph.E], -1))
    there = (graph.A > 0.5).long()
    counts = torch.zeros(len(graph), bins, dtype=torch.long)
    colors = _mix(nodes)
    for turn in range(rounds + 1):
        slot = (_mix(colors + turn) & 0x7FFFFFFFFFFFFFFF) % bins
        counts.scatter_add_(1, slot, exists.long())
        # A sum of mixed neighbor colors is a hash of their multiset.
        received = (there * _mix(edges * 31 + colors[:, None, :])).sum(2)
        if graph.schema.directed:
            received = received * 7 + (there * _mix(edges * 37 + colors[:, :, None])).sum(1)
        colors = _mix(colors * 3 + received)
    return counts.to(graph.B.dtype)


def _fold(columns: Float[Tensor, "*batch d"]) -> Int[Tensor, "*batch"]:
    """One number for a row of columns."""
    place = torch.arange(1, columns.shape[-1] + 1)
    return (_mix((columns * 10).round().long() * 1000003 + place)).sum(-1)


def _mix(x: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """A bijection of 64-bit integers that scatters neighbors apart (the finalizer of splitmix64)."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return x ^ ((x >> 31) & 0x1FFFFFFFF)
