"""Training objectives: the loss of a batch, and the figure by which the best epoch is chosen."""

import hashlib
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...data.dataset import GraphDataset
from ...data.splits import Batch
from ...graph import Graph
from ..networks.classifier import AbstractClassifier
from ..networks.pegvae import PEGVAE
from ..storage.files import weights_blob
from .evaluate import cross_entropy, measure_classifier, measure_regressor, measure_vae, predict, r_squared, spread_of


@runtime_checkable
class Objective(Protocol):
    """Interface of objectives: a loss to minimize, and figures to measure on the validation part."""

    @property
    def score(self) -> str:
        """Name of the figure by which the best epoch is chosen; the highest wins."""
        ...

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON, for the model's card; a resumed run must have the same."""
        ...

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        """Mean loss of a batch; `rng` supplies noise, `progress` is the share (0 to 1) of the run that is done."""
        ...

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        """Figures on a dataset, the one named `score` among them."""
        ...


@dataclass(frozen=True)
class Classification:
    """Learn class labels by cross-entropy; the best epoch has the lowest cross-entropy on the validation part.

    The best epoch is not the one of the highest AUROC, which may come before probabilities are calibrated.

    Args:
        hide: Share of node attributes and of edges, from 0 to 1, that is hidden from the model during training.
        weights: Weight of each class in the loss; equal if empty.
        smoothing: Share of the probability, from 0 to 1, that the loss spreads evenly over the classes.
        score: Figure by which the best epoch is chosen.
    """

    hide: float = 0.0
    weights: tuple[float, ...] = ()
    smoothing: float = 0.0
    score: str = "log_likelihood"

    @property
    def settings(self) -> dict[str, Any]:
        weights = {"weights": list(self.weights)} if self.weights else {}
        smoothing = {"smoothing": self.smoothing} if self.smoothing else {}
        score = {"score": self.score} if self.score != "log_likelihood" else {}
        return {"hide": self.hide, "teacher": None, **weights, **smoothing, **score}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        logits = model(with_gaps(batch.graph, self.hide, rng))
        return cross_entropy(logits, batch.labels, self.weights, self.smoothing)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        return measure_classifier(model, dataset, self.weights)


@dataclass(frozen=True)
class Regression:
    """Learn labels that are numbers, by squared error.

    Args:
        spread: Standard deviation of the labels, the unit of the error.
        hide: Share of node attributes and of edges that is hidden, as in Classification.
        score: Figure by which the best epoch is chosen.
    """

    spread: float = 1.0
    hide: float = 0.0
    score: str = "r2"

    @property
    def settings(self) -> dict[str, Any]:
        return {"hide": self.hide, "spread": self.spread}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        values = model(with_gaps(batch.graph, self.hide, rng))
        return nn.functional.mse_loss(values[:, 0] / self.spread, batch.labels / self.spread)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        return measure_regressor(model, dataset)


@dataclass(frozen=True)
class Imitation:
    """Learn the outputs of another classifier, the teacher, instead of labels.

    The loss is the cross-entropy to the teacher's probabilities; squared error, if the teacher predicts a number.

    Args:
        teacher: Classifier to imitate.
        answers: The teacher's probabilities (or values) for the graphs of the train part, in their order; the teacher
            sees whole graphs.
        hide: Share of node attributes and of edges that is hidden from the pupil, as in Classification.
        score: Figure by which the best epoch is chosen.
    """

    teacher: AbstractClassifier
    answers: Float[Tensor, "g c"]
    hide: float = 0.0
    score: str = "likeness"

    @classmethod
    def of(cls, teacher: AbstractClassifier, dataset: GraphDataset, hide: float = 0.0) -> "Imitation":
        """Ask the teacher once about every graph of the dataset's train part."""
        outputs = predict(teacher, dataset.part("train"))
        return cls(teacher, outputs if outputs.shape[1] == 1 else outputs.softmax(-1), hide)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON; the teacher is named by the sha256 of its weights, as on its card."""
        return {"hide": self.hide, "teacher": hashlib.sha256(weights_blob(self.teacher)).hexdigest()}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        outputs, answers = model(with_gaps(batch.graph, self.hide, rng)), self.answers[batch.index]
        if answers.shape[1] > 1:
            return nn.functional.cross_entropy(outputs, answers)
        return nn.functional.mse_loss(outputs / self.spread, answers / self.spread)

    @property
    def spread(self) -> float:
        """Standard deviation of the teacher's values."""
        return spread_of(self.answers)

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        """Measure `agreement` (share of graphs with the teacher's class) and `likeness` (-cross-entropy to its output).

        If the teacher predicts a number, `likeness` is R squared and there is no `agreement`. If the dataset has as
        many classes as the teacher, they are taken to be the same, and the figures on the labels are added.
        """
        logits, taught = predict(model, dataset), predict(self.teacher, dataset)
        if taught.shape[1] == 1:
            labels = {} if dataset.classes else measure_regressor(model, dataset)
            return {"likeness": r_squared(logits[:, 0], taught[:, 0]), **labels}
        agreement = float((logits.argmax(-1) == taught.argmax(-1)).float().mean())
        likeness = -float(nn.functional.cross_entropy(logits, taught.softmax(-1)))
        same_classes = len(dataset.classes) == taught.shape[1]
        labels = measure_classifier(model, dataset) if same_classes else {}
        return {"agreement": agreement, "likeness": likeness, **labels}


@dataclass(frozen=True)
class Reconstruction:
    """Rebuild graphs; the paper's objective for autoencoders: -E[log p(G | z)] + beta KL.

    Args:
        beta: Weight of the KL divergence.
        burn_in: Share of the run, from 0 to 1, in which the weight rises linearly from zero to `beta`.
        score: Figure by which the best epoch is chosen.
    """

    beta: float
    burn_in: float = 0.1
    score: str = "objective"

    @property
    def settings(self) -> dict[str, Any]:
        return {"beta": self.beta, "burn_in": self.burn_in}

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        assert isinstance(model, PEGVAE)
        beta = self.beta * min(1.0, progress / self.burn_in) if self.burn_in else self.beta
        # Per slot, so that one clipping threshold serves small and large graphs.
        return model.neg_elbo(batch.graph, rng, beta)[0].mean() / model.schema.max_nodes

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]:
        assert isinstance(model, PEGVAE)
        figures = measure_vae(model, dataset, refine=False)
        objective = figures["kl"] * (1 - self.beta) - figures["neg_elbo"]
        return {"objective": objective, **figures}


def with_gaps(graph: Graph, share: float, rng: torch.Generator) -> Graph:
    """Remove a random `share` of node attributes and of edges from graphs, so that models learn to do without them."""
    if share == 0:
        return graph
    known = (torch.rand(graph.B.shape, generator=rng) >= share).to(graph.B)
    kept = (torch.rand(graph.A.shape, generator=rng) >= share).to(graph.A)
    if not graph.schema.directed:
        kept = kept.triu(1) + kept.triu(1).transpose(1, 2)
    return Graph.trusted(graph.B, graph.V * known[..., None], graph.A * kept, graph.E * kept[..., None], graph.schema)
