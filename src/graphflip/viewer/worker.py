"""Workers: processes that run tasks, so that pages stay fast, time limits hold, and a crash does not end the server."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..errors import GraphflipError
from ..jobs.plain_json import without_halves
from .config import ViewerConfig

log = logging.getLogger(__name__)

Watch = Callable[[dict[str, Any]], None]
"""A function that is called with news of a task: its `progress`, or the `answers` found so far."""

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
        """Run a task and return its result; `watch` is called with news of it.

        Raises Refused if it cannot be done, Interrupted if it was ended or took more than `seconds`.
        """

    @abstractmethod
    def interrupt(self, reason: str) -> None:
        """End the task that is running, for this reason."""

    @abstractmethod
    async def stop(self) -> None:
        """End the worker for good."""


class WorkerHost:
    """A process that loads the models (`graphflip.viewer.work.compute`); all workers are forked from it.

    So the models are loaded once, a further worker costs next to no time and memory, and one that was killed is
    replaced at once.
    """

    def __init__(self, config: ViewerConfig):
        self.config = config
        self._process: asyncio.subprocess.Process | None = None
        self._control: socket.socket | None = None
        self._starting: asyncio.Task[None] | None = None

    async def fork(self, nice: int) -> socket.socket:
        """Start another worker, whose priority is lower by `nice`; gives the socket to talk to it."""
        if self._starting is None or (self._starting.done() and not self._is_alive()):
            self._starting = asyncio.create_task(self._start())
        # Shielded: asyncio would wait forever for a process whose creation was cancelled.
        await asyncio.shield(self._starting)
        ours, theirs = socket.socketpair()
        with (
            theirs,
            suppress(OSError),
        ):  # of a process that has just ended, the reader finds the end
            assert self._control is not None
            socket.send_fds(self._control, [bytes([nice])], [theirs.fileno()])
        return ours

    async def stop(self) -> None:
        """End the process, which ends its workers first."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            # Not `asyncio.timeout`: in a task that was cancelled, that of Python 3.11.2 raises no TimeoutError.
            ended = asyncio.create_task(self._process.wait())
            await asyncio.wait({ended}, timeout=_SECONDS_TO_STOP)
            if not ended.done():  # it is loading models
                self._process.kill()
                await ended

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _start(self) -> None:
        """Start the process; it answers requests as soon as the models are loaded."""
        if self._control is not None:
            self._control.close()
        self._control, theirs = socket.socketpair()
        chosen = {"models": self.config.models, "classifier": self.config.classifier, "control": theirs.fileno()}
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "graphflip.viewer.work.compute", json.dumps(chosen)),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )


class Worker(AbstractWorker):
    """A process, forked from a host, that runs one task after the other; they talk through a socket in lines of JSON.

    To interrupt a task, the process is asked to stop. If it does not within two seconds it is killed, and a new process
    takes its place. `nice` lowers the priority of the process.
    """

    def __init__(self, host: WorkerHost, nice: int = 5):
        self.host, self.nice = host, nice
        self.models = []
        self.pid = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_working = False
        self._reason: str | None = None
        self._kill_timer: asyncio.TimerHandle | None = None

    async def start(self) -> None:
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
            return await self._result(watch)
        finally:
            self._is_working = False
            for pending in (timer, self._kill_timer):
                if pending is not None:
                    pending.cancel()

    async def _result(self, watch: Watch) -> dict[str, Any]:
        """Listen until the task has ended."""
        while (message := await self._receive()) is not None:
            if "news" in message:
                watch(message["news"])
                continue
            if message.get("leaves"):  # a new process takes its place, with the priority that this one has lost
                self._replace()
            if "result" in message:
                return message["result"]
            if "refused" in message:
                raise Refused(message["refused"], message.get("actions", ()))
            raise Interrupted(self._reason or "crashed")
        self._replace()
        raise Interrupted(self._reason or "crashed")

    def interrupt(self, reason: str) -> None:
        self._reason = reason
        if self._is_working:
            self._send({"cancel": True})
            self._kill_timer = asyncio.get_running_loop().call_later(_SECONDS_TO_STOP, self._kill)

    async def stop(self) -> None:
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        self._close()

    def _replace(self) -> None:
        self._starting = asyncio.create_task(self._start())

    async def _start(self) -> None:
        self._close()
        channel = await self.host.fork(self.nice)
        self._reader, self._writer = await asyncio.open_unix_connection(sock=channel, limit=_LINE_LIMIT)
        loaded = await self._receive()
        if loaded is None or "models" not in loaded:
            raise Refused((loaded or {}).get("refused", "A worker of the viewer ended before its models were loaded."))
        self.models, self.pid = loaded["models"], loaded["pid"]

    async def _ready(self) -> None:
        """Wait until there is a process that can take a task."""
        if self._starting is None or (self._starting.done() and (self._reader is None or self._reader.at_eof())):
            self._replace()
        assert self._starting is not None
        await asyncio.wait({self._starting})
        if self._starting.exception() is not None:
            log.error("A worker could not be started: %s", self._starting.exception())
            raise Interrupted("crashed")

    def _send(self, message: dict[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def _receive(self) -> dict[str, Any] | None:
        """The next message of the process; None if it has ended."""
        if self._reader is None:
            return None
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        return without_halves(json.loads(line)) if line.endswith(b"\n") else None

    def _kill(self) -> None:
        """End the process at once."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _close(self) -> None:
        """End the process, if there is one, and the connection to it."""
        self._kill()
        self.pid = 0
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
