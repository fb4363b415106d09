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
class Neighborhoods:
    """Candidates with the inputs that they are proved to be near.

    Args:
        candidates: Graphs of the wanted class.
        near: For each candidate, True for inputs within theta of it.
    """

    candidates: tuple[Graph, ...]
    near: Bool[np.ndarray, "c g"]

    def choose(self, num: int, among: Bool[np.ndarray, " g"] | None = None) -> Cover:
        """Choose candidates that are near as many inputs as possible, or as many of some of them."""
        return greedy_cover(self.near if among is None else self.near[:, among], num)


def neighborhoods(
    inputs: Sequence[Graph],
    candidates: Sequence[Graph],
    theta: float = 0.1,
    most_candidates: int = 150,
    most_pairs: int = 80,
) -> Neighborhoods:
    """Find the inputs that candidates are near.

    Args:
        inputs: Graphs to stand for.
        candidates: Graphs of the wanted class.
        theta: Largest normalized edit distance.
        most_candidates: Candidates that are compared with inputs, those that look like most inputs first.
        most_pairs: Inputs that a candidate is aligned with, the most alike first.

    Returns:
        The candidates that were compared; nearness is proved, so that coverage may be more, and is not less.
    """
    profiles, others = Profiles(inputs), Profiles(candidates)
    apart = unlikeness(profiles, others).numpy()
    apart[~may_be_near(profiles, others, theta).numpy()] = np.inf
    promise = np.exp(-apart / 0.05).sum(1)
    tried = np.argsort(-promise, kind="stable")[:most_candidates]
    near = np.zeros((len(tried), len(inputs)), dtype=bool)
    for row, c in enumerate(tried):
        for x in np.argsort(apart[c], kind="stable")[:most_pairs]:
            if apart[c, x] > _UNLIKE:
                break
            limit = theta * float(profiles.sizes[x] + others.sizes[c])
            near[row, x] = upper_bound(inputs[x], candidates[c], limit) <= limit
    return Neighborhoods(tuple(candidates[c] for c in tried), near)


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
