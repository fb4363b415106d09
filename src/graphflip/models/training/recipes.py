"""Recipes: the model, objective and settings that `graphflip train` uses for each role and preset."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ...data.dataset import GraphDataset
from ...errors import ConfigError, SchemaError
from ..networks.classifier import (
    AbstractClassifier,
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from ..networks.counts import CountClassifier, CountConfig
from ..networks.pegvae import PAPER, PEGVAE, linear_config
from ..networks.plain import PlainGCN, PlainGIN
from .evaluate import auroc, spread_of
from .objectives import Classification, Imitation, Reconstruction, Regression
from .schedule import TrainConfig

Role = Literal["classifier", "vae", "judge", "surrogate"]
PRESETS: dict[str, tuple[str, ...]] = {
    "classifier": ("default", "paper", "gcn", "gin"),
    "vae": ("modern", "paper", "linear"),
    "judge": ("gnn", "trees"),
    "surrogate": ("gin", "gin-deep", "average", "counts", "linear", "types"),
}
"""Presets of each role; the first is the default."""
COUNTS = ("counts", "linear", "types")
"""Presets of surrogates that see counts of node environments instead of graphs."""


@dataclass(frozen=True)
class Recipe:
    """A model with fresh weights, the objective it is trained for, and the settings of its training."""

    model: nn.Module
    objective: Classification | Regression | Imitation | Reconstruction
    training: TrainConfig


def recipe(role: str, preset: str, dataset: GraphDataset, teacher: AbstractClassifier | None = None) -> Recipe:
    """Make the recipe for a role and a preset on a dataset.

    If a class is rare, the loss weights all classes equally: a model that hardly ever predicts a class does not help to
    find graphs of that class.

    If the number of nodes alone almost determines the label, the recipe differs in three ways. (1) Batches mix graphs
    of all sizes; if they held graphs of one size, they would hold one class each. (2) The last hidden layer is a leaky
    ReLU; sums over few nodes would otherwise leave all its units at zero, and all small graphs would get one output.
    (3) 80 % of node attributes and edges are hidden in training; the model would otherwise memorize details and be
    wrong on sizes it saw seldom.

    Args:
        role: "classifier", "vae", "judge" or "surrogate".
        preset: One of `PRESETS[role]`, except `judge: trees`, which is not trained by gradient descent.
        dataset: Dataset to learn from, or its train part if it has one.
        teacher: Classifier whose outputs a surrogate learns instead of labels.

    Returns:
        The recipe; its model is not trained yet.

    Raises:
        ConfigError: There is no such role or preset.
        SchemaError: The teacher takes graphs of another schema.
    """
    by_size = role != "vae" and preset != "paper" and _size_tells_labels(dataset)
    leak = 0.1 if by_size else 0.0
    plan = _surrogate(preset, dataset, teacher, leak) if role == "surrogate" else _recipe(role, preset, dataset, leak)
    if not by_size:
        return plan
    # Hiding would change the counts themselves: these models would be trained on smaller graphs.
    objective = plan.objective if preset in COUNTS else dataclasses.replace(plan.objective, hide=0.8)
    return Recipe(plan.model, objective, plan.training.model_copy(update={"pool": 1}))


def _recipe(role: str, preset: str, dataset: GraphDataset, leak: float) -> Recipe:
    schema, learned = dataset.schema, _objective(dataset, None)
    outputs = _sizes(dataset, learned)

    def sized(cls: Any, leak: float = 0.0, **sizes: Any) -> nn.Module:
        return cls(schema, cls.default.model_copy(update={**outputs, "leak": leak, **sizes}))

    match role, preset:
        case "classifier", "default":
            model = sized(RelationalGIN, leak, **_larger(dataset))
            return Recipe(model, learned, TrainConfig(epochs=40 if _has_charges(dataset) else 30, calibrate=True))
        case "classifier", "paper":
            # To the letter of the paper's appendix: Adam at a constant rate, and the weights of the last epoch.
            training = TrainConfig(epochs=100, rate=1e-3, decay="constant", warm_up=0, weight_decay=0, clip=1e6)
            training = training.model_copy(update={"pool": 1, "keep": "last"})
            objective = Classification() if dataset.classes else learned
            return Recipe(sized(InvariantClassifier, bonds="types"), objective, training)
        case "classifier", "gcn" | "gin":
            # What the literature explains: plain networks of its sizes, which do not see the attributes of edges.
            training = TrainConfig(epochs=60, rate=5e-3, weight_decay=0, calibrate=True)
            return Recipe(sized(PlainGCN if preset == "gcn" else PlainGIN, bonds="types"), learned, training)
        case "judge", "gnn":
            training = TrainConfig(epochs=25, rate=1e-3, calibrate=True, seed=1)
            return Recipe(sized(AttentionClassifier, leak), learned, training)
        case "vae", "modern":
            training = TrainConfig(epochs=200, weight_decay=1e-4, average=0.99, validate_every=5)
            return Recipe(PEGVAE(schema), Reconstruction(beta=0.05), training)
        case "vae", "paper":
            training = TrainConfig(epochs=150, weight_decay=1e-4, average=0.99, validate_every=5)
            beta = 0.1 if dataset.name == "aids" else 0.5  # as the paper's appendix has them
            return Recipe(PEGVAE(schema, PAPER), Reconstruction(beta=beta, burn_in=0.25), training)
        case "vae", "linear":
            training = TrainConfig(epochs=30, rate=3e-3, weight_decay=1e-4, average=0.99, validate_every=5)
            return Recipe(PEGVAE(schema, linear_config(schema)), Reconstruction(beta=1e-3), training)
    raise _unknown(role, preset)


def _surrogate(preset: str, dataset: GraphDataset, teacher: AbstractClassifier | None, leak: float) -> Recipe:
    """Make a recipe for a surrogate; its architecture, size and seed differ from those of classifier and judges."""
    schema, learned = dataset.schema, _objective(dataset, teacher)
    outputs = _sizes(dataset, learned)

    inner: dict[str, Any] = {"inner_dropout": 0.15} if _has_charges(dataset) else {}

    def plan(model: nn.Module, training: TrainConfig, hide: float = 0.0) -> Recipe:
        hide = 0.0 if _has_charges(dataset) else hide  # an atom that lost a bond seems to have a hydrogen more
        return Recipe(model, dataclasses.replace(learned, hide=hide), training)

    match preset:
        case "gin":
            sizes = ClassifierConfig(**outputs, **inner, width=48, depth=3, hidden=96, dropout=0.4, leak=leak)
            return plan(RelationalGIN(schema, sizes), TrainConfig(epochs=30, calibrate=True, seed=2), hide=0.05)
        case "gin-deep":
            sizes = ClassifierConfig(**outputs, **inner, width=32, depth=6, hidden=64, dropout=0.3, leak=leak)
            return plan(RelationalGIN(schema, sizes), TrainConfig(epochs=30, calibrate=True, seed=3), hide=0.02)
        case "average":
            sizes = AveragingClassifier.default.model_copy(update={**outputs, **inner, "leak": leak})
            return plan(AveragingClassifier(schema, sizes), TrainConfig(epochs=30, calibrate=True, seed=6), hide=0.02)
        case "counts":
            sizes = CountConfig(**outputs, radius=3, bins=4096, hidden=(32,), blind=0.3)
            return plan(CountClassifier(schema, sizes), TrainConfig(epochs=25, rate=1e-3, pool=1, seed=4))
        case "linear":
            sizes = CountConfig(**outputs, radius=2, bins=4096, hidden=(), blind=0.2)
            return plan(CountClassifier(schema, sizes), TrainConfig(epochs=25, rate=3e-3, pool=1, seed=5))
        case "types":
            sizes = CountConfig(**outputs, radius=0, bins=1024, hidden=(32,), blind=0.05, dropout=0.2)
            return plan(CountClassifier(schema, sizes), TrainConfig(epochs=40, rate=1e-2, pool=1, seed=4))
    raise _unknown("surrogate", preset)


def _objective(dataset: GraphDataset, teacher: AbstractClassifier | None) -> Classification | Regression | Imitation:
    """Objective that learns the labels or, if there is a teacher, its outputs."""
    if teacher is None:
        if dataset.classes:
            weights = _even_weights(dataset)
            return (
                Classification(weights=weights, smoothing=0.05, score="auroc")
                if _has_charges(dataset)
                else (Classification(weights=weights))
            )
        return Regression(spread_of(_train_labels(dataset)))
    if teacher.schema != dataset.schema:
        raise SchemaError(
            f"{dataset.name}: graphs for a teacher to label must have the teacher's schema; they have another. "
            "Give the data that the teacher was trained on, or data loaded with its schema."
        )
    return Imitation.of(teacher, dataset)


def _sizes(dataset: GraphDataset, learned: Classification | Regression | Imitation) -> dict[str, Any]:
    """Settings that follow from the data: outputs, and for molecules with kinds of bonds a view without ring forms."""
    return {**_outputs(dataset, learned), "bonds": "sums" if _has_ring_forms(dataset) else "types"}


def _larger(dataset: GraphDataset) -> dict[str, Any]:
    """Sizes of the classifier of molecules with charges: larger, and with units dropped in each layer."""
    return {"width": 96, "depth": 5, "inner_dropout": 0.15} if _has_charges(dataset) else {}


def _has_ring_forms(dataset: GraphDataset) -> bool:
    """True if an aromatic ring can be written in several ways, with its double bonds in other places."""
    return dataset.schema.chemistry is not None and dataset.schema.de > 0


def _has_charges(dataset: GraphDataset) -> bool:
    return dataset.schema.node_charge is not None


def _outputs(dataset: GraphDataset, learned: Classification | Regression | Imitation) -> dict[str, Any]:
    """Fields of `Outputs` (number, center and spread of outputs) for a model with this objective."""
    if isinstance(learned, Classification):
        return {"num_classes": max(len(dataset.classes), 2)}
    if isinstance(learned, Imitation) and learned.answers.shape[1] > 1:
        return {"num_classes": learned.answers.shape[1]}
    values = learned.answers if isinstance(learned, Imitation) else _train_labels(dataset)
    return {"num_classes": 1, "center": float(values.mean()), "spread": spread_of(values)}


def _train_labels(dataset: GraphDataset) -> Tensor:
    return _training_part(dataset).labels


def _even_weights(dataset: GraphDataset) -> tuple[float, ...]:
    """Weights that make all classes count equally, if one has less than half of an equal share; else none."""
    counts = _train_labels(dataset).bincount(minlength=max(len(dataset.classes), 2)).double()
    there = counts > 0
    weights = torch.where(there, counts.sum() / (counts.clamp(min=1) * there.sum()), 1.0)
    return tuple(weights.tolist()) if float(weights.max()) > 2 else ()


def _size_tells_labels(dataset: GraphDataset, enough: float = 0.9) -> bool:
    """True if the number of nodes tells a class from the rest (AUROC) or correlates with the values, this well."""
    part = _training_part(dataset)
    sizes = part.num_nodes.double()
    if dataset.classes:
        scores = [auroc(sizes, (part.labels == label).long()) for label in range(len(dataset.classes))]
        return any(max(score, 1 - score) >= enough for score in scores)
    return len(part) > 1 and bool(torch.corrcoef(torch.stack([sizes, part.labels.double()]))[0, 1].abs() >= enough)


def _training_part(dataset: GraphDataset) -> GraphDataset:
    return dataset.part("train") if dataset.split else dataset


def _unknown(role: str, preset: str) -> ConfigError:
    return ConfigError(
        f"A role and preset must be one of {', '.join(f'{r}: {p}' for r, ps in PRESETS.items() for p in ps)}; "
        f"got {role}: {preset}."
    )
