"""Column: one attribute of nodes or edges, a name or a number; its kind says which."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from .categories import Categories
from .continuous import Continuous

if TYPE_CHECKING:
    from torch import Tensor


Column = Annotated[Categories | Continuous, Field(discriminator="kind")]
"""One attribute of nodes or edges; in JSON its `kind` says which of the two classes it is."""


def map_categories(
    apply: Callable[["Tensor"], "Tensor"],
    values: "Tensor",
    slices: Iterable[tuple[Column, slice]],
) -> "Tensor":
    """Apply a function to each group of categories; continuous columns stay as they are.

    Args:
        apply: Function of one group of columns ("*of width") that keeps its shape: a softmax, a draw, rounding.
        values: Rows of V or E, or logits of them, of shape "*of d".
        slices: `Schema.node_slices()` or `Schema.edge_slices()`.

    Returns:
        The columns in the same order.
    """
    import torch

    parts = [values[..., at] if column.is_continuous else apply(values[..., at]) for column, at in slices]
    return torch.cat(parts, -1) if parts else values
