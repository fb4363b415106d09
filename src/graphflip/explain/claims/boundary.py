"""Boundary: a prediction is unsure if the likeliest class leads the second by little."""

from jaxtyping import Float
from torch import Tensor

NEAR = 0.1
"""Largest lead of an unsure prediction; of two classes, the likelier then has at most 0.55."""


def lead(outputs: Float[Tensor, " c"]) -> float | None:
    """Probability of the likeliest class minus that of the second; None for a value, or for what is no number.

    Example:
        >>> import torch
        >>> round(lead(torch.tensor([0.2, 0.6, 0.2]).log()), 3)
        0.4
    """
    if len(outputs) < 2 or not bool(outputs.isfinite().all()):
        return None
    first, second = outputs.softmax(-1).topk(2).values.tolist()
    return first - second


def is_unsure(known_lead: float | None, probability: float | None, num_classes: int) -> bool:
    """True if a prediction is near the boundary between two classes.

    Args:
        known_lead: Lead of the likeliest class; None if it was not kept.
        probability: Probability of the target, which gives the lead where there are two classes.
        num_classes: Number of classes; 0 if it is not known.
    """
    if known_lead is None and probability is not None and num_classes in (0, 2):
        known_lead = abs(2 * probability - 1)
    return known_lead is not None and known_lead <= NEAR + 1e-6
