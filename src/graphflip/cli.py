"""The command line: each command parses, calls one library function, and prints."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from . import __version__
from .errors import GraphflipError

app = typer.Typer(
    help="What is the smallest believable change of this graph that changes the classifier's answer?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Measure explainers on whole test splits.", no_args_is_help=True)
app.add_typer(bench, name="bench")
console = Console(stderr=False)
complaints = Console(stderr=True)


class RoleName(StrEnum):
    """What a model is for."""

    classifier = "classifier"
    vae = "vae"
    judge = "judge"


Data = Annotated[
    str, typer.Argument(help="aids, mutagenicity, nci1, planted, rdkit, a SMILES file, or a TU folder or zip.")
]


@app.command()
def train(
    role: Annotated[RoleName, typer.Argument(help="What to train.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the model, its checkpoints and curves.")],
    preset: Annotated[
        str | None, typer.Option(help="classifier: default, paper; vae: modern, paper; judge: gnn, trees.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=2, help="Instead of the preset's.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate instead of the preset's.")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after so many epochs without a better score.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights, order and noise.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in --out.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="Train with torch DDP in so many processes.")] = 1,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
) -> None:
    """Train a classifier, an autoencoder or a judge, and write its model folder."""
    from .data.source import load_dataset
    from .models.recipes import train_model
    from .progress import training_bar

    _prepare()
    dataset = load_dataset(data, skip_bad)
    _report_bad(len(dataset.bad))
    asked = {"epochs": epochs, "batch_size": batch_size, "rate": rate, "patience": patience, "seed": seed}
    changes = {key: value for key, value in asked.items() if value is not None}
    with training_bar(console, f"{role.value} on {dataset.name}") as watch:
        card = train_model(role.value, dataset, out, preset, changes, resume, processes, watch)
    console.print(f"[bold]{card.kind}[/bold] in {out}; on the test part:")
    console.print("  " + ", ".join(f"{name} {value:.4g}" for name, value in card.figures.items()))


@app.command()
def models() -> None:
    """List the models that the package carries, with their figures on the test split."""
    from rich.table import Table

    from .models.store import PRETRAINED, pretrained_models, read_card

    table = Table("model", "kind", "test figures", box=None)
    for name in pretrained_models():
        card = read_card(PRETRAINED / name)
        shown = ("auroc", "accuracy", "neg_elbo", "kl", "atoms", "edges", "graphs")
        figures = ", ".join(f"{key} {card.figures[key]:.4g}" for key in shown if key in card.figures)
        table.add_row(name, card.kind, figures)
    console.print(table)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the file of explanations.")] = Path("demo"),
) -> None:
    """Explain well-known molecules with the models the package carries, and write a page to open."""
    from .report.demo import run_demo

    _prepare()
    # SMILES have brackets that are no markup.
    page = run_demo(out, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True))
    console.print(f"Open [bold]{page}[/bold] in a browser; the explanations are in {out / 'counterfactuals.jsonl'}.")


@bench.command()
def paper(
    data: Annotated[str, typer.Option(help="aids, mutagenicity, nci1 or all.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for tables, figure and counterfactuals.")] = Path("results/paper"),
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many test graphs: a quick look.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds for the walk.")] = 3,
) -> None:
    """Run the paper's experiment: walk, baselines, metrics, tables and figure."""
    from .bench.paper import run_paper
    from .data.tu import PAPER_SETS
    from .progress import task_bar

    _prepare()
    names = list(PAPER_SETS) if data == "all" else [data]
    with task_bar(console) as watch:
        written = run_paper(names, out, limit, range(seeds), watch)
    console.print(f"Tables, figure and counterfactuals are in {written}.")


def _version(value: bool) -> None:
    if value:
        console.print(f"graphflip {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What is the smallest believable change of this graph that changes the classifier's answer?"""


def main() -> None:
    """Run the command line; an error that a user can cause is a message and exit code 2, never a traceback."""
    try:
        app()
    except GraphflipError as error:
        complaints.print("[red]Error:[/red] ", end="")
        complaints.print(str(error), markup=False, highlight=False, soft_wrap=True)  # SMILES have brackets of their own
        sys.exit(2)
    except KeyboardInterrupt:
        complaints.print("Interrupted. Training goes on with --resume.")
        sys.exit(130)


def _prepare() -> None:
    from .memory import keep_memory

    keep_memory()


def _report_bad(count: int) -> None:
    if count:
        complaints.print(f"[yellow]{count} rows could not be read and were left out.[/yellow]")
