"""Jobs: questions that take time, their line, and the workers that answer them."""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import GraphflipError
from .worker import AbstractWorker, Interrupted, Refused

log = logging.getLogger(__name__)

State = Literal["waiting", "running", "done", "failed", "cancelled"]

_REASONS = {
    "time": "The time limit was reached. Ask for fewer alternatives or a smaller graph, or serve with more --seconds.",
    "crashed": "The computation ended unexpectedly; the server's log says why. Try again, or another graph.",
}


class Busy(GraphflipError):
    """There is no room for another question at the moment; `retry_after` says when to come back, in seconds."""

    def __init__(self, message: str, retry_after: int):
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(eq=False)
class Job:
    """One question and, when it has been answered, its answers. `version` grows with every change."""

    asked: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "waiting"
    version: int = 0
    progress: dict[str, Any] | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return self.state not in ("waiting", "running")

    def update(self, **changes: Any) -> None:
        """Change it and wake those who wait for that."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    async def wait(self, seen: int, seconds: float) -> None:
        """Return when there is something that was not seen yet, or after so many seconds."""
        if self.version == seen and not self.ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), seconds)


class Line:
    """A bounded line of jobs before a few workers: first come, first served."""

    def __init__(self, workers: Sequence[AbstractWorker], waiting: int, seconds: float):
        self.workers, self.limit, self.seconds = workers, waiting, seconds
        self._waiting: deque[Job] = deque()
        self._running: dict[str, AbstractWorker] = {}
        self._arrived = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Load the models, then begin to serve."""
        await asyncio.gather(*(worker.start() for worker in self.workers))
        self._tasks = [asyncio.create_task(self._serve(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """Stop serving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    def submit(self, job: Job) -> None:
        """Put a job at the end of the line."""
        if len(self._waiting) >= self.limit:
            raise Busy(f"{len(self._waiting)} questions are waiting already. Try again in a moment.", retry_after=5)
        self._waiting.append(job)
        self._arrived.set()

    def cancel(self, job: Job) -> None:
        """Take a job out of the line, or end its computation."""
        if job.state == "waiting":
            self._waiting.remove(job)
            job.update(state="cancelled")
        elif job.id in self._running:
            self._running[job.id].interrupt("cancelled")

    def ahead(self, job: Job) -> int:
        """How many jobs stand before a waiting one."""
        return self._waiting.index(job) if job in self._waiting else 0

    async def _serve(self, worker: AbstractWorker) -> None:
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            job = self._waiting.popleft()
            self._running[job.id] = worker
            job.update(state="running")
            try:
                found = await worker.run(job.asked, self.seconds, lambda round_, job=job: job.update(progress=round_))
                job.update(state="done", answers=found["answers"])
            except Interrupted as end:
                state: State = "cancelled" if end.reason == "cancelled" else "failed"
                job.update(state=state, message=_REASONS.get(end.reason, ""))
            except Refused as refusal:
                job.update(state="failed", message=str(refusal))
            except Exception:
                log.exception("job failed")
                job.update(state="failed", message=_REASONS["crashed"])
            finally:
                del self._running[job.id]


class Desk:
    """One worker for what is quick: questions wait for each other, and only so many of them."""

    def __init__(self, worker: AbstractWorker, waiting: int, seconds: float):
        self.worker, self.limit, self.seconds = worker, waiting, seconds
        self._lock = asyncio.Lock()
        self._inside = 0

    async def start(self) -> None:
        """Load the models."""
        await self.worker.start()

    async def stop(self) -> None:
        """End the worker."""
        await self.worker.stop()

    async def ask(self, task: dict[str, Any]) -> dict[str, Any]:
        """Have something done at once, or raise Busy."""
        if self._inside >= self.limit:
            raise Busy("Many people are asking at this moment. Try again in a second.", retry_after=1)
        self._inside += 1
        try:
            async with self._lock:
                return await self.worker.run(task, self.seconds)
        finally:
            self._inside -= 1
