"""From logits to graphs: most likely, sampled, or relaxed with the Gumbel-softmax (Jang et al., 2017)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...columns import map_categories
from ...graph import Graph
from ...schema import Categories, Continuous


@dataclass(frozen=True)
class MostLikely:
    """Take the most likely value of everything; gradients pass straight through to the probabilities."""

    def binary(self, logits: Tensor) -> Tensor:
        prob = logits.sigmoid()
        return straight_through((logits > 0).to(prob.dtype), prob)

    def category(self, logits: Tensor) -> Tensor:
        logits = logits.movedim(-1, 1)
        return straight_through(_one_hot(logits.detach()), logits.softmax(1)).movedim(1, -1)


@dataclass(frozen=True)
class Gumbel:
    """Draw from the Gumbel-softmax at temperature `tau`; `hard` gives 0/1 forward and relaxed gradients backward.

    There is one generator per graph, so that what a graph draws does not depend on its neighbors in the batch.
    """

    rngs: Sequence[torch.Generator]
    tau: float = 1.0
    hard: bool = True

    def binary(self, logits: Tensor) -> Tensor:
        uniform = self._uniform(logits).clamp_(1e-6, 1 - 1e-6)
        noisy = (logits + uniform.log() - (-uniform).log1p()) / self.tau  # the difference of two Gumbels is logistic
        relaxed = noisy.sigmoid()
        return straight_through((noisy > 0).to(relaxed.dtype), relaxed) if self.hard else relaxed

    def category(self, logits: Tensor) -> Tensor:
        logits = logits.movedim(-1, 1)  # categories next to the batch: torch is fast along axes that are not the last
        noise = self._uniform(logits).clamp_(1e-6, 1 - 1e-6).log_().neg_().log_()
        noisy = (logits - noise) / self.tau
        relaxed = noisy.softmax(1)
        drawn = straight_through(_one_hot(noisy.detach()), relaxed) if self.hard else relaxed
        return drawn.movedim(1, -1)

    def _uniform(self, like: Tensor) -> Tensor:
        rows = [torch.rand(like.shape[1:], generator=rng) for rng in self.rngs]
        return torch.stack(rows).to(like)


@dataclass(frozen=True)
class Soft:
    """Probabilities themselves: no draw, no rounding."""

    def binary(self, logits: Tensor) -> Tensor:
        return logits.sigmoid()

    def category(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)


Inference = MostLikely | Gumbel | Soft
"""The ways to infer a graph from the decoder's distribution."""


def draw_columns(
    infer: Inference, parameters: Tensor, slices: Sequence[tuple[Categories | Continuous, slice]]
) -> Tensor:
    """Attributes from decoder outputs: a draw for each group of categories, the mean for continuous columns."""
    return map_categories(infer.category, parameters, slices)


def rounded(graph: Graph) -> Graph:
    """Hard graph of a straight-through graph: zeros and ones exactly, without gradients."""
    graph = graph.detach()
    B, A = graph.B.round(), graph.A.round()
    V = map_categories(torch.round, graph.V, graph.schema.node_slices()) * B[..., None]
    E = map_categories(torch.round, graph.E, graph.schema.edge_slices()) * A[..., None]
    return Graph.trusted(B, V, A, E, graph.schema)


def straight_through(hard: Tensor, relaxed: Tensor) -> Tensor:
    """The value of `hard` with the gradient of `relaxed`."""
    return _StraightThrough.apply(relaxed, hard)  # pyright: ignore[reportReturnType]


class _StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, relaxed: Tensor, hard: Tensor) -> Tensor:
        return hard.view_as(hard)

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


def _one_hot(scores: Float[Tensor, "b c *rest"]) -> Float[Tensor, "b c *rest"]:
    # `max` gives the same place as `argmax`, several times faster along this axis.
    return torch.zeros_like(scores).scatter_(1, scores.max(1, keepdim=True).indices, 1.0)
