"""The explainer that the package carries, and a server that serves it to a real browser."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

import graphflip
from graphflip.viewer.app import create_app
from graphflip.viewer.settings import Settings


@pytest.fixture(scope="session")
def explainer():
    return graphflip.load("mutagenicity")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a viewer with real workers."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        settings = Settings(port=door.getsockname()[1], waiting=500, max_smiles=200, seconds=300.0, quick_seconds=120.0)
        app = create_app(settings)
        running = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=1))

        async def serve() -> None:
            async with app.router.lifespan_context(app):
                await running.serve(sockets=[door])

        thread = threading.Thread(target=asyncio.run, args=(serve(),))
        thread.start()
        while not running.started and thread.is_alive():
            time.sleep(0.05)
        yield settings.address
        running.should_exit = True
        thread.join(timeout=20)
