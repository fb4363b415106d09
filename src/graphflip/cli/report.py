"""`graphflip report`: results as an HTML page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .terminal import console, prepare

if TYPE_CHECKING:
    from ..explain.explainer import Explainer


def report(
    results: Annotated[
        Path, typer.Argument(help="A counterfactuals.jsonl file, or the folder of a job or a benchmark.")
    ],
    out: Annotated[Path, typer.Option(help="File of the page.")] = Path("report.html"),
    limit: Annotated[
        int, typer.Option(min=1, help="Most explanations to show; the first ones of each file are taken.")
    ] = 1000,
    model: Annotated[
        str | None,
        typer.Option(help="Draw the probability along the latent path of this kit: ames, or a folder."),
    ] = None,
) -> None:
    """Write results as one HTML page with pictures, edits in words and evidence, to open in a browser or to mail."""
    from ..explain.explainer import load

    prepare()
    write_page(results, out, limit, load(model) if model is not None else None)


def write_page(results: Path, out: Path, limit: int = 1000, explainer: "Explainer | None" = None) -> None:
    """Write the report of some results, with latent paths if there is an explainer to walk them, and print its path."""
    from ..report.page import write_report
    from ..report.paths import along_latent_paths
    from ..report.results import read_results

    stored = read_results(results, limit, explainer.kit.schema if explainer else None)
    write_report(out, along_latent_paths(stored, explainer) if explainer else stored)
    console.print(f"Open [bold]{out}[/bold] in a browser.")
