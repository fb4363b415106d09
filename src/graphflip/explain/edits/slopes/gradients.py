"""Gradients of the models' scores with respect to every node, edge and pair of nodes of a graph, by a backward pass."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....graph import Graph
from ....models.networks.classifier import AbstractClassifier
from ...goals.batches import mean_outputs
from ...goals.goal import AbstractGoal

# Log-probabilities above this count as this: beyond, a rise has no meaning.
_SURE = -1e-4

# Binary digits to which gradients are rounded, the steepest of a graph having all of them. Equal places of a graph have
# equal gradients but for the order in which a processor adds numbers up, and are to tie on every one.
_DIGITS = 10


class Gradient(NamedTuple):
    """Rise of a score by a unit of everything in one graph, on the scale of log-odds.

    Args:
        nodes: By the existence of each node, and by its attributes.
        pairs: By an edge between two nodes, and by the edge's attributes; if edges have no direction, of both entries.
    """

    nodes: NDArray[np.float32]
    pairs: NDArray[np.float32]


def gradients(models: Sequence[AbstractClassifier], graphs: Graph, goal: AbstractGoal) -> list[Gradient] | None:
    """Gradients at some hard graphs of the score that the models give on average; None if no model has any."""
    parts = B, V, A, E = [getattr(graphs, name).detach().clone().requires_grad_() for name in "BVAE"]
    with torch.enable_grad():
        soft = Graph.trusted(B, V, A, E, graphs.schema)
        outputs = [said for model in models if model.has_gradients and (said := model(soft)).requires_grad]
        if not outputs:
            return None
        score = linked(goal.lead(mean_outputs(torch.stack(outputs))), goal)
        found = torch.autograd.grad(score.sum(), parts, allow_unused=True)
    known = [g if isinstance(g, Tensor) else torch.zeros_like(part) for part, g in zip(parts, found, strict=True)]
    B, V, A, E = known
    nodes, pairs = torch.cat([B[..., None], V], -1), torch.cat([A[..., None], E], -1)
    if not graphs.schema.directed:
        pairs = pairs + pairs.transpose(1, 2)
    return [_rounded(*each) for each in zip(_finite(nodes), _finite(pairs), strict=True)]


def linked(score: Tensor, goal: AbstractGoal) -> Tensor:
    """A score on a scale on which effects add up: log-odds, if it is a log-probability."""
    if goal.unit != "probability":
        return score
    score = score.clamp(max=_SURE)
    return score - torch.log(-torch.expm1(score))


def _rounded(nodes: NDArray[np.float32], pairs: NDArray[np.float32]) -> Gradient:
    """The gradient in multiples of one small number; the range and the digits of single precision hold them all."""
    steepest = max(float(np.abs(part).max(initial=0.0)) for part in (nodes, pairs))
    grain = np.float32(2.0 ** (max(np.frexp(steepest)[1], -100) - _DIGITS))
    return Gradient((nodes / grain).round() * grain, (pairs / grain).round() * grain)


def _finite(values: Tensor) -> NDArray[np.float32]:
    return values.nan_to_num(0.0, 0.0, 0.0).numpy()
