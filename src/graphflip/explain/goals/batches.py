"""Many graphs at once: a batch of outputs with a goal for each graph, and outputs of several models or draws."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from .goal import AbstractGoal


def score_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """Score the outputs of each graph by its own goal."""
    return _each(goals, lambda goal, rows: goal.score(rows), outputs)


def reached_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Bool[Tensor, "b *s"]:
    """True where a graph reaches its goal; outputs that are not finite reach nothing."""
    return _each(goals, lambda goal, rows: goal.reached(rows), outputs).bool() & outputs.isfinite().all(-1)


def shown_each(goals: Sequence[AbstractGoal], outputs: Float[Tensor, "b *s c"]) -> Float[Tensor, "b *s"]:
    """Probability of each graph's goal, or its predicted value."""
    return _each(goals, lambda goal, rows: goal.shown(rows), outputs)


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


def _each(goals: Sequence[AbstractGoal], function: Callable[[AbstractGoal, Tensor], Tensor], outputs: Tensor) -> Tensor:
    """Apply a function of a goal and some rows to all rows, those with the same goal together."""
    if not goals:
        return outputs.new_zeros(outputs.shape[:-1])
    groups: dict[AbstractGoal, list[int]] = {}
    for row, goal in enumerate(goals):
        groups.setdefault(goal, []).append(row)
    if len(groups) == 1:
        return function(goals[0], outputs)
    order = torch.tensor([row for rows in groups.values() for row in rows], device=outputs.device)
    parts = outputs[order].split([len(rows) for rows in groups.values()])
    found = torch.cat([function(goal, part) for goal, part in zip(groups, parts, strict=True)])
    return found[order.argsort()]
