"""`graphflip bench`: experiments on whole test splits."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, prepare

app = typer.Typer(help="Measure explainers on whole test splits.", no_args_is_help=True)


@app.command()
def paper(
    data: Annotated[str, typer.Option(help="aids, mutagenicity, nci1 or all.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for tables, figure and counterfactuals.")] = Path("results/paper"),
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many test graphs: a quick look.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds for the walk.")] = 3,
) -> None:
    """Run the paper's experiment: walk, baselines, metrics, tables and figure."""
    from ..bench.paper import run_paper
    from ..data.tu import PAPER_SETS
    from ..progress import task_bar

    prepare()
    names = list(PAPER_SETS) if data == "all" else [data]
    with task_bar(console) as watch:
        written = run_paper(names, out, limit, range(seeds), watch)
    console.print(f"Tables, figure and counterfactuals are in {written}.")
