"""The queue of jobs, and the workers that compute them."""

import asyncio
import json
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ..errors import GraphflipError
from .news import News
from .worker import AbstractWorker, Interrupted, Refused

log = logging.getLogger(__name__)

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

_REMEMBERED = 1000
"""Owners of whom it is known when they were served last."""

_REASONS = {
    "time": "The time limit was reached. Ask for fewer alternatives or a smaller graph, or serve with more --seconds.",
    "crashed": "The computation ended unexpectedly; the server's log says why. Try again, or another graph.",
}
_PRELIMINARY = {
    "cancelled": "Stopped: this is the first answer that was found, not the best one.",
    "time": "The time limit was reached: this is the first answer that was found, not the best one.",
    "crashed": "The search ended unexpectedly: this is the first answer that was found, not the best one.",
}
"""Messages of jobs that ended with a first answer."""


class Busy(GraphflipError):
    """The server has no room for another task now; the browser should try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int):
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(eq=False)
class Job:
    """A task that is computed in the background, its state and its answers.

    A job that runs may have a first answer already, which is shown until it is done. A job that is `behind` lets all
    others go first. `on_end` is called when it has ended.
    """

    task: dict[str, Any]
    owner: str = ""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: JobState = "waiting"
    progress: dict[str, Any] | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    behind: bool = False
    answered: int = 0
    news: News = field(default_factory=News)
    on_end: "Callable[[Job], None] | None" = None
    _counted: int = -1
    _size: int = 0

    @property
    def version(self) -> int:
        """Number that grows with every change."""
        return self.news.version

    @property
    def ended(self) -> bool:
        """True if the job is done, failed or cancelled."""
        return self.state not in ("waiting", "running")

    @property
    def num_bytes(self) -> int:
        """Size of the question and its answers, as JSON."""
        if self._counted != self.version:
            self._size, self._counted = len(json.dumps([self.task, self.answers])), self.version
        return self._size

    def update(self, **changes: Any) -> None:
        """Set fields, and wake everybody who waits for a change."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.news.tell()
        if "answers" in changes:
            self.answered = self.version
        if self.ended and self.on_end is not None:
            self.on_end(self)

    async def wait(self, seen: int, seconds: float) -> None:
        """Return as soon as the job has another version than `seen`, or after this many seconds."""
        await self.news.wait(seen, seconds, lambda: self.ended)

    @property
    def is_preliminary(self) -> bool:
        """True if the job has ended with a first answer, and not with what was asked for."""
        return self.state == "done" and bool(self.message)

    async def finished(self) -> None:
        """Return when the job has ended."""
        while not self.ended:
            await self.wait(self.version, 3600)

    def to_json(self) -> dict[str, Any]:
        """The job as JSON, for a store."""
        return {name: getattr(self, name) for name in ("id", "task", "state", "answers", "message")}

    @classmethod
    def from_json(cls, stored: dict[str, Any], owner: str) -> "Job":
        """A job that was kept; one that had not ended is cancelled, because nobody computes it any more."""
        state = stored["state"] if stored["state"] in ("done", "failed") else "cancelled"
        return cls(stored["task"], owner, stored["id"], state, None, stored["answers"], stored["message"])


Waiting = TypeVar("Waiting")


def fair_order(
    waiting: Sequence[Waiting], owners: Sequence[str], busy: Iterable[str], served: Sequence[str] = ()
) -> list[Waiting]:
    """Sort what waits so that owners take turns.

    Those that have something running go behind; of the others, whoever was `served` longest ago goes first (the last of
    the list was served last), and else the first come.

    >>> fair_order(["a1", "a2", "b1", "c1"], ["a", "a", "b", "c"], busy=["c"])
    ['a1', 'b1', 'a2', 'c1']
    >>> fair_order(["a1", "b1", "c1"], ["a", "b", "c"], busy=[], served=["b", "a"])
    ['c1', 'b1', 'a1']
    """
    turns, last = Counter(busy), {owner: k for k, owner in enumerate(served)}
    ranked: list[tuple[int, int, int]] = []
    for k, owner in enumerate(owners):
        ranked.append((turns[owner], last.get(owner, -1), k))
        turns[owner] += 1
    return [waiting[k] for _, _, k in sorted(ranked)]


class JobQueue:
    """A queue of jobs with a limit, whose owners take turns, and the workers that take jobs from it."""

    def __init__(
        self, workers: Sequence[AbstractWorker], max_waiting: int, seconds: float, patience: float | None = None
    ):
        self.workers, self.max_waiting, self.seconds, self.patience = workers, max_waiting, seconds, patience
        self._waiting: list[Job] = []
        self._running: dict[str, AbstractWorker] = {}
        self._owners: dict[str, str] = {}
        self._served: list[str] = []
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
        num_waiting = sum(not other.behind for other in self._waiting)
        if num_waiting >= self.max_waiting and not job.behind:
            raise Busy(f"{num_waiting} questions are waiting already. Try again in a moment.", retry_after=5)
        self._waiting.append(job)
        self._arrived.set()
        if self.patience is not None and not job.behind:
            asyncio.get_running_loop().call_later(self.patience, self._cancel_if_abandoned, job)

    def _cancel_if_abandoned(self, job: Job) -> None:
        """Cancel a job that nobody has asked about for so long; otherwise look again later."""
        if job.ended or self.patience is None:
            return
        if not job.news.num_waiting and not job.news.was_asked:
            self.cancel(job)
            return
        job.news.was_asked = False
        asyncio.get_running_loop().call_later(self.patience, self._cancel_if_abandoned, job)

    def cancel(self, job: Job) -> None:
        """Remove a job from the queue, or interrupt its computation."""
        if job.state == "waiting":
            self._waiting.remove(job)
            job.update(state="cancelled")
        elif job.id in self._running:
            self._running[job.id].interrupt("cancelled")

    def num_ahead(self, job: Job) -> int:
        """Number of jobs that come before a waiting one; 0 for a job that is not waiting."""
        return self._order().index(job) if job in self._waiting else 0

    def _order(self) -> list[Job]:
        busy = list(self._owners.values())
        groups = [[job for job in self._waiting if job.behind is behind] for behind in (False, True)]
        return [job for group in groups for job in fair_order(group, [job.owner for job in group], busy, self._served)]

    async def _run_jobs(self, worker: AbstractWorker) -> None:
        """Run one job after the other on a worker, for ever."""
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            job = self._order()[0]
            self._waiting.remove(job)
            self._running[job.id], self._owners[job.id] = worker, job.owner
            self._served = [*(owner for owner in self._served if owner != job.owner), job.owner][-_REMEMBERED:]
            try:
                await self._run(job, worker)
            finally:
                del self._running[job.id], self._owners[job.id]

    async def _run(self, job: Job, worker: AbstractWorker) -> None:
        """Run a job and record its end, good or bad."""
        job.update(state="running")
        try:
            result = await worker.run(job.task, self.seconds, lambda news: job.update(**news))
            job.update(state="done", answers=result["answers"])
        except Interrupted as end:
            state: JobState = "done" if job.answers else "cancelled" if end.reason == "cancelled" else "failed"
            job.update(state=state, message=(_PRELIMINARY if job.answers else _REASONS).get(end.reason, ""))
        except Refused as refusal:
            job.update(state="failed", message=str(refusal))
        except Exception:
            log.exception("job failed")
            job.update(state="failed", message=_REASONS["crashed"])
