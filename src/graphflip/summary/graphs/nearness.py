"""Nearness: which graphs are within a normalized edit distance of which others, by upper bounds that prove it.

The normalized distance is the labelled graph edit distance over the number of nodes and edges of both graphs
(Kosan et al. 2023). An alignment of the nodes gives an upper bound of it; a bound of at most theta proves nearness.
Where no alignment that is tried is good enough, nothing is claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ...edits import EditCosts
from ...ged.problem import alignment_problem
from ...ged.search import grow, improve, starting_alignments, surroundings_distance
from ...graph import Graph

_WIDTH = 192
_CHUNK = 128


@dataclass(frozen=True, eq=False)
class Profiles:
    """Many graphs of one schema, with counts that near graphs share.

    Args:
        graphs: The graphs, each a batch of one hard graph.
    """

    graphs: Sequence[Graph]

    @cached_property
    def sizes(self) -> Float[Tensor, " g"]:
        """Number of nodes and edges of each graph."""
        return torch.tensor([float(graph.num_nodes[0] + graph.num_edges[0]) for graph in self.graphs])

    @cached_property
    def labels(self) -> Float[Tensor, "g d"]:
        """Numbers of nodes and of edges with each attributes: an edit changes at most one place of each by one."""
        return torch.stack([_labels(graph) for graph in self.graphs])

    @cached_property
    def surroundings(self) -> Float[Tensor, "g w"]:
        """Numbers of nodes by the attributes of their neighbors, in a table of fixed width."""
        return torch.stack([_surroundings(graph) for graph in self.graphs])


def _labels(graph: Graph) -> Tensor:
    nodes, edges = graph.V[0].sum(0), (graph.E[0].sum((0, 1)) if graph.schema.de else graph.A[0].sum()[None])
    return torch.cat([nodes, edges if graph.schema.directed else edges / 2])


def _surroundings(graph: Graph) -> Tensor:
    """Random but fixed projection of each node's neighbors to a bin."""
    V, E = graph.V[0], graph.E[0] if graph.schema.de else graph.A[0][..., None]
    near = torch.cat([V * 7.0, *(E[..., k] @ V * (k + 1.0) for k in range(E.shape[-1]))], 1)
    weights = torch.arange(1, near.shape[1] + 1, dtype=torch.float64) * 0.7548776662466927 % 1
    bins = ((near.double() @ weights) * 1009 % _WIDTH).long()[graph.B[0] > 0.5]
    return torch.bincount(bins, minlength=_WIDTH)[:_WIDTH].float()


def may_be_near(inputs: Profiles, others: Profiles, theta: float) -> Bool[Tensor, "c g"]:
    """False for pairs whose numbers of attributes alone prove that they are farther apart than theta."""
    rows = []
    for start in range(0, len(others.graphs), _CHUNK):
        part = others.labels[start : start + _CHUNK]
        gap = torch.cdist(part, inputs.labels, p=1)
        size = others.sizes[start : start + _CHUNK, None] + inputs.sizes
        rows.append(gap / 2 <= theta * size)
    return torch.cat(rows)


def unlikeness(inputs: Profiles, others: Profiles) -> Float[Tensor, "c g"]:
    """Difference of the surroundings of nodes over the sizes: small for pairs that are worth aligning."""
    gap = torch.cdist(others.surroundings, inputs.surroundings, p=1)
    return gap / (others.sizes[:, None] + inputs.sizes)


def upper_bound(g: Graph, h: Graph, enough: float = 0.0) -> float:
    """Compute an upper bound of the edit distance of two graphs, without proof that it is the least.

    Args:
        g: First graph, a batch of one hard graph.
        h: Second graph.
        enough: The search ends once the bound is not above this.

    Returns:
        Number of edits under the best alignment that was tried.
    """
    small, large = sorted((g.trim(), h.trim()), key=lambda graph: graph.num_slots)
    problem = alignment_problem(small, large, EditCosts())
    best = np.inf
    for depth in (3, 1):
        best = min(best, problem.cost(improve(problem, grow(problem, surroundings_distance(problem, depth)))))
        if best <= enough:
            return best
    for start in starting_alignments(problem):
        best = min(best, problem.cost(improve(problem, start)))
        if best <= enough:
            return best
    return best
