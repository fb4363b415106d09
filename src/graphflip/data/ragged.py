"""Rows of many graphs in one table without padding: graph k owns the rows `ptr[k]:ptr[k + 1]`."""

import torch
from jaxtyping import Int
from torch import Tensor

from ..graph import Graph


def ragged(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Node counts, node rows, edge counts, edges and edge rows of a dense batch, without its empty slots.

    An undirected edge is given once, with i < j; nodes are counted from 0 within each graph.
    """
    exists = graph.B > 0.5
    A = graph.A > 0.5
    owner, i, j = (A if graph.schema.directed else A.triu(1)).nonzero().unbind(1)
    number = exists.long().cumsum(1) - 1  # b n: position among existing nodes
    edges = torch.stack([number[owner, i], number[owner, j]], 1)
    counts = torch.bincount(owner, minlength=len(graph))
    return exists.sum(1), graph.V[exists].float(), counts, edges, graph.E[owner, i, j].float()


def pointers(counts: Int[Tensor, " g"]) -> Int[Tensor, " ptr"]:
    """First row of each graph, and after the last graph the number of rows."""
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def gather_rows(ptr: Int[Tensor, " ptr"], index: Int[Tensor, " b"]) -> tuple[Int[Tensor, " r"], Int[Tensor, " r"]]:
    """Rows of the graphs at `index`, one graph after the other: for each row its graph's position in `index`, and
    its number in the table."""
    counts = ptr[index + 1] - ptr[index]
    owner = torch.repeat_interleave(torch.arange(len(index)), counts)
    first = counts.cumsum(0) - counts
    return owner, torch.arange(len(owner)) - (first - ptr[index])[owner]


def owner_of(ptr: Int[Tensor, " ptr"], row: Int[Tensor, " _"]) -> Int[Tensor, " _"]:
    """Number of the graph that owns each of these rows."""
    return torch.searchsorted(ptr, row, right=True) - 1
