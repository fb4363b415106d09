"""Coverage: which few of many sets cover most, chosen greedily, with a bound on what any choice could do.

The number of graphs covered is a monotone submodular function of the sets, so the greedy choice of k covers at least
1 - 1/e of what the best k do (Nemhauser, Wolsey and Fisher 1978); the bound from the gains that are left is tighter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool


@dataclass(frozen=True, eq=False)
class Cover:
    """Sets in the order in which they were chosen.

    Args:
        chosen: Their numbers.
        covered: Number of elements that the first 1, 2, ... of them cover.
        bounds: For each of these counts, a number that no choice of as many sets can exceed.

    Example:
        >>> cover = greedy_cover(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]], dtype=bool), 2)
        >>> cover.chosen, cover.covered, cover.bounds
        ((0, 1), (2, 3), (2, 3))
    """

    chosen: tuple[int, ...]
    covered: tuple[int, ...]
    bounds: tuple[int, ...]


def greedy_cover(sets: Bool[np.ndarray, "s n"], k: int, rank: Sequence[tuple] | None = None) -> Cover:
    """Choose up to k sets, each time the one that adds most.

    Args:
        sets: Which elements each set has.
        k: Largest number of sets; sets that add nothing are not chosen.
        rank: For each set a value that sorts first what is preferred among equal gains, different for different sets;
            by default its number.

    Returns:
        The choice, with a bound for every number of sets up to k.
    """
    order = (
        np.arange(len(sets)) if rank is None else np.array(sorted(range(len(sets)), key=rank.__getitem__), dtype=int)
    )
    ranked = sets[order] if len(sets) else sets
    covered = np.zeros(sets.shape[1] if sets.ndim == 2 else 0, dtype=bool)
    chosen, counts, limits = [], [], [np.inf] * k
    while True:
        gains = (ranked & ~covered).sum(1) if len(ranked) else np.zeros(0, dtype=int)
        _tighten(limits, int(covered.sum()), gains, len(covered))
        if len(chosen) == k or not len(gains) or not gains.max():
            break
        at = int(gains.argmax())
        covered |= ranked[at]
        chosen.append(int(order[at]))
        counts.append(int(covered.sum()))
    return Cover(tuple(chosen), tuple(counts), tuple(int(limit) for limit in limits[: len(chosen)]))


def _tighten(limits: list[float], covered: int, gains: np.ndarray, total: int) -> None:
    """Lower the bounds: any k sets cover at most what is covered and the k largest gains that are left."""
    largest = np.sort(gains)[::-1].cumsum()
    for k in range(len(limits)):
        most = covered + (int(largest[min(k, len(largest) - 1)]) if len(largest) else 0)
        limits[k] = float(min(limits[k], most, total))
