"""What classifiers of other makes return, as logits of at least two classes, or as values."""

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import WrongOutput

ReturnType = Literal["raw", "log_probs", "probs", "value"]
"""What a model returns, in PyG's words: logits, logarithms of probabilities, or probabilities; or a predicted value."""

_LEAST = 1e-7  # a probability of 0 would have no logarithm


def as_logits(returned: Any, num_graphs: int, return_type: ReturnType) -> Float[Tensor, "b c"]:
    """Logits of what a model returned; one number for each graph is that of the second of two classes, or a value."""
    if not isinstance(returned, Tensor) or not returned.is_floating_point():
        came = f"a tensor of {returned.dtype}" if isinstance(returned, Tensor) else f"a {type(returned).__name__}"
        raise WrongOutput(
            f"A classifier must return a floating-point tensor, graphs x classes; got {came}. "
            "Return the logits alone, or wrap the model in a function that does."
        )
    rows = returned[:, None] if returned.ndim == 1 else returned
    if rows.ndim != 2 or len(rows) != num_graphs or not rows.shape[1]:
        raise WrongOutput(
            f"A classifier must return one row for each graph, here {num_graphs}; got shape {tuple(returned.shape)}. "
            "Pool the nodes of each graph, with `batch`, before the last layer."
        )
    if return_type == "value":
        if rows.shape[1] != 1:
            raise WrongOutput(f"A model of values must return one number for each graph; it returns {rows.shape[1]}.")
        return rows
    if return_type == "probs":
        rows = torch.cat([1 - rows, rows], 1) if rows.shape[1] == 1 else rows
        return rows.clamp(min=_LEAST).log()
    return torch.cat([torch.zeros_like(rows), rows], 1) if rows.shape[1] == 1 else rows


def check_number_of_classes(found: int, expected: int | None) -> None:
    """Raise if a classifier has another number of classes than it was said to have."""
    if expected is not None and found != expected:
        raise WrongOutput(
            f"The classifier must have {expected} classes; it returns {found} for each graph. "
            "Correct `num_classes`, or the width of the last layer."
        )


def check_scale(logits: Float[Tensor, "b c"], return_type: ReturnType) -> None:
    """Raise if the numbers are plainly of another kind than they were said to be."""
    if return_type == "value":
        return
    total = logits.exp().sum(-1) if return_type != "raw" else logits.sum(-1)
    is_one = bool(((total - 1).abs() < 1e-3).all())
    if return_type == "raw" and is_one and bool((logits >= 0).all()):
        raise WrongOutput(
            "A classifier must return logits unless said otherwise; these rows are probabilities (they sum to 1). "
            'Give `return_type="probs"`.'
        )
    if return_type != "raw" and not is_one:
        raise WrongOutput(
            f'With `return_type="{return_type}"` the probabilities of each graph must sum to 1; they sum to '
            f'{float(total[0]):.3g}. Give `return_type="raw"` if these are logits.'
        )
