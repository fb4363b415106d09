"""`graphflip demo`: a first look, with models and molecules of the package."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, prepare, show


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the explanations (counterfactuals.jsonl).")] = Path(
        "demo"
    ),
) -> None:
    """Explain well-known molecules with models of the package, and write a page to open in a browser."""
    from ..report.demo import run_demo

    prepare()
    page = run_demo(out, show)
    console.print(f"Open [bold]{page}[/bold] in a browser; the explanations are in {out / 'counterfactuals.jsonl'}.")
