"""What all commands share: where they print, and how they begin."""

from typing import Annotated

import typer
from rich.console import Console

console = Console(stderr=False, emoji=False)
complaints = Console(stderr=True, emoji=False)

Data = Annotated[
    str,
    typer.Argument(help="aids, mutagenicity, nci1, planted, rdkit, a SMILES file, PyG's .pt, or a TU folder or zip."),
]


def prepare() -> None:
    """Set up the process for large arrays; called by commands that compute."""
    from ..nn.memory import keep_memory

    keep_memory()


def report_bad(count: int) -> None:
    """Say how many rows were left out."""
    if count:
        complaints.print(f"[yellow]{count} rows could not be read and were left out.[/yellow]")
