"""XPlore (De Sanctis et al. 2026): gradients on the adjacency and on node attributes; edges come and go."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..explain.method import Question
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .descent import AbstractDescent, Parameters, scores
from .edge_weights import both_ways, pairs, with_edges
from .rival import Abilities, About


@dataclass(frozen=True)
class XPlore(AbstractDescent):
    """Gradient-guided changes of edges (both ways) and of node attributes under one loss.

    Each pair of nodes and each attribute has a parameter that begins on the side of what is there; a value that crosses
    the middle changes it. The classifier sees the hard graph, and gradients pass as if it were relaxed: otherwise all
    pairs without an edge would be faint edges. The loss is the cross-entropy of the goal plus the changes.

    Args:
        classifier: Model to explain; gradients must pass through it.
        steps: Steps of gradient descent.
        rate: Learning rate.
        beta: Weight of the number of changes.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> XPlore(RelationalGIN(graph.schema).eval(), steps=2).explain(graph)[0].method
        'xplore'
    """

    classifier: AbstractClassifier
    steps: int = 500
    rate: float = 0.1
    beta: float = 0.5
    method: str = "xplore"
    about: ClassVar[About] = About(
        "XPlore",
        "De Sanctis, De Sanctis, Faralli, Velardi, Prenkaj. Beyond edge deletion: a comprehensive approach to "
        "counterfactual explanation in graph neural networks. 2026, arXiv 2603.04209",
        Abilities(adds_edges=True, changes_attributes=True, needs=("gradients",)),
        "Steps, rate and weight are those of CF-GNNExplainer, which it extends: we read its abstract and summary, not "
        "its tables. What others measured of it on Mutagenicity stands below, beside our row.",
    )

    def begin(self, question: Question) -> Parameters:
        graph = question.graph
        return [2 * graph.A - 1, 2 * graph.V - graph.B[..., None]]

    def loss(self, question: Question, parameters: Parameters, same: Bool[Tensor, " b"]) -> Float[Tensor, " b"]:
        graph = question.graph
        edges = both_ways(parameters[0], graph.schema.directed).sigmoid() * pairs(graph)
        after = self.hard(graph, parameters)
        A = after.A + edges - edges.detach()
        V = after.V + _relaxed_nodes(graph, parameters[1]) - _relaxed_nodes(graph, parameters[1]).detach()
        soft = with_edges(graph, A)
        outputs = self.classifier(Graph.trusted(soft.B, V, soft.A, soft.E, soft.schema))
        changes = (edges - graph.A).abs().sum((1, 2)) / (1 if graph.schema.directed else 2)
        changes = changes + (V - graph.V).abs().sum((1, 2)) / 2
        return self.beta * changes / graph.num_nodes - same * scores(question.goals, outputs)

    def hard(self, graph: Graph, parameters: Parameters) -> Graph:
        A = (both_ways(parameters[0], graph.schema.directed) > 0).to(graph.A)
        after = with_edges(graph, A)
        return Graph.trusted(graph.B, _hard_nodes(graph, parameters[1]), after.A, after.E, graph.schema)


def _relaxed_nodes(graph: Graph, values: Float[Tensor, "b n dv"]) -> Float[Tensor, "b n dv"]:
    """Attributes as gradients see them: probabilities of categories; numbers move with their parameters."""
    parts = [
        (values[..., at] + graph.B[..., None]) / 2 if column.is_continuous else values[..., at].softmax(-1)
        for column, at in graph.schema.node_slices()
    ]
    return torch.cat(parts, -1) * graph.B[..., None] if parts else values


def _hard_nodes(graph: Graph, values: Float[Tensor, "b n dv"]) -> Float[Tensor, "b n dv"]:
    parts = []
    for column, at in graph.schema.node_slices():
        if column.is_continuous:
            parts.append((values[..., at] + graph.B[..., None]) / 2)
        else:
            parts.append(torch.nn.functional.one_hot(values[..., at].argmax(-1), column.width).to(values))
    return torch.cat(parts, -1) * graph.B[..., None] if parts else graph.V
