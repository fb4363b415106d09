"""`graphflip report`."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, prepare


def report(
    results: Annotated[Path, typer.Argument(help="counterfactuals.jsonl, or the folder of a job or of a benchmark.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    limit: Annotated[int, typer.Option(min=1, help="Show so many explanations, the first of each file.")] = 1000,
    model: Annotated[
        str | None, typer.Option(help="Draw probabilities along the latent path of this kit: mutagenicity, a folder.")
    ] = None,
) -> None:
    """Write one page with pictures, edits in words and verdicts, to open in a browser or to send by mail."""
    prepare()
    write_page(results, out, limit, model)


def write_page(results: Path, out: Path, limit: int = 1000, model: str | None = None) -> None:
    """Write the report of results, and say where it is."""
    from ..explain.explainer import load
    from ..report.page import write_report
    from ..report.paths import along_latent_paths
    from ..report.results import read_results

    explainer = load(model) if model is not None else None
    found = read_results(results, limit, explainer.kit.schema if explainer else None)
    write_report(out, along_latent_paths(found, explainer) if explainer else found)
    console.print(f"Open [bold]{out}[/bold] in a browser.")
