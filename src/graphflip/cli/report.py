"""`graphflip report`."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, prepare


def report(
    results: Annotated[Path, typer.Argument(help="counterfactuals.jsonl, or the folder of a job or of a benchmark.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    limit: Annotated[int, typer.Option(min=1, help="Show so many explanations, the first of each file.")] = 1000,
) -> None:
    """Write one page with pictures, edits in words and verdicts, to open in a browser or to send by mail."""
    prepare()
    write_page(results, out, limit)


def write_page(results: Path, out: Path, limit: int = 1000) -> None:
    """Write the report of results, and say where it is."""
    from ..report.page import write_report
    from ..report.results import read_results

    write_report(out, read_results(results, limit))
    console.print(f"Open [bold]{out}[/bold] in a browser.")
