"""CF² (Tan et al. 2022): a mask whose part of the graph suffices for the prediction, and whose absence changes it."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..explain.method import Question
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .descent import AbstractDescent, Parameters, scores
from .edge_weights import both_ways, with_edges
from .rival import Abilities, About


@dataclass(frozen=True)
class CF2(AbstractDescent):
    """Factual and counterfactual reasoning on a mask of edges; the counterfactual is the graph without the mask.

    Minimizes |mask| + strength * (alpha * factual + (1 - alpha) * counterfactual), both hinge losses with a margin
    between the probability of the predicted class and that of the goal. Edges whose mask exceeds 1/2 at the end
    are the explanation, and are removed.

    Args:
        classifier: Model to explain; gradients must pass through it.
        steps: Steps of Adam.
        rate: Learning rate.
        strength: Weight of the two hinge losses (lambda in the paper).
        alpha: Weight of the factual loss; the rest is that of the counterfactual one.
        margin: Margin of the hinge losses (gamma in the paper).
        method: Name in tables and files.

    Example:
        >>> from graphflip.models import RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=1, seed=0)
        >>> CF2(RelationalGIN(graph.schema).eval(), steps=2).explain(graph)[0].method
        'cf2'
    """

    classifier: AbstractClassifier
    steps: int = 500
    rate: float = 0.05
    strength: float = 1000.0
    alpha: float = 0.6
    margin: float = 0.5
    method: str = "cf2"
    last: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    about: ClassVar[About] = About(
        "CF²",
        "Tan, Geng, Fu, Ge, Xu, Li, Zhang. Learning and evaluating graph neural network explanations based on "
        "counterfactual and factual reasoning. WWW 2022, arXiv 2202.08816",
        Abilities(needs=("gradients",)),
        "Its paper's probability of necessity would be a flip ratio, of another classifier and part of Mutagenicity; "
        "we did not have its table. What others measured of it on Mutagenicity stands below, beside our row.",
    )

    def begin(self, question: Question) -> Parameters:
        shape, rngs = question.graph.A.shape[1:], question.rngs(self.method)
        return [torch.stack([torch.randn(shape, generator=rng) * 0.1 for rng in rngs])]

    def optimizer(self, parameters: Parameters) -> torch.optim.Optimizer:
        return torch.optim.Adam(parameters, self.rate)

    def loss(self, question: Question, parameters: Parameters, same: Bool[Tensor, " b"]) -> Float[Tensor, " b"]:
        graph = question.graph
        mask = both_ways(parameters[0], graph.schema.directed).sigmoid()
        size = (graph.A * mask).sum((1, 2)) / (1 if graph.schema.directed else 2)
        part = scores(question.goals, self.classifier(with_edges(graph, graph.A * mask))).exp()
        rest = scores(question.goals, self.classifier(with_edges(graph, graph.A * (1 - mask)))).exp()
        # With two classes the other one has the rest of the probability.
        factual = (self.margin + part - (1 - part)).relu()
        counterfactual = (self.margin + (1 - rest) - rest).relu()
        return size + self.strength * (self.alpha * factual + (1 - self.alpha) * counterfactual)

    def hard(self, graph: Graph, parameters: Parameters) -> Graph:
        return with_edges(graph, graph.A * (both_ways(parameters[0], graph.schema.directed) <= 0))
