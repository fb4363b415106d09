"""Graphs with other edges between the same nodes: relaxed ones for gradients, hard ones for answers."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..graph import Graph


def with_edges(graph: Graph, A: Float[Tensor, "b n n"]) -> Graph:
    """The graphs with other edges: those that were there keep their attributes, others get the usual ones.

    Args:
        graph: Hard graphs.
        A: Existence of edges, hard or relaxed; what it says of empty slots and self loops is left out.
    """
    A = A * pairs(graph)
    row = usual_edge(graph)[:, None, None]
    E = A[..., None] * torch.where(graph.A[..., None] > 0.5, graph.E, row)
    return Graph.trusted(graph.B, graph.V, A, E, graph.schema)


def pairs(graph: Graph) -> Float[Tensor, "b n n"]:
    """1 for pairs of different nodes that are there."""
    there = graph.B[:, :, None] * graph.B[:, None, :]
    return there * (1 - torch.eye(graph.num_slots, device=graph.B.device))


def usual_edge(graph: Graph) -> Float[Tensor, "b de"]:
    """Attributes of a new edge: the commonest category of each graph's edges, and the mean of a number.

    A method that knows nothing of attributes of edges must give a new edge some.
    """
    total, count = graph.E.sum((1, 2)), graph.A.sum((1, 2))[:, None].clamp(min=1)
    parts = []
    for column, at in graph.schema.edge_slices():
        if column.is_continuous:
            parts.append(total[:, at] / count)
        else:
            parts.append(torch.nn.functional.one_hot(total[:, at].argmax(1), column.width).to(total))
    return torch.cat(parts, 1) if parts else total


def both_ways(values: Float[Tensor, "b n n"], directed: bool) -> Float[Tensor, "b n n"]:
    """Values of pairs, made equal in both directions where edges have none."""
    return values if directed else (values + values.transpose(1, 2)) / 2


def toggled(graph: Graph, chosen: list[tuple[int, int]]) -> Graph:
    """One graph after the given edges have come or gone; each pair is given once."""
    A = graph.A.clone()
    if chosen:
        i, j = torch.tensor(chosen).T
        A[0, i, j] = 1 - A[0, i, j]
        if not graph.schema.directed:
            A[0, j, i] = A[0, i, j]
    return with_edges(graph, A)


def pair_list(graph: Graph, there: bool | None = None) -> list[tuple[int, int]]:
    """Pairs of nodes of one graph; with an edge, without one, or all. An undirected pair is listed once."""
    mask: Bool[Tensor, "n n"] = pairs(graph)[0] > 0.5
    mask = mask if graph.schema.directed else mask.triu(1)
    if there is not None:
        mask = mask & ((graph.A[0] > 0.5) == there)
    return [(i, j) for i, j in mask.nonzero().tolist()]


def drawn(items: list, count: int, rng: torch.Generator) -> list:
    """Draw different items at random."""
    return [items[k] for k in torch.randperm(len(items), generator=rng)[:count].tolist()]


def num_changed(graph: Graph, other: Graph) -> Float[Tensor, " b"]:
    """Number of edges that differ, and of nodes with other attributes; slots are the same nodes."""
    edges = (graph.A - other.A).abs().sum((1, 2)) / (1 if graph.schema.directed else 2)
    return edges + ((graph.V - other.V).abs().sum(2) > 1e-6).sum(1)
