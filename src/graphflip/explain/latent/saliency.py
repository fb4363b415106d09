"""SaliencyWalk: a few steps from the factual's code rank edits before any of them is tried (not Algorithm 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.pegvae import PEGVAE
from ...nn.descent import Adam
from ...schema import Column
from ..goals.batches import score_each
from ..goals.goal import AbstractGoal
from ..goals.stored import Target, goals_of
from ..moves.attributes import Attributes
from ..moves.difference import AttributeChange, Difference
from .anchored import MARGIN, Anchor, Logits


@dataclass(frozen=True)
class SaliencyWalk:
    """Descend from the factual's code z_F and measure how far each logit of the decoder moves.

    The loss is -log p(target) of the relaxed, anchored graph (see `anchored`), or its distance from a range of values,
    summed over models, plus `pull` times the sum over slots of |z_i - z_F,i|, which keeps most slots in place. Unlike
    Algorithm 1 it returns no graph: it tells a search which edits to try first.

    Args:
        vae: Autoencoder that gives codes and decodes them.
        models: The classifier, and other models with gradients.
        steps: Number of Adam steps.
        step_size: Learning rate.
        pull: Weight of the distance from the factual's code.
        margin: Logits of the factual itself, see `anchored`.
    """

    vae: PEGVAE
    models: tuple[AbstractClassifier, ...]
    steps: int = 20
    step_size: float = 0.03
    pull: float = 0.02
    margin: float = MARGIN

    def saliencies(self, graph: Graph, target: Sequence[Target]) -> list["Saliency"]:
        """Measure, for each graph, how far the walk moves every logit of the decoder, in all slots."""
        anchor, goals = Anchor.at(self.vae, graph, self.margin), goals_of(target)
        z, adam = anchor.z, Adam(anchor.z, self.step_size, betas=(0.9, 0.99), eps=1e-6, lerp=True)
        for _ in range(self.steps):
            with torch.enable_grad():
                z = z.detach().requires_grad_()
                soft = anchor.soft(z)
                loss = torch.stack([_surprise(model, soft, goals) for model in self.models]).sum()
                away = ((z - anchor.z).square().sum(-1) + 1e-12).sqrt().sum()
                (gradient,) = torch.autograd.grad(loss + self.pull * away, z)
            z = z - adam.step(gradient)
        with torch.no_grad():
            moved = anchor.moved(z)
        return [Saliency.of(moved, k, anchor.graph) for k in range(len(graph))]


def _surprise(model: AbstractClassifier, soft: Graph, goals: Sequence[AbstractGoal]) -> Float[Tensor, ""]:
    return -score_each(goals, model(soft)).sum()


@dataclass(frozen=True, eq=False)
class Saliency:
    """Distance that each logit of one graph moved, as plain numbers, to score changes with."""

    nodes: list[float]
    values: list[list[float]]
    edges: list[list[float]]
    edge_values: list[list[list[float]]]
    node_columns: tuple[Column, ...]
    edge_columns: tuple[Column, ...]

    @classmethod
    def of(cls, moved: Logits, k: int, graph: Graph) -> "Saliency":
        parts = (moved.B[k].tolist(), moved.V[k].tolist(), moved.A[k].tolist(), moved.E[k].tolist())
        return cls(*parts, graph.schema.nodes, graph.schema.edges)

    def score(self, difference: Difference) -> float:
        """Score changes: the sum of the distances that their logits moved. For a continuous attribute, the distance it
        moved times the size of the change, both in units of its scale."""
        total = 0.0
        for i, change in difference.nodes.items():
            total += self._change(change, self.nodes[i], self.values[i], self.node_columns)
        for (i, j), change in difference.edges.items():
            values = self.edge_values[i][j] if self.edge_columns else []
            total += self._change(change, self.edges[i][j], values, self.edge_columns)
        return total

    def _change(
        self, change: AttributeChange, exists: float, values: list[float], columns: tuple[Column, ...]
    ) -> float:
        if change.before is None:
            return exists
        if change.after is None:
            return -exists
        return _moved(values, change.after, columns) - _moved(values, change.before, columns)


def _moved(values: list[float], label: Attributes, columns: tuple[Column, ...]) -> float:
    total, at = 0.0, 0
    for column, value in zip(columns, label, strict=True):
        total += column.project(values[at : at + column.width], value)
        at += column.width
    return total
