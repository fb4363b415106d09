"""Intervals: what a share in a sample says of the share in all."""

import math


def wilson_interval(count: int, total: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Compute the 95 % confidence interval of a share (Wilson 1927).

    Args:
        count: Number of successes.
        total: Number of trials.
        z: Quantile of the normal distribution; the default is that of 95 %.

    Returns:
        Lower and upper end, from 0 to 1; both ends if there were no trials.

    Example:
        >>> [round(end, 3) for end in wilson_interval(8, 10)]
        [0.49, 0.943]
        >>> wilson_interval(0, 0)
        (0.0, 1.0)
    """
    if not total:
        return 0.0, 1.0
    share, weight = count / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / total + weight / total / 4)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
