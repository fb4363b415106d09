"""A viewer that runs in a thread of the tests, for real browsers."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from graphflip.viewer.app import create_app
from graphflip.viewer.config import ViewerConfig


@contextmanager
def serving(**settings: Any) -> Iterator[str]:
    """Serve with some settings, at the address that is given."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        config = ViewerConfig(port=door.getsockname()[1], **settings)
        app = create_app(config)
        running = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=1))

        async def serve() -> None:
            async with app.router.lifespan_context(app):
                await running.serve(sockets=[door])

        thread = threading.Thread(target=asyncio.run, args=(serve(),))
        thread.start()
        while not running.started and thread.is_alive():
            time.sleep(0.05)
        try:
            yield config.address
        finally:
            running.should_exit = True
            thread.join(timeout=20)
