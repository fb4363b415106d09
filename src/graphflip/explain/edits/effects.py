"""Effects of single changes on the prediction, summed up for each node and edge of the factual."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from ..claims.importance import Importance
from ..goals.goal import AbstractGoal
from .candidates import Candidate

Place = TypeVar("Place", bound=Hashable)


def importance_of(singles: Iterable[Candidate], root: Candidate, goal: AbstractGoal) -> Importance | None:
    """Sum up the candidates of a search's first round, each one move away from the root; None if there were none.

    Args:
        singles: Candidates that the classifier has seen.
        root: The factual as a candidate, with the classifier's vote.
        goal: The target.

    Returns:
        The mean effect at each place; a candidate that changes several nodes counts at each for its share.
    """
    nodes: defaultdict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    edges: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for candidate in singles:
        effect = _effect(candidate, root, goal)
        touched = [i for i in candidate.counted.touched if i in root.sketch.nodes]
        if not touched or not math.isfinite(effect):
            continue
        share = 1.0 / len(touched)
        for i in touched:
            _add(nodes[i], effect, share)
        for (i, j), change in candidate.counted.edges.items():
            if change.before is not None:
                _add(edges[i, j], effect, share)
    return Importance(_means(nodes), _means(edges)) if nodes else None


def _effect(candidate: Candidate, root: Candidate, goal: AbstractGoal) -> float:
    """Rise of the target's probability, or of the score where values are predicted."""
    if goal.unit == "probability":
        return candidate.probability - root.probability
    return candidate.classifier_score - root.classifier_score


def _add(sums: list[float], effect: float, share: float) -> None:
    sums[0] += effect * share
    sums[1] += share


def _means(sums: Mapping[Place, list[float]]) -> dict[Place, float]:
    return {place: total / weight for place, (total, weight) in sums.items()}
