"""Workers: processes that compute, so that pages stay quick, a limit is a limit, and a crash takes nothing with it."""

import asyncio
import json
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..errors import GraphflipError
from .config import ViewerConfig

log = logging.getLogger(__name__)

Watch = Callable[[dict[str, Any]], None]

_LINE_LIMIT = 2**26
_GRACE = 2.0


class Refused(GraphflipError):
    """What was asked cannot be done; the message is for the one who asked."""


class Interrupted(GraphflipError):
    """The computation was ended before it was done; `reason` is "cancelled", "time" or "crashed"."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class AbstractWorker(ABC):
    """Does one thing at a time; `models` says what it has loaded."""

    models: list[dict[str, Any]]

    @abstractmethod
    async def start(self) -> None:
        """Load the models."""

    @abstractmethod
    async def run(self, task: dict[str, Any], seconds: float, watch: Watch = lambda _: None) -> dict[str, Any]:
        """Have a task done. Raises Refused if it cannot be, Interrupted if it was ended."""

    @abstractmethod
    def interrupt(self, reason: str) -> None:
        """End what is being done."""

    @abstractmethod
    async def stop(self) -> None:
        """End for good."""


class Worker(AbstractWorker):
    """A process of `graphflip.viewer.compute` that does one thing at a time.

    It is told what to do by lines of JSON and answers by such lines. To interrupt it is to ask it first and to kill it
    if it does not listen; then another process takes its place.
    """

    def __init__(self, settings: ViewerConfig):
        self.settings = settings
        self.models = []
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_working = False
        self._reason: str | None = None
        self._last_resort: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        # A task of its own, which nobody cancels: asyncio waits forever for a process whose making was cancelled.
        self._starting = asyncio.create_task(self._start())
        await asyncio.wait({self._starting})
        self._starting.result()

    async def run(self, task: dict[str, Any], seconds: float, watch: Watch = lambda _: None) -> dict[str, Any]:
        self._reason, self._last_resort, timer = None, None, None
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
                    raise Refused(message["refused"])
                else:
                    raise Interrupted(self._reason or "crashed")
            self._starting = asyncio.create_task(self._start())
            raise Interrupted(self._reason or "crashed")
        finally:
            self._is_working = False
            for pending in (timer, self._last_resort):
                if pending is not None:
                    pending.cancel()

    def interrupt(self, reason: str) -> None:
        self._reason = reason
        if self._is_working:
            self._send({"cancel": True})
            self._last_resort = asyncio.get_running_loop().call_later(_GRACE, self._kill)

    async def stop(self) -> None:
        while self._starting is not None and not self._starting.done():
            self._kill()
            await asyncio.wait({self._starting}, timeout=0.1)
        if self._starting is not None:
            self._starting.exception()  # has been seen: a start that was ended is no fault
        if self._process is not None:
            self._kill()
            await self._process.wait()

    async def _start(self) -> None:
        sources = json.dumps({"models": self.settings.models, "classifier": self.settings.classifier})
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "graphflip.viewer.compute", sources),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT,
        )
        hello = await self._receive()
        if hello is None or "models" not in hello:
            raise Refused((hello or {}).get("refused", "A worker of the viewer ended before its models were loaded."))
        self.models = hello["models"]

    async def _ready(self) -> None:
        """Wait until there is a process that can be told what to do."""
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
        """The next message; None if the process has ended."""
        if self._process is None or self._process.stdout is None:
            return None
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            await self._process.wait()
            return None
        return json.loads(line)

    def _kill(self) -> None:
        if self._process is not None and self._is_alive():
            self._process.kill()
