"""The command line: each command parses, calls one library function, and prints. One file for each family of them."""

import sys
from typing import Annotated

import typer

from ..errors import GraphflipError
from ..version import __version__
from . import bench, demo, explain, fit, report, score, serve, train
from .terminal import complaints, console

app = typer.Typer(
    help="What is the smallest believable change of this graph that changes the classifier's answer?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in (
    *(explain.explain, explain.export, score.score, report.report),
    *(fit.fit, train.train, train.models, demo.demo, serve.serve),
):
    app.command()(command)
app.add_typer(bench.app, name="bench")


def _version(value: bool) -> bool:
    if value:
        console.print(f"graphflip {__version__}")
        raise typer.Exit
    return value


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
        complaints.print("Interrupted. Give the same command again to go on; training needs --resume.")
        sys.exit(130)
