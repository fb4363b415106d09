"""Drawing weights from a given generator, so that a seed alone decides a model's first state."""

import torch
from torch import nn


def reset_parameters(module: nn.Module, rng: torch.Generator) -> None:
    """Draw every weight below `module` anew: layers with a `reset` of their own, and `nn.Linear`."""
    if hasattr(module, "reset"):
        module.reset(rng)  # pyright: ignore[reportCallIssue]
        return
    if isinstance(module, nn.Linear):
        # Variance of outputs equal to that of inputs.
        nn.init.normal_(module.weight, std=module.in_features**-0.5, generator=rng)
        if module.bias is not None:  # pyright: ignore[reportUnnecessaryComparison]
            nn.init.zeros_(module.bias)
    for child in module.children():
        reset_parameters(child, rng)
