"""Results that several models compute of the same graphs, and share."""

from collections.abc import Callable
from typing import TypeVar

import torch

from ..graph import Graph

Result = TypeVar("Result")


def shared(graph: Graph, name: str, compute: Callable[[Graph], Result]) -> Result:
    """Compute something of a batch of graphs; without gradients the result is kept with the graphs under a name."""
    if torch.is_grad_enabled():
        return compute(graph)
    kept = graph.__dict__
    if name not in kept:
        kept[name] = compute(graph)
    return kept[name]
