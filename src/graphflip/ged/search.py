"""Heuristics for good alignments of two graphs: upper bounds of the graph edit distance."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from .assignment import linear_assignment
from .problem import AssignmentProblem

_ROUNDS = 4  # of color refinement
_MAX_DESCENT = 20  # steps of Frank-Wolfe


def starting_alignments(problem: AssignmentProblem) -> Iterator[Int[np.ndarray, " n"]]:
    """Generate alignments grown node by node, by different weights and radii of the nodes' surroundings."""
    for depth, weight in ((_ROUNDS, 1.0), (2, 1.0), (1, 2.0), (_ROUNDS, 0.25), (0, 1.0)):
        yield grow(problem, weight * surroundings_distance(problem, depth))


def surroundings_distance(problem: AssignmentProblem, depth: int) -> Float[np.ndarray, "n n"]:
    """Number of rounds of color refinement, of `depth`, after which two nodes have different colors.

    Among equals, nodes with few counterparts come first: a small amount is added for each candidate.
    """
    ends = ((problem.tail, problem.head), (problem.other_tail, problem.other_head))
    colors = [np.array(labels + [-1] * (problem.n - len(labels))) for labels in problem.node_labels]
    distance = np.zeros((problem.n, problem.n))
    for _ in range(depth):
        numbers: dict[tuple, int] = {}
        finer = []
        for color, (tail, head), labels in zip(colors, ends, problem.link_labels, strict=True):
            near: list[list[tuple[int, int]]] = [[] for _ in color]
            for i, j, label in zip(tail.tolist(), head.tolist(), labels, strict=True):
                near[i].append((label, int(color[j])))
            keys = [(int(own), tuple(sorted(around))) for own, around in zip(color, near, strict=True)]
            finer.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys]))
        colors = finer
        distance += colors[0][:, None] != colors[1][None, :]
    alike = distance == distance.min(1, keepdims=True)
    return distance + 1e-3 * (alike.sum(1, keepdims=True) + alike.sum(0, keepdims=True))


def grow(problem: AssignmentProblem, bias: Float[np.ndarray, "n n"]) -> Int[np.ndarray, " n"]:
    """Align greedily: again and again the pair that costs least, given the pairs that are aligned already.

    Neighbors of aligned pairs gain from the edges between them, so that a symmetric ring is aligned in one direction.
    """
    n = problem.n
    score = problem.node_cost + bias
    score[problem.num_real :] += 1e3  # empty slots come last
    image = np.full(n, -1)
    for _ in range(n):
        i, k = divmod(int(np.argmin(score)), n)
        image[i] = k
        links, others = np.flatnonzero(problem.head == i), np.flatnonzero(problem.other_head == k)
        score[np.ix_(problem.tail[links], problem.other_tail[others])] -= problem.saving[np.ix_(links, others)]
        score[i, :] = score[:, k] = np.inf
    return image


def improve(problem: AssignmentProblem, image: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Exchange the images of two nodes while that lowers the cost, always the pair that lowers it most."""
    image = image.copy()
    while True:
        gain = _exchange_gains(problem, image)
        i, j = divmod(int(np.argmax(gain)), problem.n)
        if gain[i, j] < 1e-9:
            return image
        image[[i, j]] = image[[j, i]]


def descend(problem: AssignmentProblem, image: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Integer-projected fixed point (Leordeanu et al. 2009): the best corner of Frank-Wolfe over soft alignments."""
    soft = np.eye(problem.n)[image]
    best, best_cost = image, problem.cost(image)
    for _ in range(_MAX_DESCENT):
        slope = problem.node_cost - gains(problem, soft)
        corner = linear_assignment(slope)[1]
        corner_cost = problem.cost(corner)
        if corner_cost < best_cost:
            best, best_cost = corner, corner_cost
        direction = np.eye(problem.n)[corner] - soft
        linear = float((slope * direction).sum())
        if linear > -1e-9:
            break
        curvature = -float((gains(problem, direction) * direction).sum())
        step = 1.0 if curvature <= 0 else min(1.0, -linear / curvature)
        soft = soft + step * direction
    return best


def gains(problem: AssignmentProblem, soft: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Saving of the links of each pair of nodes if every other node were aligned as in `soft`."""
    links = problem.saving * soft[np.ix_(problem.head, problem.other_head)]  # p q
    rows = np.zeros((problem.n, links.shape[1]))
    np.add.at(rows, problem.tail, links)
    total = np.zeros((problem.n, problem.n))
    np.add.at(total.T, problem.other_tail, rows.T)
    return total


def _exchange_gains(problem: AssignmentProblem, image: np.ndarray) -> np.ndarray:
    """Decrease of the cost if nodes i and j exchange their images, for each pair."""
    everyone = np.arange(problem.n)
    value = gains(problem, np.eye(problem.n)[image]) - problem.node_cost
    after = value[:, image]
    before = value[everyone, image]
    here, there = problem.link_index, problem.other_link_index[np.ix_(image, image)]
    # A link between i and j counts at both ends as it is, and at neither once exchanged.
    own = problem.padded_saving[here, there] + problem.padded_saving[here, there.T]
    return after + after.T - before[:, None] - before[None, :] + own


def completed(n: int, pairs: dict[int, int]) -> Int[np.ndarray, " n"]:
    """An alignment of `n` nodes that has some pairs; the other nodes are aligned in order."""
    image = np.full(n, -1)
    for i, k in pairs.items():
        image[i] = k
    image[image < 0] = np.setdiff1d(np.arange(n), image)
    return image
