"""Graph edit distance as an integer program over the alignments that bounds have not ruled out.

The formulation follows FORI (D'Ascenzo et al. 2023): a variable for each pair of nodes and for each pair of links in
either orientation; a pair of links can be aligned only if the nodes at their ends are.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from .problem import Allowed, AssignmentProblem


@dataclass(frozen=True, eq=False)
class Solved:
    """Solution of the program: an alignment that costs at most the cutoff (None if unknown), and a lower bound."""

    image: Int[np.ndarray, " n"] | None
    lower: float


def solve(problem: AssignmentProblem, allowed: Allowed, cutoff: float, seconds: float) -> Solved:
    """Find the cheapest alignment that costs no more than `cutoff`; if there is none, `lower` is above the cutoff."""
    if not allowed[: problem.num_real].any(1).all():
        return Solved(None, float("inf"))
    if seconds <= 0:  # HiGHS takes a limit in the past for none
        return Solved(None, -float("inf"))
    nodes = np.argwhere(allowed[: problem.num_real])
    links = _link_pairs(problem, allowed)
    extra = problem.all_edges + float(problem.node_cost[problem.num_real :, 0].sum())
    objective = np.concatenate([problem.node_cost[nodes[:, 0], nodes[:, 1]], -problem.saving[links[:, 0], links[:, 1]]])
    answer = milp(
        objective,
        integrality=np.concatenate([np.ones(len(nodes)), np.zeros(len(links))]),
        bounds=Bounds(0, 1),
        constraints=[*_constraints(problem, nodes, links), LinearConstraint(objective[None], ub=cutoff - extra + 1e-7)],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if answer.status == 2:  # infeasible
        return Solved(None, float("inf"))
    bound = answer.mip_dual_bound
    lower = -float("inf") if bound is None or not np.isfinite(bound) else bound + extra
    return Solved(None if answer.x is None else _image(problem, nodes, answer.x[: len(nodes)]), lower)


def _link_pairs(problem: AssignmentProblem, allowed: Allowed) -> np.ndarray:
    """Pairs of links (the first listed from one end, the second from both) that may be aligned and save cost."""
    possible = (problem.saving > 1e-12) & (problem.tail < problem.head)[:, None]
    possible &= allowed[np.ix_(problem.tail, problem.other_tail)] & allowed[np.ix_(problem.head, problem.other_head)]
    return np.argwhere(possible)


def _constraints(problem: AssignmentProblem, nodes: np.ndarray, links: np.ndarray) -> list[LinearConstraint]:
    """Each node is aligned once, each target is used at most once, and links follow their ends."""
    n, x, y = problem.n, len(nodes), len(links)
    variable = np.full((n, n), -1)
    variable[nodes[:, 0], nodes[:, 1]] = np.arange(x)
    placed = _rows(nodes[:, 0], np.arange(x), problem.num_real, x + y)
    filled = _rows(nodes[:, 1], np.arange(x), n, x + y)
    follows = []
    for tail, other_tail in (
        (problem.tail[links[:, 0]], problem.other_tail[links[:, 1]]),
        (problem.head[links[:, 0]], problem.other_head[links[:, 1]]),
    ):
        end = variable[tail, other_tail]
        for key in (links[:, 0] * x + end, _undirected(problem, links[:, 1]) * x + end):
            follows.append(_follow(key, end, x, y))
    return [
        LinearConstraint(placed, 1, 1),
        LinearConstraint(filled, 0, 1),
        *(LinearConstraint(f, ub=0) for f in follows),
    ]


def _undirected(problem: AssignmentProblem, links: np.ndarray) -> np.ndarray:
    """One number for a link of the second graph and its reverse."""
    low = np.minimum(problem.other_tail[links], problem.other_head[links])
    high = np.maximum(problem.other_tail[links], problem.other_head[links])
    return problem.other_link_index[low, high]


def _follow(key: np.ndarray, end: np.ndarray, x: int, y: int) -> sparse.csr_array:
    """Rows of: the sum of link pairs that exclude each other (same key) minus the node pair at their end."""
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    total = _rows(group, x + np.arange(y), len(first), x + y)
    return (total - _rows(np.arange(len(first)), end[first], len(first), x + y)).tocsr()


def _rows(row: np.ndarray, column: np.ndarray, height: int, width: int) -> sparse.csr_array:
    """Sparse matrix with ones at these places."""
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(height, width))


def _image(problem: AssignmentProblem, nodes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Alignment of the node pairs that the program chose; empty slots get the nodes that are left."""
    image = np.full(problem.n, -1)
    taken = nodes[chosen > 0.5]
    image[taken[:, 0]] = taken[:, 1]
    image[image < 0] = np.setdiff1d(np.arange(problem.n), image)
    return image
