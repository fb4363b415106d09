"""Training by recipe: from a dataset to a model folder, in one process or several."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from ...data.dataset import GraphDataset
from ...errors import ConfigError, DataError
from ...schema import first_problem
from ..networks.classifier import AbstractClassifier
from ..networks.pegvae import PEGVAE
from ..networks.trees import TreesConfig, fit_trees
from ..storage.store import Card, DataCard, save_model
from .calibration import fit_temperature
from .curves import save_curves
from .evaluate import measure_classifier, measure_vae, predict
from .loop import fit, read_result
from .objectives import Classification
from .recipes import PRESETS, Recipe, recipe
from .schedule import Epoch, TrainConfig, TrainingProgress


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
    """Train a model by a recipe, calibrate and measure it, and write its folder with the training curves.

    Classifiers of most recipes are calibrated: their logits are divided by a temperature that is fitted on the
    validation part. Figures on the card are of the test part.

    Args:
        role: "classifier", "vae", "judge" or "surrogate".
        dataset: Dataset with the parts "train", "validation" and "test".
        folder: Folder for the model, its curves and its checkpoint.
        preset: Recipe for the role, one of `PRESETS[role]`; None is the first of them.
        changes: Settings of `TrainConfig` that replace those of the recipe.
        resume: Continue from the checkpoint in `folder`, if there is one.
        processes: Number of processes to train in, with torch DDP.
        watch: Called after each epoch of a run in one process.
        teacher: Classifier whose outputs a surrogate learns instead of labels; the data then need no labels.

    Returns:
        The card of the model, with its figures on the test part.

    Raises:
        ConfigError: Role, preset or settings are unknown, or a teacher is given for another role than a surrogate.
        DataError: All labels are the same, or a part has too few graphs.
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
    figures = _measured(plan, dataset)
    settings = {"role": role, "preset": preset, **training.model_dump(), **plan.objective.settings}
    save_curves(history, folder)
    return save_model(plan.model, folder, DataCard.of(dataset), settings, figures)


def _measured(plan: Recipe, dataset: GraphDataset) -> dict[str, float]:
    """Figures of a trained model on the test part; it is calibrated first, if its recipe says so."""
    test, model, objective = dataset.part("test"), plan.model, plan.objective
    if isinstance(model, PEGVAE):
        return measure_vae(model, test)
    before: dict[str, float] = {}
    if plan.training.calibrate and isinstance(objective, Classification):
        before = {"ece_before": objective.measure(model, test)["ece"]}
        before["temperature"] = _calibrate(model, dataset.part("validation"), objective.weights)
    return objective.measure(model, test) | before


def _calibrate(model: Any, validation: GraphDataset, weights: tuple[float, ...]) -> float:
    """Set the temperature of a classifier to the one that fits the validation part, and return it."""
    temperature = fit_temperature(predict(model, validation), validation.labels, weights)
    model.config = model.config.model_copy(update={"temperature": temperature})
    return temperature


def require_pupil(role: str) -> None:
    """Raise a ConfigError unless models of this role can learn from a teacher."""
    if role != "surrogate":
        raise ConfigError(f"A teacher is for a surrogate; got one for a {role}. Leave it out: labels are learned.")


def require_labels(dataset: GraphDataset) -> None:
    """Raise a DataError unless there are graphs of two classes or, for labels that are numbers, different values."""
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


_TREES = TreesConfig().num_trees


def _train_trees(dataset: GraphDataset, folder: Path, seed: int) -> Card:
    molecules = dataset.schema.chemistry is not None
    # Few graphs are learned by few trees, and a tree takes as long whatever their number.
    config = TreesConfig(features="morgan" if molecules else "wl", num_trees=_TREES if len(dataset) >= 1000 else 80)
    judge = fit_trees(dataset, config, seed)
    settings = {"role": "judge", "preset": "trees", "seed": seed}
    return save_model(judge, folder, DataCard.of(dataset), settings, measure_classifier(judge, dataset.part("test")))


def _fit_in_processes(plan: Recipe, dataset: GraphDataset, folder: Path, resume: bool, processes: int) -> list[Epoch]:
    """Train with torch DDP in several processes on this machine; the weights come back through the checkpoint."""
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
