"""Linear assignment by scipy, whose optimizers are imported at the first use: most answers need none of them."""

import numpy as np
from jaxtyping import Float, Int


def linear_assignment(
    cost: Float[np.ndarray, "p q"], maximize: bool = False
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """Rows and columns of the pairs whose costs have the least sum, or the greatest, each row and column once."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(cost, maximize=maximize)
