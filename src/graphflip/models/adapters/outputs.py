"""Outputs of users' classifiers: which of several is meant, what kind of numbers it has, and its logits or values."""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ...errors import WrongOutput
from .checks import check_word

ReturnType = Literal["raw", "log_probs", "probs", "value"]
"""Kind of a model's output, in PyG's words: logits, logarithms of probabilities, or probabilities; or a value."""

Place = int | str | None
"""Place of the output among several that a model returns: a position, a key or attribute; None if it returns one."""

_USUAL_KEYS = ("logits", "logit", "out", "output", "y", "y_hat", "pred", "preds", "prediction", "probs", "scores")
_LEAST = 1e-7  # a probability of 0 would have no logarithm


def taken(returned: Any, place: Place) -> Any:
    """The output at a place among several."""
    if place is None:
        return returned
    try:
        return (
            returned[place] if not isinstance(place, str) or isinstance(returned, Mapping) else getattr(returned, place)
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise WrongOutput(
            f"A model must return something at `output={place!r}`; it returned a {type(returned).__name__} without. "
            "Correct `output`."
        ) from error


def find_output(returned: Any, num_graphs: int) -> Place:
    """Find the logits among what a model returns: they have a row for each graph, and a usual name or few columns.

    Raises:
        WrongOutput: If nothing that it returns has a row for each graph.
    """
    if isinstance(returned, Tensor):
        return None
    if isinstance(returned, Mapping):
        parts = dict(returned)
    elif isinstance(returned, tuple | list) and not hasattr(returned, "_fields"):
        parts = dict(enumerate(returned))
    else:
        parts = {
            name: getattr(returned, name)
            for name in (*_USUAL_KEYS, *getattr(returned, "_fields", ()))
            if hasattr(returned, name)
        }
    rows = {place: part for place, part in parts.items() if _has_rows(part, num_graphs)}
    if not rows:
        raise WrongOutput(
            "A classifier must return a floating-point tensor, graphs x classes, alone or among others; got a "
            f"{type(returned).__name__} of {', '.join(map(_shape, parts.values())) or 'nothing'}. Return the logits."
        )
    named = [place for place in _USUAL_KEYS if place in rows]
    return named[0] if named else min(rows, key=lambda place: rows[place].numel())


def recognize_type(rows: Float[Tensor, "b c"]) -> ReturnType:
    """Recognize the kind of a model's output on many graphs.

    Rows that sum to 1 are probabilities, rows whose exponentials do are logarithms of them; a single column that lies
    between 0 and 1 for every graph is a probability; all else are logits.

    Raises:
        WrongOutput: If several columns lie between 0 and 1 for every graph, some near either end, without summing to 1.
    """
    inside = bool(((rows >= 0) & (rows <= 1)).all())
    if rows.shape[1] == 1:
        return "probs" if inside and len(rows) > 1 else "raw"
    if inside and _is_one(rows.sum(1)):
        return "probs"
    if bool((rows <= 1e-6).all()) and _is_one(rows.exp().sum(1)):
        return "log_probs"
    if inside and len(rows) >= 16 and 0 < float(rows.min()) < 0.1 and 0.9 < float(rows.max()) < 1:
        raise WrongOutput(
            f"A classifier's probabilities must sum to 1 for each graph; these {rows.shape[1]} columns lie between 0 "
            "and 1 but do not, as those of several questions at once do. Wrap the model in one that returns the column "
            'in question, or give `return_type="raw"` if they are logits.'
        )
    return "raw"


class LinearLayers(TorchFunctionMode):
    """Remembers what linear layers return while a model is called: their numbers are logits, whatever their range."""

    def __init__(self) -> None:
        super().__init__()
        self.returned: dict[int, bool] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor) and made.is_floating_point():
            at = made.data_ptr()
            # A view has another shape and the same memory; what returns its own argument may have changed it in place.
            is_view = any(isinstance(one, Tensor) and one is not made and one.data_ptr() == at for one in args)
            self.returned[at] = func is torch.nn.functional.linear or (is_view and self.returned.get(at, False))
        return made

    def made(self, rows: Tensor) -> bool:
        """True if an output is what a linear layer returned, in this shape or another."""
        return self.returned.get(rows.data_ptr(), False)


def as_logits(returned: Any, num_graphs: int, return_type: ReturnType) -> Float[Tensor, "b c"]:
    """Turn a model's output into logits; a single number for each graph is the second of two classes, or a value."""
    rows = output_rows(returned, num_graphs)
    if return_type == "value":
        if rows.shape[1] != 1:
            raise WrongOutput(f"A model of values must return one number for each graph; it returns {rows.shape[1]}.")
        return rows
    if return_type == "probs":
        rows = torch.cat([1 - rows, rows], 1) if rows.shape[1] == 1 else rows
        return rows.clamp(min=_LEAST).log()
    return torch.cat([torch.zeros_like(rows), rows], 1) if rows.shape[1] == 1 else rows


def output_rows(returned: Any, num_graphs: int) -> Float[Tensor, "b c"]:
    """The output of a model with a row for each graph; raises WrongOutput if it has another form."""
    if not isinstance(returned, Tensor) or not returned.is_floating_point():
        came = f"a tensor of {returned.dtype}" if isinstance(returned, Tensor) else f"a {type(returned).__name__}"
        raise WrongOutput(
            f"A classifier must return a floating-point tensor, graphs x classes; got {came}. "
            "Return the logits alone, or say which output they are: `output=0`. A model that gives class numbers can "
            "be wrapped with `BlackBox`."
        )
    rows = returned[:, None] if returned.ndim == 1 else returned
    if rows.ndim != 2 or len(rows) != num_graphs or not rows.shape[1]:
        raise WrongOutput(
            f"A classifier must return one row for each graph, here {num_graphs}; got shape {tuple(returned.shape)}. "
            "Pool the nodes of each graph, with `batch`, before the last layer."
        )
    return rows


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
    if return_type == "raw" and _is_one(total) and bool((logits >= 0).all()):
        raise WrongOutput(
            "A classifier must return logits unless said otherwise; these rows are probabilities (they sum to 1). "
            'Give `return_type="probs"`.'
        )
    if return_type != "raw" and not _is_one(total):
        raise WrongOutput(
            f'With `return_type="{return_type}"` the probabilities of each graph must sum to 1; they sum to '
            f'{float(total[0]):.3g}. Give `return_type="raw"` if these are logits.'
        )


def _is_one(totals: Float[Tensor, " b"]) -> bool:
    return bool(((totals - 1).abs() < 2e-3).all())


def _has_rows(part: Any, num_graphs: int) -> bool:
    return isinstance(part, Tensor) and part.is_floating_point() and part.ndim in (1, 2) and len(part) == num_graphs


def _shape(part: Any) -> str:
    return f"shape {tuple(part.shape)}" if isinstance(part, Tensor) else type(part).__name__
