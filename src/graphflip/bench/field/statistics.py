"""Statistics of the field: bootstrap intervals of means, and ranks of methods with a test over sets and oracles."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats
from torch import Tensor

RESAMPLES = 1000
LEVEL = 0.95


def interval(values: Float[Tensor, " b"], seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """Bootstrap interval of 95 % of the mean over graphs; values that are not known are left out.

    Args:
        values: One number for each graph.
        seed: Seed of the resampling.
        resamples: Number of samples drawn with replacement.

    Returns:
        Lower and upper end; None if no value is known.
    """
    known = values[~values.isnan()].double().numpy()
    if not len(known):
        return None
    rng = np.random.default_rng(seed)
    means = known[rng.integers(len(known), size=(resamples, len(known)))].mean(1)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods over blocks (a set with an oracle each), and the tests of Friedman and Nemenyi.

    Args:
        ranks: Mean rank of each method, 1 is best; the best first.
        blocks: Number of blocks.
        p_value: Probability of such ranks if all methods were alike (Friedman); None with fewer than three methods or
            two blocks.
        critical_difference: Difference of two mean ranks from which on the two methods differ at 95 % (Nemenyi).
    """

    ranks: Mapping[str, float]
    blocks: int
    p_value: float | None
    critical_difference: float | None

    def alike(self) -> list[tuple[str, ...]]:
        """Largest groups of methods, neighbors in rank, that the test does not tell apart."""
        names, groups = list(self.ranks), []
        reach = self.critical_difference
        if reach is None:
            return [tuple(names)]
        for start, name in enumerate(names):
            stop = start
            while stop + 1 < len(names) and self.ranks[names[stop + 1]] - self.ranks[name] < reach:
                stop += 1
            if stop > start and not (groups and groups[-1][-1] == names[stop]):
                groups.append(tuple(names[start : stop + 1]))
        return groups


def ranking(blocks: Sequence[Mapping[str, float]], higher_is_better: bool) -> Ranking | None:
    """Rank the methods that all blocks have.

    Args:
        blocks: For each set with an oracle, the figure of each method.
        higher_is_better: True ranks the largest figure first.

    Returns:
        The ranking; None if fewer than two methods are in all blocks. Equal figures share their mean rank.

    Example:
        >>> blocks = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 0.8, "b": 0.6, "c": 0.2}]
        >>> dict(ranking(blocks, higher_is_better=True).ranks)
        {'a': 1.0, 'b': 2.0, 'c': 3.0}
    """
    names = [name for name in (blocks[0] if blocks else {}) if all(name in block for block in blocks)]
    if len(names) < 2:
        return None
    table = np.array([[block[name] for name in names] for block in blocks], dtype=float)
    ranks = np.array([stats.rankdata(-row if higher_is_better else row) for row in table])
    mean = ranks.mean(0)
    k, n = len(names), len(blocks)
    tested = k > 2 and n > 1
    p_value = float(stats.friedmanchisquare(*ranks.T).pvalue) if tested and ranks.std(1).any() else None
    critical = float(stats.studentized_range.ppf(LEVEL, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
    order = sorted(zip(mean.tolist(), names, strict=True))
    return Ranking({name: rank for rank, name in order}, n, p_value, critical if n > 1 else None)
