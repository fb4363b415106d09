"""`graphflip serve`."""

from typing import Annotated

import typer

from .terminal import complaints, console

_LOCAL = "127.0.0.1"


def serve(
    model: Annotated[
        list[str] | None, typer.Option(help="A kit: mutagenicity, aids, nci1 or a folder. Repeat it.")
    ] = None,
    classifier: Annotated[str | None, typer.Option(help="package.module:factory of a classifier of your own.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine's can then see the page.")
    ] = _LOCAL,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8765,
    name: Annotated[
        list[str] | None, typer.Option(help="A further host name by which browsers reach it. Repeat it.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that search for explanations.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit for each question.")] = 60.0,
) -> None:
    """Open a page in which to explain molecules: look, freeze, slide, undo, download."""
    from ..viewer.config import ViewerConfig
    from ..viewer.serve import serve as run

    settings = ViewerConfig(
        models=tuple(model or ["mutagenicity"]),
        classifier=classifier,
        host=host,
        port=port,
        names=tuple(name or ()),
        workers=workers,
        seconds=seconds,
    )
    if not settings.is_local:
        complaints.print(
            f"[yellow]Warning:[/yellow] {host} can be reached from other machines, and the viewer asks nobody for a "
            "password. Serve it to people you trust, or behind a proxy that knows them."
        )
    console.print("Loading models …")
    run(settings, lambda line: console.print(line, highlight=False))
