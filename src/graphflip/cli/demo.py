"""`graphflip demo`."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, prepare


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the file of explanations.")] = Path("demo"),
) -> None:
    """Explain well-known molecules with the models the package carries, and write a page to open."""
    from ..report.demo import run_demo

    prepare()
    # SMILES have brackets that are no markup.
    page = run_demo(out, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True))
    console.print(f"Open [bold]{page}[/bold] in a browser; the explanations are in {out / 'counterfactuals.jsonl'}.")
