"""Serve: run the viewer until somebody stops it."""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import nullcontext, suppress

from ..errors import ConfigError, require
from .config import ViewerConfig


def serve(settings: ViewerConfig, say: Callable[[str], None]) -> None:
    """Load the models, say where the page is, and answer requests until the process is told to end."""
    for package in ("fastapi", "uvicorn"):
        require(package, "viewer", "The viewer")
    with _listen(settings) as door, suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_run(settings, door, say))
    say("Stopped.")


async def _run(settings: ViewerConfig, door: socket.socket, say: Callable[[str], None]) -> None:
    import uvicorn

    from .app import create_app

    app, here = create_app(settings), asyncio.current_task()
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,  # so long that no request meets a connection which is being closed
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    # Its own way to handle signals ends the process before workers have ended.
    server.capture_signals = nullcontext  # pyright: ignore[reportAttributeAccessIssue]
    _when_told_to_end(lambda: here and here.cancel())
    async with app.router.lifespan_context(app):
        _when_told_to_end(lambda: server.handle_exit(signal.SIGTERM, None))
        door.listen()  # who comes now waits a moment and is not turned away
        say(f"The viewer is at {settings.address} (stop it with Ctrl-C).")
        await server.serve(sockets=[door])


def _when_told_to_end(act: Callable[[], object]) -> None:
    """Have this done at Ctrl-C or a TERM signal; where that cannot be, the system does what it does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(number, act)


def _listen(settings: ViewerConfig) -> socket.socket:
    """The socket, opened before models are loaded: a port that is taken is known at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((settings.host, settings.port))
    except OSError as error:
        door.close()
        raise ConfigError(
            f"The viewer must be able to listen on {settings.host}, port {settings.port}; {error.strerror}. "
            "Choose another with --port or --host."
        ) from error
    return door
