"""Outputs of users' classifiers, brought to logits of at least two classes, or to values."""

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import WrongOutput
from .checks import check_word

ReturnType = Literal["raw", "log_probs", "probs", "value"]
"""Kind of a model's output, in PyG's words: logits, logarithms of probabilities, or probabilities; or a value."""

_LEAST = 1e-7  # a probability of 0 would have no logarithm


def as_logits(returned: Any, num_graphs: int, return_type: ReturnType) -> Float[Tensor, "b c"]:
    """Turn a model's output into logits; a single number for each graph is the second of two classes, or a value."""
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


def checked_return_type(return_type: ReturnType) -> ReturnType:
    """Return the same word; raises ConfigError if it is not one of `ReturnType`."""
    check_word("return_type", return_type, ReturnType)
    return return_type


def check_number_of_classes(returned: int, expected: int | None) -> None:
    """Raise WrongOutput if a classifier returns another number of classes than the user expects."""
    if expected is not None and returned != expected:
        raise WrongOutput(
            f"The classifier must have {expected} classes; it returns {returned} for each graph. "
            "Correct `num_classes`, or the width of the last layer."
        )


def check_scale(logits: Float[Tensor, "b c"], return_type: ReturnType) -> None:
    """Raise WrongOutput if the numbers are clearly of another kind than `return_type` says."""
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
