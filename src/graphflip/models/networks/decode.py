"""From logits to values: most likely, drawn with the Gumbel-softmax (Jang et al., 2017), or probabilities as they are.

These are the ways of the paper's paragraph "Inferring Graph Reconstruction"; `PEGVAE.decode` takes one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...columns import map_categories
from ...graph import Graph
from ...schema import Categories, Continuous


@dataclass(frozen=True)
class MostLikely:
    """Take the most likely value of everything; gradients pass straight through to the probabilities.

    Example:
        >>> MostLikely().binary(torch.tensor([2.0, -1.0])).tolist()
        [1.0, 0.0]
    """

    def binary(self, logits: Tensor) -> Tensor:
        prob = logits.sigmoid()
        return straight_through((logits > 0).to(prob.dtype), prob)

    def category(self, logits: Tensor) -> Tensor:
        logits = logits.movedim(-1, 1)
        return straight_through(_one_hot(logits.detach()), logits.softmax(1)).movedim(1, -1)


@dataclass(frozen=True)
class Gumbel:
    """Draw from the Gumbel-softmax, so that gradients reach the logits of a draw.

    Args:
        rngs: One generator for each graph, so that a graph's draws do not depend on its neighbors in the batch.
        tau: Temperature; near 0 draws are nearly discrete, and gradients steep.
        hard: True gives 0 and 1 forward and relaxed gradients backward; False gives relaxed values.

    Example:
        >>> draw = Gumbel([torch.Generator().manual_seed(0)]).category(torch.tensor([[0.0, 5.0, 0.0]]))
        >>> draw.sum().item(), sorted(set(draw.flatten().tolist()))
        (1.0, [0.0, 1.0])
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
        drawn = torch.empty(like.shape)
        for row, rng in zip(drawn.unbind(0), self.rngs, strict=True):
            row.uniform_(generator=rng)
        return drawn.to(like)


@dataclass(frozen=True)
class Soft:
    """Take the probabilities themselves: no draw, no rounding.

    Example:
        >>> Soft().binary(torch.tensor([0.0])).tolist()
        [0.5]
    """

    def binary(self, logits: Tensor) -> Tensor:
        return logits.sigmoid()

    def category(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)


Inference = MostLikely | Gumbel | Soft
"""Any way to infer a graph from the decoder's distribution."""


def draw_columns(
    infer: Inference, parameters: Tensor, slices: Sequence[tuple[Categories | Continuous, slice]]
) -> Tensor:
    """Infer attributes from decoder outputs: each group of categories by `infer`, continuous columns as they are."""
    return map_categories(infer.category, parameters, slices)


def needed_slots(B: Float[Tensor, "b n"], infer: Inference) -> Int[Tensor, " m"] | None:
    """Slots that are a node in some graph of the batch; None if all are to be decoded.

    Empty slots are left out only where nothing is drawn and no gradient is asked for: these depend on all slots.
    """
    if torch.is_grad_enabled() or not isinstance(infer, MostLikely):
        return None
    kept = (B > 0.5).any(0).nonzero()[:, 0]
    return kept if 0 < len(kept) < B.shape[1] else None


def spread(graph: Graph, kept: Int[Tensor, " m"], num_slots: int) -> Graph:
    """Graph of `num_slots` slots, with the slots of `graph` at the places `kept` and empty ones elsewhere."""
    where = torch.full((num_slots,), len(kept), device=kept.device).index_copy(
        0, kept, torch.arange(len(kept), device=kept.device)
    )
    wide = graph.pad(len(kept) + 1)
    B, V, A, E = wide.B[:, where], wide.V[:, where], wide.A[:, where][:, :, where], wide.E[:, where][:, :, where]
    return Graph.trusted(B, V, A, E, graph.schema)


def rounded(graph: Graph) -> Graph:
    """Hard graph of a straight-through graph: zeros and ones exactly, without gradients."""
    graph = graph.detach()
    B, A = graph.B.round(), graph.A.round()
    V = map_categories(torch.round, graph.V, graph.schema.node_slices()) * B[..., None]
    E = map_categories(torch.round, graph.E, graph.schema.edge_slices()) * A[..., None]
    return Graph.trusted(B, V, A, E, graph.schema)


def straight_through(hard: Tensor, relaxed: Tensor) -> Tensor:
    """Return the value of `hard` with the gradient of `relaxed`."""
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
