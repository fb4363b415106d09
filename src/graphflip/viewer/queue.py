"""The queue of jobs, the workers that compute them, and one worker for quick tasks."""

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

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

_REASONS = {
    "time": "The time limit was reached. Ask for fewer alternatives or a smaller graph, or serve with more --seconds.",
    "crashed": "The computation ended unexpectedly; the server's log says why. Try again, or another graph.",
}


class Busy(GraphflipError):
    """The server has no room for another task now; the browser should try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int):
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(eq=False)
class Job:
    """A task that is computed in the background, its state and its answers. `version` grows with every change."""

    task: dict[str, Any]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: JobState = "waiting"
    version: int = 0
    progress: dict[str, Any] | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.state not in ("waiting", "running")

    def update(self, **changes: Any) -> None:
        """Set fields, and wake everybody who waits for a change."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    async def wait(self, seen: int, seconds: float) -> None:
        """Return as soon as the job has another version than `seen`, or after this many seconds."""
        if self.version == seen and not self.ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), seconds)


class JobQueue:
    """A queue of jobs with a limit, first in, first out, and the workers that take jobs from it."""

    def __init__(self, workers: Sequence[AbstractWorker], max_waiting: int, seconds: float):
        self.workers, self.max_waiting, self.seconds = workers, max_waiting, seconds
        self._waiting: deque[Job] = deque()
        self._running: dict[str, AbstractWorker] = {}
        self._arrived = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the workers, then let them take jobs."""
        await asyncio.gather(*(worker.start() for worker in self.workers))
        self._loops = [asyncio.create_task(self._run_jobs(worker)) for worker in self.workers]

    async def stop(self) -> None:
        """Stop the workers and whatever they are computing."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*(worker.stop() for worker in self.workers))

    def submit(self, job: Job) -> None:
        """Put a job at the end of the queue. Raises Busy if the queue is full."""
        if len(self._waiting) >= self.max_waiting:
            raise Busy(f"{len(self._waiting)} questions are waiting already. Try again in a moment.", retry_after=5)
        self._waiting.append(job)
        self._arrived.set()

    def cancel(self, job: Job) -> None:
        """Remove a job from the queue, or interrupt its computation."""
        if job.state == "waiting":
            self._waiting.remove(job)
            job.update(state="cancelled")
        elif job.id in self._running:
            self._running[job.id].interrupt("cancelled")

    def num_ahead(self, job: Job) -> int:
        """Number of jobs that come before a waiting one; 0 for a job that is not waiting."""
        return self._waiting.index(job) if job in self._waiting else 0

    async def _run_jobs(self, worker: AbstractWorker) -> None:
        """Run one job after the other on a worker, for ever."""
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            job = self._waiting.popleft()
            self._running[job.id] = worker
            try:
                await self._run(job, worker)
            finally:
                del self._running[job.id]

    async def _run(self, job: Job, worker: AbstractWorker) -> None:
        """Run a job and record its end, good or bad."""
        job.update(state="running")
        try:
            result = await worker.run(job.task, self.seconds, lambda progress: job.update(progress=progress))
            job.update(state="done", answers=result["answers"])
        except Interrupted as end:
            state: JobState = "cancelled" if end.reason == "cancelled" else "failed"
            job.update(state=state, message=_REASONS.get(end.reason, ""))
        except Refused as refusal:
            job.update(state="failed", message=str(refusal))
        except Exception:
            log.exception("job failed")
            job.update(state="failed", message=_REASONS["crashed"])


class QuickWorker:
    """One worker for tasks that take no longer than a request: one at a time, and only so many may wait."""

    def __init__(self, worker: AbstractWorker, max_waiting: int, seconds: float):
        self.worker, self.max_waiting, self.seconds = worker, max_waiting, seconds
        self._lock = asyncio.Lock()
        self._num_open = 0

    async def start(self) -> None:
        """Start the worker, which loads the models."""
        await self.worker.start()

    async def stop(self) -> None:
        """Stop the worker."""
        await self.worker.stop()

    async def run(self, task: dict[str, Any]) -> dict[str, Any]:
        """Run a task and return its result. Raises Busy if too many others are waiting."""
        if self._num_open >= self.max_waiting:
            raise Busy("Many people are asking at this moment. Try again in a second.", retry_after=1)
        self._num_open += 1
        try:
            async with self._lock:
                return await self.worker.run(task, self.seconds)
        finally:
            self._num_open -= 1
