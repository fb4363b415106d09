"""Run the viewer's server until it is stopped."""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import nullcontext, suppress

from ..errors import ConfigError, require
from .config import ViewerConfig


def serve(config: ViewerConfig, say: Callable[[str], None]) -> None:
    """Load the models, print the address of the page with `say`, and serve until Ctrl-C or a TERM signal."""
    for package in ("fastapi", "uvicorn"):
        require(package, "viewer", "The viewer")
    with _open_socket(config) as listener, suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_run(config, listener, say))
    say("Stopped.")


async def _run(config: ViewerConfig, listener: socket.socket, say: Callable[[str], None]) -> None:
    import uvicorn

    from .app import create_app

    app, this_task = create_app(config), asyncio.current_task()
    options = uvicorn.Config(
        app,
        http=_impatient(config.read_seconds),
        limit_concurrency=1000,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,  # long, so that no request meets a connection that is being closed
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(options)
    # Uvicorn's own signal handling would end the process before the workers have ended.
    server.capture_signals = nullcontext  # pyright: ignore[reportAttributeAccessIssue]
    _on_stop_signal(lambda: this_task and this_task.cancel())
    async with app.router.lifespan_context(app):
        _on_stop_signal(lambda: (server.handle_exit(signal.SIGTERM, None), app.state.server.sessions.wake_all()))
        listener.listen()  # from now on connections wait for the server and are not refused
        say(f"The viewer is at {config.entrance} (stop it with Ctrl-C).")
        await server.serve(sockets=[listener])


def _impatient(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol, which closes connections that do not send a whole head of a request in this time."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def _watch(self) -> None:
            """Start the clock when a request begins, and stop it when its head is there."""
            waits = self.conn.their_state is h11.IDLE
            if self._timer is not None and not waits:
                self._timer.cancel()
                self._timer = None
            elif self._timer is None and waits:
                self._timer = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._timer is not None:
                self._timer.cancel()

    return Impatient


def _on_stop_signal(act: Callable[[], object]) -> None:
    """Call a function at Ctrl-C or a TERM signal; on systems without signal handlers, nothing changes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(number, act)


def _open_socket(config: ViewerConfig) -> socket.socket:
    """Bind the socket before models are loaded, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"The viewer must be able to listen on {config.host}, port {config.port}; {error.strerror}. "
            "Choose another with --port or --host."
        ) from error
    return listener
