"""`graphflip bench`: experiments on whole test splits."""

from pathlib import Path
from typing import Annotated

import typer

from .report import write_page
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
    from ..bench.paper.experiment import run_paper
    from ..data.tu.reading import PAPER_SETS
    from .progress import task_bar

    prepare()
    names = list(PAPER_SETS) if data == "all" else [data]
    with task_bar(console) as watch:
        written = run_paper(names, out, limit, range(seeds), watch)
    console.print(f"Tables, figure and counterfactuals are in {written}.")
    write_page(written, written / "report.html")


@app.command()
def quality(
    data: Annotated[str, typer.Option(help="Some of mutagenicity, nci1, aids, planted; or all.")] = "all",
    part: Annotated[str, typer.Option(help="test, or validation to choose settings on.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many graphs of each set: a quick look.")] = None,
    methods: Annotated[str, typer.Option(help="Rows of the table by name, such as minimal,limit; or all.")] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds for what is random.")] = 3,
    workers: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for tables, picture and counterfactuals.")] = Path(
        "results/quality"
    ),
) -> None:
    """Measure how small, believable and valid counterfactuals are, method by method.

    A run that was stopped or killed goes on when the same command is given again.
    """
    from ..bench.quality.benchmark import DATASETS, run_quality
    from ..bench.quality.rows import ROWS, chosen
    from .progress import task_bar

    prepare()
    names = list(DATASETS) if data == "all" else _split(data)
    rows = ROWS if methods == "all" else chosen(_split(methods))
    with task_bar(console) as watch:
        written = run_quality(names, out, rows, part, limit, range(seeds), workers, watch)
    console.print(f"Tables, picture and counterfactuals are in {written}.")
    write_page(written, written / "report.html")


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
