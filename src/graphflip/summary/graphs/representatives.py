"""Representatives: a few counterfactual graphs that are near as many inputs as possible (Kosan et al. 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from ...graph import Graph
from ..coverage import Cover, greedy_cover
from .nearness import Profiles, may_be_near, unlikeness, upper_bound

_UNLIKE = 0.16
"""Pairs whose surroundings differ by more are hardly ever near: they are not aligned."""


@dataclass(frozen=True, eq=False)
class Representatives:
    """Counterfactual graphs that stand for inputs.

    Args:
        graphs: The graphs, in the order of the greedy choice.
        cover: Numbers of the inputs that the first 1, 2, ... are proved to be near, with bounds.
        near: For each graph the inputs that it is proved to be near.
    """

    graphs: tuple[Graph, ...]
    cover: Cover
    near: Bool[np.ndarray, "k g"]


def representatives(
    inputs: Sequence[Graph],
    candidates: Sequence[Graph],
    num: int = 10,
    theta: float = 0.1,
    most_candidates: int = 150,
    most_pairs: int = 80,
) -> Representatives:
    """Choose graphs that are near as many inputs as possible.

    Args:
        inputs: Graphs to stand for.
        candidates: Graphs of the wanted class.
        num: Number of graphs to choose.
        theta: Largest normalized edit distance.
        most_candidates: Candidates that are compared with inputs, those that look like most inputs first.
        most_pairs: Inputs that a candidate is aligned with, the most alike first.

    Returns:
        The choice; nearness is proved, so that coverage may be more, and is not less.
    """
    profiles, others = Profiles(inputs), Profiles(candidates)
    apart = unlikeness(profiles, others).numpy()
    apart[~may_be_near(profiles, others, theta).numpy()] = np.inf
    promise = (np.exp(-apart / 0.05)).sum(1)
    tried = np.argsort(-promise, kind="stable")[:most_candidates]
    near = np.zeros((len(tried), len(inputs)), dtype=bool)
    for row, c in enumerate(tried):
        for x in np.argsort(apart[c], kind="stable")[:most_pairs]:
            if apart[c, x] > _UNLIKE:
                break
            limit = theta * float(profiles.sizes[x] + others.sizes[c])
            near[row, x] = upper_bound(inputs[x], candidates[c], limit) <= limit
    cover = greedy_cover(near, num, [(int(c),) for c in tried])
    chosen = list(cover.chosen)
    return Representatives(tuple(candidates[int(tried[row])] for row in chosen), cover, near[chosen])


def distances(inputs: Sequence[Graph], graphs: Sequence[Graph]) -> np.ndarray:
    """Upper bounds of the normalized distance from each input to the nearest of some graphs."""
    nearest = []
    for graph in inputs:
        size = float(graph.num_nodes[0] + graph.num_edges[0])
        bounds = [
            upper_bound(graph, other) / (size + float(other.num_nodes[0] + other.num_edges[0])) for other in graphs
        ]
        nearest.append(min(bounds, default=1.0))
    return np.array(nearest)
