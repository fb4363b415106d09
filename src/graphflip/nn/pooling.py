"""Sum, mean and maximum over the nodes of graphs, with gradients that do not depend on the processor."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor

# Rounding errors of features, relative to them.
_ROUNDING = 1e-5


def pooled_nodes(
    states: Iterable[Float[Tensor, "b n d"]], count: Float[Tensor, "b 1"], training: bool
) -> Float[Tensor, "b e"]:
    """Sum, mean and maximum over the nodes, for the features at each depth in turn.

    Args:
        states: Features of the nodes at each depth; those of empty slots are zero.
        count: Number of nodes, at least 1.
        training: True if gradients are for weights; those for graphs go in equal parts to nodes that are equal.
    """
    top = shared_maximum if torch.is_grad_enabled() and not training else torch.Tensor.amax
    total, highest = (torch.stack(part) for part in zip(*((h.sum(1), top(h, 1)) for h in states), strict=True))
    # Sums are divided by a typical size, so that they start on the scale of means. The maximum is of positive parts, so
    # that an empty slot, which is zero, never wins.
    return torch.cat([total / 20, total / count, highest.relu()], -1).transpose(0, 1).flatten(1)


def shared_maximum(h: Float[Tensor, "b n d"], axis: int) -> Float[Tensor, "b d"]:
    """Maximum whose gradient goes in equal parts to all that are as large, up to rounding.

    Which of two nodes at equal places is the larger one by its last digit would depend on the processor.
    """
    with torch.no_grad():
        highest = h.amax(axis, keepdim=True)
        are_highest = (h >= highest - _ROUNDING * (1 + highest.abs())).to(h.dtype)
        share = are_highest / are_highest.sum(axis, keepdim=True)
    return highest.squeeze(axis) + ((h - h.detach()) * share).sum(axis)  # what is added is zero, and has a gradient
