"""Heuristics for good alignments of two graphs: upper bounds of the graph edit distance."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from ..coloring.isomorphism import find_isomorphism
from .assignment import linear_assignment
from .problem import AssignmentProblem

_ROUNDS = 4  # of color refinement
_MAX_DESCENT = 20  # steps of Frank-Wolfe


def starting_alignments(problem: AssignmentProblem) -> Iterator[Int[np.ndarray, " n"]]:
    """Generate alignments grown node by node, by different weights and radii of the nodes' surroundings."""
    distances = surroundings_distances(problem, _ROUNDS)
    for depth, weight in ((_ROUNDS, 1.0), (2, 1.0), (1, 2.0), (_ROUNDS, 0.25), (0, 1.0)):
        yield grow(problem, weight * distances[depth])


def surroundings_distances(problem: AssignmentProblem, rounds: int) -> list[Float[np.ndarray, "n n"]]:
    """Number of rounds of color refinement after which two nodes have different colors, of the first 0, 1, ... rounds.

    Among equals, nodes with few counterparts come first: a small amount is added for each candidate.
    """
    ends = ((problem.tail, problem.head), (problem.other_tail, problem.other_head))
    colors = [np.array(labels + [-1] * (problem.n - len(labels))) for labels in problem.node_labels]
    distances = [np.zeros((problem.n, problem.n))]
    for _ in range(rounds):
        numbers: dict[tuple, int] = {}
        finer = []
        for color, (tail, head), labels in zip(colors, ends, problem.link_labels, strict=True):
            near: list[list[tuple[int, int]]] = [[] for _ in color]
            for i, j, label in zip(tail.tolist(), head.tolist(), labels, strict=True):
                near[i].append((label, int(color[j])))
            keys = [(int(own), tuple(sorted(around))) for own, around in zip(color, near, strict=True)]
            finer.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys]))
        colors = finer
        distances.append(distances[-1] + (colors[0][:, None] != colors[1][None, :]))
    return [distance + 1e-3 * _num_alike(distance) for distance in distances]


def _num_alike(distance: Float[np.ndarray, "n n"]) -> Int[np.ndarray, "n n"]:
    """Number of the nearest counterparts of the one node and of the other, together."""
    alike = distance == distance.min(1, keepdims=True)
    return alike.sum(1, keepdims=True) + alike.sum(0, keepdims=True)


def grow(problem: AssignmentProblem, bias: Float[np.ndarray, "n n"]) -> Int[np.ndarray, " n"]:
    """Align greedily: again and again the pair that costs least, given the pairs that are aligned already.

    Neighbors of aligned pairs gain from the edges between them, so that a symmetric ring is aligned in one direction.
    """
    n, head, other_head, saving = problem.n, problem.head, problem.other_head, problem.saving
    score = problem.node_cost + bias
    score[problem.num_real :] += 1e3  # empty slots come last
    image = np.full(n, -1)
    for _ in range(n):
        i, k = divmod(int(score.argmin()), n)
        image[i] = k
        links, others = problem.links_of[i][:, None], problem.other_links_of[k]
        score[head[links], other_head[others]] -= saving[links, others]
        score[i, :] = score[:, k] = np.inf
    return image


def improve(problem: AssignmentProblem, image: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Exchange the images of two nodes while that lowers the cost, always the pair that lowers it most."""
    image = image.copy()
    while True:
        gain = exchange_gains(problem, image)
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


def exchange_gains(problem: AssignmentProblem, image: np.ndarray) -> np.ndarray:
    """Decrease of the cost if nodes i and j exchange their images, for each pair."""
    tail, head, each = problem.tail, problem.head, np.arange(len(problem.tail))
    between = problem.other_link_index[image].take(image, axis=1)  # links of the images of two nodes
    saved = problem.padded_saving[each[:, None], between.T[head]]  # if the tail had another node's image
    value = _summed_by_tail(problem, saved) - problem.node_cost[:, image]
    own = value.diagonal()
    gain = value + value.T - own[:, None] - own[None, :]
    # A link between i and j counts at both ends as it is, and at neither once exchanged.
    gain[tail, head] += saved[each, tail] + problem.padded_saving[each, between[head, tail]]
    return gain


def _summed_by_tail(problem: AssignmentProblem, rows: Float[np.ndarray, "p n"]) -> Float[np.ndarray, "n n"]:
    """Sum of the rows of each node's links."""
    padded = np.vstack([rows, np.zeros(problem.n)])
    return sum((padded[links] for links in problem.padded_links.T), start=np.zeros((problem.n, problem.n)))


def completed(n: int, pairs: dict[int, int]) -> Int[np.ndarray, " n"]:
    """An alignment of `n` nodes that has some pairs; the other nodes are aligned in order."""
    image = np.full(n, -1)
    for i, k in pairs.items():
        image[i] = k
    image[image < 0] = np.setdiff1d(np.arange(n), image)
    return image


def isomorphism(problem: AssignmentProblem) -> Int[np.ndarray, " n"] | None:
    """The alignment of a graph with its copy; None if the graphs are no copies of each other."""
    ends = ((problem.tail, problem.head), (problem.other_tail, problem.other_head))
    g, h = (
        (
            [str(label) for label in nodes],
            [(int(i), int(j), str(label)) for i, j, label in zip(*pair, links, strict=True)],
        )
        for nodes, links, pair in zip(problem.node_labels, problem.link_labels, ends, strict=True)
    )
    # Links are listed from either end, each with a label of its own.
    image = find_isomorphism(g, h, directed=True)
    return None if image is None else np.array(image)
