"""`graphflip train` and `graphflip models`: single models."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .terminal import Data, console, prepare, report_bad


class RoleName(StrEnum):
    """Roles of models in explanations."""

    classifier = "classifier"
    vae = "vae"
    judge = "judge"
    surrogate = "surrogate"


def train(
    role: Annotated[RoleName, typer.Argument(help="Role of the model.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the model, its checkpoints and its training curves.")],
    preset: Annotated[
        str | None,
        typer.Option(
            help="Architecture and settings. classifier: default, paper; vae: modern, paper; judge: gnn, trees; "
            "surrogate: gin, gin-deep, average, counts, linear, types."
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(help="Model folder of a classifier whose predictions a surrogate learns, not the labels."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of epochs. Default: the preset's.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=2, help="Graphs in a batch. Default: the preset's.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate. Default: the preset's.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after this many epochs without a better validation score.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of weights, order and noise.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint in --out.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="Number of processes to train in, with torch DDP.")] = 1,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
) -> None:
    """Train a classifier, an autoencoder, a judge or a surrogate, and write it to a folder."""
    from ..data.source import load_dataset
    from ..models.networks.classifier import AbstractClassifier
    from ..models.storage.lock import model_lock
    from ..models.storage.store import CARD, load_model
    from ..models.training.train import require_pupil, train_model
    from .progress import training_bar

    prepare()
    if teacher:
        require_pupil(role.value)
    teacher_model = load_model(teacher, expect=AbstractClassifier) if teacher else None
    dataset = load_dataset(data, skip_bad, None if teacher_model is None else teacher_model.schema)
    report_bad(len(dataset.bad))
    options = {"epochs": epochs, "batch_size": batch_size, "rate": rate, "patience": patience, "seed": seed}
    changes = {key: value for key, value in options.items() if value is not None}
    with model_lock(out, CARD, resume), training_bar(console, f"{role.value} on {dataset.name}") as watch:
        card = train_model(role.value, dataset, out, preset, changes, resume, processes, watch, teacher_model)
    console.print(f"[bold]{card.kind}[/bold] in {out}; on the test part:")
    console.print("  " + ", ".join(f"{name} {value:.4g}" for name, value in card.figures.items()))


def models() -> None:
    """List the models of the package, with their figures on the test split."""
    from rich.table import Table

    from ..models.storage.store import PRETRAINED, pretrained_models, read_card

    table = Table("model", "kind", "test figures", box=None)
    for name in pretrained_models():
        card = read_card(PRETRAINED / name)
        shown = ("auroc", "accuracy", "neg_elbo", "kl", "atoms", "edges", "graphs")
        figures = ", ".join(f"{key} {card.figures[key]:.4g}" for key in shown if key in card.figures)
        table.add_row(name, card.kind, figures)
    console.print(table)
