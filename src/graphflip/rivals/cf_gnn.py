"""CF-GNNExplainer (Lucic et al. 2022) for whole graphs: a learned mask that removes edges."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..explain.method import Question
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .descent import AbstractDescent, Parameters, log_otherwise
from .edge_weights import both_ways, with_edges
from .rival import Abilities, About


@dataclass(frozen=True)
class CFGNNExplainer(AbstractDescent):
    """Edge deletion by a learned mask: minimize -1[same class] NLL(class) + beta * (removed edges).

    Masks begin at 1 and pass a sigmoid; edges below 1/2 are removed. Of all hard graphs on the way that flip, the one
    with the fewest removed edges is the answer. The paper explains nodes; here the whole graph is classified, as its
    successors do.

    Args:
        classifier: Model to explain; gradients must pass through it.
        steps: Steps of gradient descent.
        rate: Learning rate.
        beta: Weight of the relaxed number of removed edges. The paper has 0.5, but its code counts the removed edges of
            the hard graph, which have no gradient: what it learns is what 0 learns.
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> answers = CFGNNExplainer(RelationalGIN(graph.schema).eval(), steps=3).explain(graph)
        >>> [answer.method for answer in answers]
        ['cf_gnn', 'cf_gnn']
    """

    classifier: AbstractClassifier
    steps: int = 500
    rate: float = 0.1
    beta: float = 0.0
    method: str = "cf_gnn"
    about: ClassVar[About] = About(
        "CF-GNNExplainer",
        "Lucic, ter Hoeve, Tolomei, de Rijke, Silvestri. CF-GNNExplainer: counterfactual explanations for graph neural "
        "networks. AISTATS 2022, arXiv 2102.03322",
        Abilities(needs=("gradients",)),
        "Its sets are nodes of one large graph (tree-cycles, tree-grid, BA-shapes). Our tree_cycles classifies whole "
        "graphs, so the figures below stand beside each other and are not the same quantity.",
    )

    def begin(self, question: Question) -> Parameters:
        return [torch.ones_like(question.graph.A)]

    def loss(self, question: Question, parameters: Parameters, same: Bool[Tensor, " b"]) -> Float[Tensor, " b"]:
        graph = question.graph
        mask = both_ways(parameters[0], graph.schema.directed).sigmoid()
        removed = (graph.A * (1 - mask)).sum((1, 2)) / (1 if graph.schema.directed else 2)
        outputs = self.classifier(with_edges(graph, graph.A * mask))
        return same * log_otherwise(question.goals, outputs) + self.beta * removed

    def hard(self, graph: Graph, parameters: Parameters) -> Graph:
        return with_edges(graph, graph.A * (both_ways(parameters[0], graph.schema.directed) >= 0))
