"""Many graphs at once: a batch of outputs with a goal for each graph, and outputs of several models or draws."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from .goal import AbstractGoal


def score_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """Score the outputs of each graph by its own goal."""
    return _each([goal.score for goal in goals], outputs)


def reached_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Bool[Tensor, "b *s"]:
    """True where a graph reaches its goal; outputs that are not finite reach nothing."""
    return _each([goal.reached for goal in goals], outputs).bool() & outputs.isfinite().all(-1)


def shown_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """Probability of each graph's goal, or its predicted value."""
    return _each([goal.shown for goal in goals], outputs)


def mean_outputs(outputs: Float[Tensor, "k *b c"]) -> Float[Tensor, "*b c"]:
    """Outputs of the ensemble of k models or draws: logarithms of mean probabilities, or mean values."""
    if len(outputs) == 1 or outputs.shape[-1] == 1:
        return outputs.mean(0)
    return outputs.log_softmax(-1).logsumexp(0) - math.log(len(outputs))


def outputs_of_labels(labels: Shaped[Tensor, " g"]) -> Float[Tensor, "g c"]:
    """Outputs of a model that predicts these class numbers, or these values."""
    if labels.is_floating_point():
        return labels[:, None]
    return torch.nn.functional.one_hot(labels).float()


def _each(functions: list[Callable[[Tensor], Tensor]], outputs: Tensor) -> Tensor:
    if not functions:
        return outputs.new_zeros(outputs.shape[:-1])
    return torch.stack([function(row) for function, row in zip(functions, outputs, strict=True)])
