"""Recipes: which model, objective and settings `graphflip train` uses for a role and a preset."""

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from ...data.dataset import GraphDataset
from ...errors import ConfigError, DataError, SchemaError
from ...schema import first_problem
from ..networks.classifier import (
    AbstractClassifier,
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from ..networks.counts import CountClassifier, CountConfig
from ..networks.pegvae import PAPER, PEGVAE
from ..networks.trees import TreesConfig, fit_trees
from ..storage.store import Card, DataCard, save_model
from .curves import save_curves
from .objectives import (
    Classification,
    Imitation,
    Reconstruction,
    Regression,
    auroc,
    measure_classifier,
    measure_vae,
    spread_of,
)
from .train import Epoch, TrainConfig, TrainingProgress, fit, read_result

Role = Literal["classifier", "vae", "judge", "surrogate"]
PRESETS: dict[str, tuple[str, ...]] = {
    "classifier": ("default", "paper"),
    "vae": ("modern", "paper"),
    "judge": ("gnn", "trees"),
    "surrogate": ("gin", "gin-deep", "average", "counts", "linear", "types"),
}
"""Presets of each role; the first is the default."""
COUNTS = ("counts", "linear", "types")
"""Presets of models that see counts of environments."""


@dataclass(frozen=True)
class Recipe:
    """A model that is trained by gradient descent."""

    model: nn.Module
    objective: Classification | Regression | Imitation | Reconstruction
    training: TrainConfig


def recipe(role: str, preset: str, dataset: GraphDataset, teacher: AbstractClassifier | None = None) -> Recipe:
    """The recipe of a role and preset for a dataset (`judge/trees` has none: trees are grown, not descended).

    A surrogate with a `teacher` learns that classifier's answers instead of the labels. Where a class is rare, all
    classes count the same: a model that hardly ever predicts one is no help in looking for graphs of that class.

    Where the size of a graph alone all but tells its label, three things go wrong, and are seen to. Batches of graphs
    of like size would be of one class each, and the model would forget one over the other: graphs of all sizes meet in
    a batch. Sums over nodes drive the last hidden layer of a message-passing network below zero for all small graphs,
    which then share one uncertain answer: that layer leaks. And a model that can tell graphs apart by their details
    learns those by heart and does not know what to say of sizes that it saw seldom: it is shown a fifth of the details.
    """
    by_size = role != "vae" and preset != "paper" and _size_tells_labels(dataset)
    leak = 0.1 if by_size else 0.0
    plan = _surrogate(preset, dataset, teacher, leak) if role == "surrogate" else _recipe(role, preset, dataset, leak)
    if not by_size:
        return plan
    # What is hidden from counts is missing from them: they would be trained on smaller graphs.
    objective = plan.objective if preset in COUNTS else dataclasses.replace(plan.objective, hide=0.8)
    return Recipe(plan.model, objective, plan.training.model_copy(update={"pool": 1}))


def _recipe(role: str, preset: str, dataset: GraphDataset, leak: float) -> Recipe:
    schema, learned = dataset.schema, _objective(dataset, None)
    outputs = _outputs(dataset, learned)

    def sized(cls: Any, leak: float = 0.0) -> nn.Module:
        return cls(schema, cls.default.model_copy(update={**outputs, "leak": leak}))

    match role, preset:
        case "classifier", "default":
            return Recipe(sized(RelationalGIN, leak), learned, TrainConfig(epochs=30))
        case "classifier", "paper":
            training = TrainConfig(epochs=100, rate=1e-3, weight_decay=1e-4, validate_every=2, pool=1, keep="last")
            return Recipe(sized(InvariantClassifier), Classification() if dataset.classes else learned, training)
        case "judge", "gnn":
            return Recipe(sized(AttentionClassifier, leak), learned, TrainConfig(epochs=25, rate=1e-3, seed=1))
        case "vae", "modern":
            training = TrainConfig(epochs=200, weight_decay=1e-4, average=0.99, validate_every=5)
            return Recipe(PEGVAE(schema), Reconstruction(beta=0.05), training)
        case "vae", "paper":
            training = TrainConfig(epochs=150, weight_decay=1e-4, average=0.99, validate_every=5)
            beta = 0.1 if dataset.name == "aids" else 0.5  # as the paper's appendix has them
            return Recipe(PEGVAE(schema, PAPER), Reconstruction(beta=beta, burn_in=0.25), training)
    raise _unknown(role, preset)


def _surrogate(preset: str, dataset: GraphDataset, teacher: AbstractClassifier | None, leak: float) -> Recipe:
    """Models to ask for a second opinion: other sizes, seeds and families than classifier and judges."""
    schema, learned = dataset.schema, _objective(dataset, teacher)
    outputs = _outputs(dataset, learned)

    def plan(model: nn.Module, training: TrainConfig, hide: float = 0.0) -> Recipe:
        return Recipe(model, dataclasses.replace(learned, hide=hide), training)

    match preset:
        case "gin":
            sizes = ClassifierConfig(**outputs, width=48, depth=3, hidden=96, dropout=0.4, leak=leak)
            return plan(RelationalGIN(schema, sizes), TrainConfig(epochs=30, seed=2), hide=0.05)
        case "gin-deep":
            sizes = ClassifierConfig(**outputs, width=32, depth=6, hidden=64, dropout=0.3, leak=leak)
            return plan(RelationalGIN(schema, sizes), TrainConfig(epochs=30, seed=3), hide=0.02)
        case "average":
            sizes = AveragingClassifier.default.model_copy(update={**outputs, "leak": leak})
            return plan(AveragingClassifier(schema, sizes), TrainConfig(epochs=30, seed=6), hide=0.02)
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
    """To learn the labels, or the answers of a teacher."""
    if teacher is None:
        if dataset.classes:
            return Classification(weights=_even_weights(dataset))
        return Regression(spread_of(_train_labels(dataset)))
    if teacher.schema != dataset.schema:
        raise SchemaError(
            f"{dataset.name}: graphs for a teacher to label must have the teacher's schema; they have another. "
            "Give the data that the teacher was trained on, or data loaded with its schema."
        )
    return Imitation.of(teacher, dataset)


def _outputs(dataset: GraphDataset, learned: Classification | Regression | Imitation) -> dict[str, Any]:
    """What a model must put out to learn that: fields of `Outputs`."""
    if isinstance(learned, Classification):
        return {"num_classes": max(len(dataset.classes), 2)}
    if isinstance(learned, Imitation) and learned.answers.shape[1] > 1:
        return {"num_classes": learned.answers.shape[1]}
    values = learned.answers if isinstance(learned, Imitation) else _train_labels(dataset)
    return {"num_classes": 1, "center": float(values.mean()), "spread": spread_of(values)}


def _train_labels(dataset: GraphDataset) -> Tensor:
    return _training_part(dataset).labels


def _even_weights(dataset: GraphDataset) -> tuple[float, ...]:
    """Weights with which all classes count the same, where one has less than half of its share; none elsewhere."""
    counts = _train_labels(dataset).bincount(minlength=max(len(dataset.classes), 2)).double()
    there = counts > 0
    weights = torch.where(there, counts.sum() / (counts.clamp(min=1) * there.sum()), 1.0)
    return tuple(weights.tolist()) if float(weights.max()) > 2 else ()


def _size_tells_labels(dataset: GraphDataset, enough: float = 0.9) -> bool:
    """Whether the number of nodes separates a class from the rest with this AUROC, or goes with the values."""
    part = _training_part(dataset)
    sizes = part.num_nodes.double()
    if dataset.classes:
        scores = [auroc(sizes, (part.labels == one).long()) for one in range(len(dataset.classes))]
        return any(max(score, 1 - score) >= enough for score in scores)
    return len(part) > 1 and bool(torch.corrcoef(torch.stack([sizes, part.labels.double()]))[0, 1].abs() >= enough)


def _training_part(dataset: GraphDataset) -> GraphDataset:
    return dataset.part("train") if dataset.split else dataset


def _unknown(role: str, preset: str) -> ConfigError:
    return ConfigError(
        f"A role and preset must be one of {', '.join(f'{r}: {p}' for r, ps in PRESETS.items() for p in ps)}; "
        f"got {role}: {preset}."
    )


def train_model(
    role: str,
    dataset: GraphDataset,
    folder: Path,
    preset: str | None = None,
    changes: dict[str, Any] | None = None,
    resume: bool = False,
    processes: int = 1,
    watch: Callable[[TrainingProgress], None] = lambda _: None,
    teacher: AbstractClassifier | None = None,
) -> Card:
    """Train by a recipe, measure on the test part, and write the model folder with its curves.

    `changes` override single settings of the recipe's TrainConfig. With a `teacher`, a surrogate learns its answers;
    the data then need no labels.
    """
    preset = preset or PRESETS.get(role, ("",))[0]
    if teacher is not None:
        require_pupil(role)
    if role != "vae" and teacher is None:
        require_labels(dataset)
    if (role, preset) == ("judge", "trees"):
        return _train_trees(dataset, folder, _changed(TrainConfig(), changes).seed)
    plan = recipe(role, preset, dataset, teacher)
    training = _changed(plan.training, changes)
    plan = Recipe(plan.model, plan.objective, training)
    if processes > 1:
        history = _fit_in_processes(plan, dataset, folder, resume, processes)
    else:
        history = fit(plan.model, plan.objective, dataset, training, folder, resume, watch)
    test = dataset.part("test")
    figures = (
        measure_vae(plan.model, test) if isinstance(plan.model, PEGVAE) else plan.objective.measure(plan.model, test)
    )
    settings = {"role": role, "preset": preset, **training.model_dump(), **plan.objective.settings}
    save_curves(history, folder)
    return save_model(plan.model, folder, DataCard.of(dataset), settings, figures)


def require_pupil(role: str) -> None:
    """Raise unless models of this role learn from a teacher."""
    if role != "surrogate":
        raise ConfigError(f"A teacher is for a surrogate; got one for a {role}. Leave it out: labels are learned.")


def require_labels(dataset: GraphDataset) -> None:
    """Raise unless labels differ: there are graphs of two classes or more, or different values."""
    if dataset.classes:
        dataset.require_classes()
    elif bool((dataset.labels == dataset.labels[0]).all()):
        raise DataError(
            f"{dataset.name}: a model of values needs labels that differ; all are {float(dataset.labels[0]):g}. "
            "Check which column or file holds the labels."
        )


def _changed(training: TrainConfig, changes: dict[str, Any] | None) -> TrainConfig:
    try:
        return TrainConfig.model_validate(training.model_dump() | (changes or {}))
    except ValidationError as error:
        raise ConfigError(f"The settings of training do not hold: {first_problem(error)}. Correct this one.") from error


def _train_trees(dataset: GraphDataset, folder: Path, seed: int) -> Card:
    molecules = dataset.schema.chemistry is not None
    config = TreesConfig(features="morgan" if molecules else "wl")
    judge = fit_trees(dataset, config, seed)
    settings = {"role": "judge", "preset": "trees", "seed": seed}
    return save_model(judge, folder, DataCard.of(dataset), settings, measure_classifier(judge, dataset.part("test")))


def _fit_in_processes(plan: Recipe, dataset: GraphDataset, folder: Path, resume: bool, processes: int) -> list[Epoch]:
    """Train with torch DDP in `processes` processes on this machine; the weights come back through the checkpoint."""
    import torch.multiprocessing as mp

    port = _free_port()
    mp.spawn(_one_process, (processes, port, plan, dataset, folder, resume), nprocs=processes)  # pyright: ignore
    return read_result(plan.model, folder)


def _one_process(
    rank: int, world: int, port: int, plan: Recipe, dataset: GraphDataset, folder: Path, resume: bool
) -> None:
    torch.set_num_threads(1)
    # Tensors reach a process as shared memory; each needs weights of its own.
    model = copy.deepcopy(plan.model)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    try:
        fit(model, plan.objective, dataset, plan.training, folder, resume)
    finally:
        torch.distributed.destroy_process_group()


def _free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
