"""LatentTraversal: counterfactuals by a classifier-guided walk through the latent space (CGCF, Algorithm 1)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.decode import Gumbel, MostLikely
from ...models.networks.pegvae import PEGVAE
from ...nn.descent import Adam, Descent
from ..counterfactual import Counterfactual
from ..method import AbstractExplainer, Question
from .active import ActiveGraphs


@dataclass(frozen=True)
class LatentTraversal(AbstractExplainer):
    """Algorithm 1 of the paper (CGCF): walk through the latent space until the decoded graph is classified as asked.

    From the factual's code z_F the walk descends on the loss of Eq. 6,

        L(z, y_D) = -log p(y_D | D(z)) + regularization * |z - origin|,

    where D decodes a graph and p is the classifier's probability. Where values are predicted, the distance from the
    range that is asked for takes the place of -log p. A graph's walk ends for good when its hard graph is classified
    as the target; that very graph is classified once more and returned. With `stop="confident"` it goes on, past the
    boundary, until the classifier is sure; if it never is, the surest graph of the way is returned, as not confident.
    No answer depends on the other graphs of the batch.

    Args:
        vae: Autoencoder that gives codes and decodes them.
        classifier: Model to explain; it must have gradients.
        steps: N, the most steps a walk may take.
        step_size: epsilon, the learning rate.
        regularization: lambda, the weight of the distance from the origin; at least 0.
        tau: Temperature of the Gumbel-softmax; above 0.
        infer: Way to get a graph from the decoder's distribution: one Gumbel-softmax draw with straight-through
            gradients, the mean loss over several such draws, or the most likely graph.
        samples: Number of draws for `infer="samples"`.
        optimizer: `"descent"` is the update as printed (Eq. 5), `"adam"` the one of the paper's experiments.
        anchor: Point that the regularizer pulls towards: the origin of the latent space (paper) or the factual's code.
        stop: `"boundary"` ends a walk at the first graph that is classified as the target (the paper's text),
            `"confident"` at the first to which the classifier gives the target with `confidence`.
        confidence: Probability of the target to reach with `stop="confident"`; above 0, below 1. Predicted values are
            in the range that is asked for, or not, whatever it is.
        keep_path: True keeps every code of the walk in `Counterfactual.path` (`t n dz`).
        method: Name in tables and files.

    Raises:
        ConfigError: `steps` or `confidence` is out of range.

    Example:
        >>> from graphflip.models import PEGVAE, RelationalGIN
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> vae, classifier = PEGVAE(graph.schema).eval(), RelationalGIN(graph.schema).eval()
        >>> answers = LatentTraversal(vae, classifier, steps=3).explain(graph)
        >>> [answer.id for answer in answers], answers[0].steps <= 3
        (['0', '1'], True)
    """

    vae: PEGVAE
    classifier: AbstractClassifier
    steps: int = 1000
    step_size: float = 0.05
    regularization: float = 1.0
    tau: float = 1.0
    infer: Literal["gumbel", "samples", "most_likely"] = "gumbel"
    samples: int = 8
    optimizer: Literal["adam", "descent"] = "adam"
    anchor: Literal["origin", "factual"] = "origin"
    stop: Literal["boundary", "confident"] = "boundary"
    confidence: float = 0.95
    keep_path: bool = False
    method: str = "cgcf"

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ConfigError(f"A walk must have at least 1 step; got `steps` = {self.steps}.")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"The confidence to reach must be above 0 and below 1; got {self.confidence}.")

    def traverse(self, graphs: ActiveGraphs) -> Iterator[Float[Tensor, "a n dz"]]:
        """Run Algorithm 1 on a batch and yield z_{i+1}, one row for each graph still walking, after each step.

        Comments number the statements of the printed algorithm. Line 2, y_D <- 1 - y_F, is the goal of each graph in
        `graphs.goals`; lines 13 and 14, the graph returned, are `graphs.answers`.
        """
        with torch.no_grad():
            z = graphs.rows_of(self.vae.locate(graphs.factual, graphs.question.rngs("identity")))  # 1: z <- F(G_F)
        origin = z if self.anchor == "factual" else torch.zeros_like(z)
        optimizer = Adam(z, self.step_size) if self.optimizer == "adam" else Descent(self.step_size)
        rngs = graphs.question.rngs("noise")
        i = 1  # 3
        while i <= self.steps and len(graphs.active):  # 4: as long as anyone walks
            z = z.detach().requires_grad_()
            decoded = self._decode(z, [rngs[k] for k in graphs.active.tolist()])  # 5: G_i <- D(z_i)
            logits = self.classifier(decoded).unflatten(0, (len(z), -1))  # 6: y_i <- C(G_i), `a draws c`
            loss = graphs.surprise(logits) + self.regularization * _norm(z - origin)  # Eq. 6
            (gradient,) = torch.autograd.grad(loss.sum(), z)
            graphs.record(z.detach(), logits.detach())
            mask = graphs.stop(decoded, logits.detach(), gradient, last=i == self.steps)  # 7-10: False if y_i = y_D
            z, origin = z.detach()[mask], origin[mask]  # who has stopped leaves with all momentum
            optimizer.keep(mask)
            z = z - optimizer.step(gradient[mask])  # 11: z_{i+1} <- z_i - epsilon grad L
            yield z
            i += 1  # 12

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.perf_counter()
        confidence = self.confidence if self.stop == "confident" else 0.0
        graphs = ActiveGraphs(question, self.classifier, self.keep_path, confidence)
        for _ in self.traverse(graphs):
            pass
        seconds = (time.perf_counter() - started) / max(len(question.graph), 1)
        return graphs.answers(self.method, seconds)

    def _decode(self, z: Float[Tensor, "a n dz"], rngs: list[torch.Generator]) -> Graph:
        """Graph of each code, or `samples` draws of each that stand together."""
        if self.infer == "most_likely":
            return self.vae.decode(z, MostLikely())
        draws = self.samples if self.infer == "samples" else 1
        each = [rng for rng in rngs for _ in range(draws)]
        return self.vae.decode(z.repeat_interleave(draws, 0), Gumbel(each, self.tau))


def _norm(z: Float[Tensor, "a n dz"]) -> Float[Tensor, " a"]:
    # The square root has no gradient at zero, where an anchored walk starts.
    return (z**2).sum((1, 2)).clamp(min=1e-12).sqrt()
