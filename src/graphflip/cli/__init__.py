"""The command line: each command parses its options, calls one library function, and prints the result."""

import sys
from typing import Annotated

import typer

from ..errors import GraphflipError
from ..version import __version__
from . import bench, check, demo, explain, fit, report, score, serve, summarize, train
from .terminal import complaints, console, show

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in (
    *(explain.explain, explain.export, summarize.summarize, score.score, report.report),
    *(fit.fit, check.check, train.train, train.models, demo.demo, serve.serve),
):
    app.command()(command)
app.add_typer(bench.app, name="bench")


def _print_version(is_wanted: bool) -> bool:
    if is_wanted:
        console.print(f"graphflip {__version__}")
        raise typer.Exit
    return is_wanted


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the smallest believable change of a graph that changes a classifier's answer."""


def main() -> None:
    """Run the command line. Errors that users can cause print a message and exit with code 2, without a traceback."""
    try:
        app()
    except GraphflipError as error:
        complaints.print("[red]Error:[/red] ", end="")
        show(str(error), complaints)
        sys.exit(2)
    except KeyboardInterrupt:
        complaints.print("Interrupted. Give the same command again to go on; training needs --resume.")
        sys.exit(130)
