"""Columns of V and E, group by group."""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from .schema import Categories, Continuous


def map_categories(
    apply: Callable[[Tensor], Tensor],
    values: Float[Tensor, "*of d"],
    slices: Iterable[tuple[Categories | Continuous, slice]],
) -> Float[Tensor, "*of d"]:
    """Apply a function to each group of categories; continuous columns stay as they are.

    Args:
        apply: Function of one group of columns ("*of width") that keeps its shape: a softmax, a draw, rounding.
        values: Rows of V or E, or logits of them.
        slices: `Schema.node_slices()` or `Schema.edge_slices()`.

    Returns:
        The columns in the same order.
    """
    parts = [values[..., at] if column.is_continuous else apply(values[..., at]) for column, at in slices]
    return torch.cat(parts, -1) if parts else values
