"""Recipes: which model, objective and settings `graphflip train` uses for a role and a preset."""

import copy
import csv
import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import ValidationError
from torch import nn

from ..data.dataset import GraphDataset
from ..errors import ConfigError, require
from ..schema import first_problem
from .classifier import AttentionClassifier, InvariantClassifier, RelationalGIN
from .files import write_atomically
from .objectives import Classification, Reconstruction, measure_classifier, measure_vae
from .pegvae import PAPER, PEGVAE
from .store import Card, DataCard, save_model
from .train import Epoch, Objective, Progress, TrainConfig, fit, read_result
from .trees import TreesConfig, fit_trees

Role = Literal["classifier", "vae", "judge"]
PRESETS: dict[str, tuple[str, ...]] = {
    "classifier": ("default", "paper"),
    "vae": ("modern", "paper"),
    "judge": ("gnn", "trees"),
}
"""Presets of each role; the first is the default."""


@dataclass(frozen=True)
class Recipe:
    """A model that is trained by gradient descent."""

    model: nn.Module
    objective: Objective
    training: TrainConfig


def recipe(role: str, preset: str, dataset: GraphDataset) -> Recipe:
    """The recipe of a role and preset for a dataset (`judge/trees` has none: trees are grown, not descended)."""
    schema, classes = dataset.schema, max(len(dataset.classes), 2)

    def sized(cls: Any) -> nn.Module:
        return cls(schema, cls.default.model_copy(update={"num_classes": classes}))

    match role, preset:
        case "classifier", "default":
            return Recipe(sized(RelationalGIN), Classification(), TrainConfig(epochs=30))
        case "classifier", "paper":
            training = TrainConfig(epochs=100, rate=1e-3, weight_decay=1e-4, validate_every=2, pool=1, keep="last")
            return Recipe(sized(InvariantClassifier), Classification(), training)
        case "judge", "gnn":
            return Recipe(sized(AttentionClassifier), Classification(), TrainConfig(epochs=25, rate=1e-3, seed=1))
        case "vae", "modern":
            training = TrainConfig(epochs=200, weight_decay=1e-4, average=0.99, validate_every=5)
            return Recipe(PEGVAE(schema), Reconstruction(beta=0.05), training)
        case "vae", "paper":
            training = TrainConfig(epochs=150, weight_decay=1e-4, average=0.99, validate_every=5)
            beta = 0.1 if dataset.name == "aids" else 0.5  # as the paper's appendix has them
            return Recipe(PEGVAE(schema, PAPER), Reconstruction(beta=beta, burn_in=0.25), training)
    raise ConfigError(
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
    watch: Callable[[Progress], None] = lambda _: None,
) -> Card:
    """Train by a recipe, measure on the test part, and write the model folder with its curves.

    `changes` override single settings of the recipe's TrainConfig.
    """
    preset = preset or PRESETS.get(role, ("",))[0]
    if role != "vae":
        dataset.require_classes()
    if (role, preset) == ("judge", "trees"):
        return _train_trees(dataset, folder, _changed(TrainConfig(), changes).seed)
    plan = recipe(role, preset, dataset)
    training = _changed(plan.training, changes)
    plan = Recipe(plan.model, plan.objective, training)
    if processes > 1:
        history = _fit_in_processes(plan, dataset, folder, resume, processes)
    else:
        history = fit(plan.model, plan.objective, dataset, training, folder, resume, watch)
    measure = measure_vae if isinstance(plan.model, PEGVAE) else measure_classifier
    figures = measure(plan.model, dataset.part("test"))  # pyright: ignore[reportArgumentType]
    settings = {"role": role, "preset": preset, **training.model_dump()}
    if isinstance(plan.objective, Reconstruction):
        settings["beta"] = plan.objective.beta
    save_curves(history, folder)
    return save_model(plan.model, folder, DataCard.of(dataset), settings, figures)


def _changed(training: TrainConfig, changes: dict[str, Any] | None) -> TrainConfig:
    try:
        return TrainConfig.model_validate(training.model_dump() | (changes or {}))
    except ValidationError as error:
        raise ConfigError(f"The settings of training do not hold: {first_problem(error)}. Correct this one.") from error


def save_curves(history: list[Epoch], folder: Path) -> None:
    """The training curves as `curves.csv` and, where matplotlib is installed, as `curves.svg`."""
    names = sorted({name for line in history for name in line.figures})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["epoch", "loss", "rate", *names])
    for line in history:
        table.writerow([line.epoch, line.loss, line.rate, *(line.figures.get(name, "") for name in names)])
    write_atomically(folder / "curves.csv", text.getvalue().encode())
    if importlib.util.find_spec("matplotlib") is not None:
        write_atomically(folder / "curves.svg", _draw_curves(history, names))


def _draw_curves(history: list[Epoch], names: list[str]) -> bytes:
    figures = require("matplotlib.figure", "plot", "Drawing training curves")
    figure = figures.Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([line.epoch for line in history], [line.loss for line in history])
    left.set(xlabel="epoch", ylabel="training loss")
    shown = [name for name in names if name in ("auroc", "accuracy", "atoms", "edges", "graphs")] or names[:1]
    measured = [line for line in history if line.figures]
    for name in shown:
        right.plot([line.epoch for line in measured], [line.figures[name] for line in measured], label=name)
    right.set(xlabel="epoch", ylabel="validation")
    if shown:
        right.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


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
