"""Consoles and set-up that all commands share."""

import re
from typing import Annotated

import typer
from rich.console import Console

console = Console(stderr=False, emoji=False)
complaints = Console(stderr=True, emoji=False)

Data = Annotated[
    str,
    typer.Argument(
        help="ames, aids, mutagenicity, nci1, planted, rdkit, a SMILES file, a .pt file of PyG graphs, or a TU folder "
        "or zip."
    ),
]


def show(text: str, console: Console = console) -> None:
    """Print a text as it stands: brackets are no markup.

    Signs that would steer the terminal, and halves of characters, which no terminal can show, are spelled out.
    """
    console.print(_CONTROLS.sub(_spelled, text), markup=False, highlight=False, soft_wrap=True)


def _spelled(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def prepare() -> None:
    """Set up memory for large tensors; called by commands that compute."""
    from ..nn.memory import keep_memory

    keep_memory()


def report_bad(count: int) -> None:
    """Print the number of rows that could not be read, if there are any."""
    if count:
        rows = "1 row" if count == 1 else f"{count} rows"
        complaints.print(f"[yellow]{rows} could not be read and {'was' if count == 1 else 'were'} left out.[/yellow]")
