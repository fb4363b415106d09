"""`graphflip serve`: the viewer in a browser."""

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from .terminal import complaints, console, show

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
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of searches at a time; by default three for each core, at most 12."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Secret in the address of the page; by default a new one each time.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of each search, in seconds.")] = 60.0,
    read_seconds: Annotated[
        float, typer.Option(min=0.1, help="Time in which a request must have arrived as a whole, in seconds.")
    ] = 20.0,
    keep: Annotated[
        str | None,
        typer.Option(help="Folder in which questions and answers survive a restart; by default one in your home."),
    ] = None,
    summary: Annotated[
        list[str] | None,
        typer.Option(help='A folder of `graphflip summarize`, for the page "What it goes by". Can be repeated.'),
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Keep questions and answers in memory alone.")] = False,
) -> None:
    """Serve a web page on which to explain graphs: ask, keep parts fixed, undo changes, download."""
    from ..viewer.config import ViewerConfig
    from ..viewer.serve import serve as run_server

    config = ViewerConfig(
        models=tuple(model or ["ames"]),
        classifier=classifier,
        token=secrets.token_urlsafe(24) if token is None else token,
        host=host,
        port=port,
        names=tuple(name or ()),
        workers=min(12, 3 * (os.cpu_count() or 1)) if workers is None else workers,
        seconds=seconds,
        read_seconds=read_seconds,
        keep=None if forget else keep or _state_folder(),
        summaries=tuple(summary or ()),
    )
    if not config.is_local:
        complaints.print(
            f"[yellow]Warning:[/yellow] {host} can be reached from other machines. The address's token is the only "
            "password, and nothing is encrypted: use a network that you trust, or a proxy with TLS."
        )
    console.print("Loading models …")
    run_server(config, show)


def _state_folder() -> str:
    """The folder of this user for what programs keep between their runs."""
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return str(Path(root) / "graphflip" / "viewer")
