"""Lower bounds of the graph edit distance by Lagrangian decomposition into stars, and the pairs that they rule out.

The first bound is BRANCH (Blumenthal and Gamper 2018): half of every edge belongs to either end, and each pair of nodes
costs as much as the best match of their edges. Moving the shares between the two ends (subgradient ascent) raises the
bound towards the linear relaxation of the integer program in `exact`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .assignment import linear_assignment
from .problem import Allowed, AssignmentProblem, incident

FORBIDDEN = 1e6
"""Cost of aligning a pair of nodes that is ruled out."""

_MAX_ENUMERATED_DEGREE = 5  # nodes of more links are matched by linear assignment, pair by pair
_MOST_AT_ONCE = 2**22  # pairs of links in memory while matches are enumerated


@dataclass(frozen=True, eq=False)
class StarBound:
    """A lower bound, the alignment of the relaxed problem, and for each pair of nodes the bound if they are aligned."""

    lower: float
    image: Int[np.ndarray, " n"]
    when_aligned: Float[np.ndarray, "n n"]


def star_bound(problem: AssignmentProblem, share: Float[np.ndarray, "p q"], allowed: Allowed) -> StarBound:
    """Lower bound if `share` of each saving belongs to the link's tail and the rest to its head."""
    possible = allowed[problem.head[:, None], problem.other_head[None, :]]
    stars = _best_matches(problem, np.where(possible, share, 0.0), allowed)
    cost = np.where(allowed, problem.node_cost - stars, FORBIDDEN)
    rows, image = linear_assignment(cost)
    lower = problem.all_edges + float(cost[rows, image].sum())
    return StarBound(lower, image, lower + _extra_when_aligned(cost, image))


def disagreement(problem: AssignmentProblem, share: np.ndarray, image: np.ndarray, allowed: Allowed) -> np.ndarray:
    """Subgradient: for each pair of links +1 if only the tails' stars match them, -1 if only the heads' stars do."""
    possible = allowed[problem.head[:, None], problem.other_head]
    gain = np.where(possible, np.maximum(share, 0.0), 0.0)
    matched = np.zeros(share.shape)
    for i, k in enumerate(image[: problem.num_real].tolist()):
        links, others = problem.links_of[i], problem.other_links_of[k]
        block = gain[links[:, None], others]
        rows, columns = linear_assignment(block, maximize=True)
        taken = block[rows, columns] > 1e-9
        matched[links[rows[taken]], others[columns[taken]]] = 1.0
    return matched - matched[np.ix_(*reversed_links(problem))]


def reversed_links(problem: AssignmentProblem) -> tuple[np.ndarray, np.ndarray]:
    """Position of the same link listed from its other end, for each link of either graph."""
    return (
        problem.link_index[problem.head, problem.tail],
        problem.other_link_index[problem.other_head, problem.other_tail],
    )


def _best_matches(problem: AssignmentProblem, gain: np.ndarray, allowed: Allowed) -> np.ndarray:
    """Largest gain from matching the links of two nodes, for each pair of nodes."""
    ends = problem.tail, problem.other_tail
    starts, other_starts = (incident(problem.n, tail, _MAX_ENUMERATED_DEGREE) for tail in ends)
    degree, other_degree = (np.bincount(ends, minlength=problem.n) for ends in (problem.tail, problem.other_tail))
    few, other_few = (np.flatnonzero(count <= _MAX_ENUMERATED_DEGREE) for count in (degree, other_degree))
    gain = np.pad(np.maximum(gain, 0.0), ((0, 1), (0, 1)))
    best = np.zeros((problem.n, problem.n))
    best[np.ix_(few, other_few)] = _matches_by_enumeration(gain, starts[few], other_starts[other_few])
    left = allowed.copy()
    left[np.ix_(few, other_few)] = False
    for i, k in zip(*np.nonzero(left[: problem.num_real]), strict=True):
        block = gain[starts[i, : degree[i], None], other_starts[k, : other_degree[k]]]
        rows, columns = linear_assignment(block, maximize=True)
        best[i, k] = block[rows, columns].sum()
    return best


def _matches_by_enumeration(gain: np.ndarray, starts: np.ndarray, other_starts: np.ndarray) -> np.ndarray:
    """Best matches of all pairs of nodes, many at once, of a few links each."""
    best = np.zeros((len(starts), len(other_starts)))
    used = ((starts < len(gain) - 1).sum(1), (other_starts < gain.shape[1] - 1).sum(1))
    width = max((int(count.max()) for count in used if len(count)), default=0)
    starts, other_starts = starts[:, :width], other_starts[:, :width]
    at_once = max(_MOST_AT_ONCE // max(len(other_starts) * width**2, 1), 1)
    for first in range(0, len(starts), at_once):
        block = gain[starts[first : first + at_once, None, :, None], other_starts[None, :, None, :]]  # n n d d
        best[first : first + at_once] = best_sums(block)
    return best


def best_sums(block: np.ndarray) -> np.ndarray:
    """Largest sum of one entry per row and column in each of many small square matrices, row after row."""
    best = {frozenset[int](): np.zeros(block.shape[:2])}  # by the columns that are taken
    for row in range(block.shape[2]):
        longer: dict[frozenset[int], np.ndarray] = {}
        for taken, total in best.items():
            for column in set(range(block.shape[2])) - taken:
                columns, gain = taken | {column}, total + block[:, :, row, column]
                longer[columns] = np.maximum(longer[columns], gain) if columns in longer else gain
        best = longer
    (total,) = best.values()
    return total


def _extra_when_aligned(cost: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Extra cost of the best assignment if node i must get k: exact, by shortest paths of reassignments."""
    n = len(cost)
    moved = cost[:, image] - cost[np.arange(n), image][:, None]  # i takes the image of j
    distance = moved.copy()
    for k in range(n):
        np.minimum(distance, distance[:, k, None] + distance[None, k, :], out=distance)
    extra = np.empty_like(cost)
    # i takes the image of j, and the chain of reassignments that starts at j ends at i.
    extra[:, image] = moved + np.where(np.eye(n, dtype=bool), 0.0, distance.T)
    return np.maximum(extra, 0.0)
