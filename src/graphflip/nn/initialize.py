"""Drawing weights from a given generator, so that a seed alone decides a model's first state."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@contextmanager
def shapes_only() -> Iterator[None]:
    """Give modules that are made in the block weights that are shapes alone, which nobody draws numbers for."""
    with torch.device("meta"), _WithoutDraws():
        yield


class _WithoutDraws(TorchFunctionMode):
    """Leaves out all that `torch.nn.init` would do."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def reset_parameters(module: nn.Module, rng: torch.Generator) -> None:
    """Draw every weight below `module` anew: layers with a `reset` of their own, and `nn.Linear`."""
    if hasattr(module, "reset"):
        module.reset(rng)  # pyright: ignore[reportCallIssue]
        return
    if isinstance(module, nn.Linear):
        # Variance of outputs equal to that of inputs.
        draw_normal(module.weight, module.in_features**-0.5, rng)
        if module.bias is not None:  # pyright: ignore[reportUnnecessaryComparison]
            nn.init.zeros_(module.bias)
    for child in module.children():
        reset_parameters(child, rng)


def draw_normal(weight: Tensor, std: float, rng: torch.Generator | None) -> None:
    """Fill a weight; one that is a shape alone (device "meta") stays so, and torch need not import its compiler."""
    if not weight.is_meta:
        nn.init.normal_(weight, std=std, generator=rng)
