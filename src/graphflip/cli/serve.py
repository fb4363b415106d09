"""`graphflip serve`: the viewer in a browser."""

from typing import Annotated

import typer

from .terminal import complaints, console

_LOCAL = "127.0.0.1"


def serve(
    model: Annotated[
        list[str] | None, typer.Option(help="A kit: ames, logp, mutagenicity, aids, nci1 or a folder. Can be repeated.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option(help="Use a classifier of your own: package.module:factory.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. With any but the default, other machines can open the page.")
    ] = _LOCAL,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8765,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A further host name that browsers may use for the server. Can be repeated."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes that search for explanations.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of each search, in seconds.")] = 60.0,
) -> None:
    """Serve a web page on which to explain graphs: ask, keep parts fixed, undo changes, download."""
    from ..viewer.config import ViewerConfig
    from ..viewer.serve import serve as run_server

    config = ViewerConfig(
        models=tuple(model or ["ames"]),
        classifier=classifier,
        host=host,
        port=port,
        names=tuple(name or ()),
        workers=workers,
        seconds=seconds,
    )
    if not config.is_local:
        complaints.print(
            f"[yellow]Warning:[/yellow] {host} can be reached from other machines, and the viewer asks nobody for a "
            "password. Serve it to people you trust, or behind a proxy that knows them."
        )
    console.print("Loading models …")
    run_server(config, lambda line: console.print(line, highlight=False))
