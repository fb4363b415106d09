"""Workers: processes that run tasks, so that pages stay fast, time limits hold, and a crash does not end the server."""

import asyncio
import json
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import GraphflipError
from ..jobs.plain_json import without_halves
from .config import ViewerConfig

log = logging.getLogger(__name__)

Watch = Callable[[dict[str, Any]], None]
"""A function that is called with the progress of a task."""

_LINE_LIMIT = 2**26
"""Most bytes of a message from the process."""
_SECONDS_TO_STOP = 2.0
"""Time to end a task when asked to, before the process is killed."""


class Refused(GraphflipError):
    """A task cannot be done; the message is for the person who asked, and `actions` are what the page may offer."""

    def __init__(self, message: str, actions: Sequence[dict[str, Any]] = ()):
        super().__init__(message)
        self.actions = list(actions)


class Interrupted(GraphflipError):
    """A task was ended before it was done; `reason` is "cancelled", "time" or "crashed"."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class AbstractWorker(ABC):
    """Runs one task at a time; `models` describes the kits that it has loaded."""

    models: list[dict[str, Any]]

    @abstractmethod
    async def start(self) -> None:
        """Load the models."""

    @abstractmethod
    async def run(self, task: dict[str, Any], seconds: float, watch: Watch = lambda _: None) -> dict[str, Any]:
        """Run a task and return its result; `watch` is called with its progress.

        Raises Refused if it cannot be done, Interrupted if it was ended or took more than `seconds`.
        """

    @abstractmethod
    def interrupt(self, reason: str) -> None:
        """End the task that is running, for this reason."""

    @abstractmethod
    async def stop(self) -> None:
        """End the worker for good."""


class Worker(AbstractWorker):
    """A process that runs `graphflip.viewer.work.compute`; tasks and results are lines of JSON through its pipes.

    To interrupt a task, the process is asked to stop. If it does not within two seconds it is killed, and a new process
    takes its place. `nice` lowers the priority of the process.
    """

    def __init__(self, config: ViewerConfig, nice: int = 5):
        self.config, self.nice = config, nice
        self.models = []
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_working = False
        self._reason: str | None = None
        self._kill_timer: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        # An asyncio task that nobody cancels: asyncio would wait forever for a process whose creation was cancelled.
        self._starting = asyncio.create_task(self._start())
        await asyncio.wait({self._starting})
        self._starting.result()

    async def run(self, task: dict[str, Any], seconds: float, watch: Watch = lambda _: None) -> dict[str, Any]:
        self._reason, self._kill_timer, timer = None, None, None
        try:
            await self._ready()
            if self._reason is not None:
                raise Interrupted(self._reason)
            self._is_working = True
            timer = asyncio.get_running_loop().call_later(seconds, self.interrupt, "time")
            self._send({"run": task})
            while (message := await self._receive()) is not None:
                if "progress" in message:
                    watch(message["progress"])
                elif "result" in message:
                    return message["result"]
                elif "refused" in message:
                    raise Refused(message["refused"], message.get("actions", ()))
                else:
                    raise Interrupted(self._reason or "crashed")
            self._starting = asyncio.create_task(self._start())
            raise Interrupted(self._reason or "crashed")
        finally:
            self._is_working = False
            for pending in (timer, self._kill_timer):
                if pending is not None:
                    pending.cancel()

    def interrupt(self, reason: str) -> None:
        self._reason = reason
        if self._is_working:
            self._send({"cancel": True})
            self._kill_timer = asyncio.get_running_loop().call_later(_SECONDS_TO_STOP, self._kill)

    async def stop(self) -> None:
        while self._starting is not None and not self._starting.done():
            self._kill()
            await asyncio.wait({self._starting}, timeout=0.1)
        if self._starting is not None:
            self._starting.exception()  # retrieved, or asyncio would log it; an interrupted start is no error
        if self._process is not None:
            self._kill()
            await self._process.wait()

    async def _start(self) -> None:
        sources = json.dumps({"models": self.config.models, "classifier": self.config.classifier, "nice": self.nice})
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "graphflip.viewer.work.compute", sources),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT,
        )
        loaded = await self._receive()
        if loaded is None or "models" not in loaded:
            raise Refused((loaded or {}).get("refused", "A worker of the viewer ended before its models were loaded."))
        self.models = loaded["models"]

    async def _ready(self) -> None:
        """Wait until there is a process that can take a task."""
        if self._starting is None or (self._starting.done() and not self._is_alive()):
            self._starting = asyncio.create_task(self._start())
        await asyncio.wait({self._starting})
        if self._starting.exception() is not None:
            log.error("A worker could not be started: %s", self._starting.exception())
            raise Interrupted("crashed")

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def _send(self, message: dict[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _receive(self) -> dict[str, Any] | None:
        """The next message of the process; None if it has ended."""
        if self._process is None or self._process.stdout is None:
            return None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            await self._process.wait()
            return None
        return without_halves(json.loads(line))

    def _kill(self) -> None:
        if self._process is not None and self._is_alive():
            self._process.kill()
