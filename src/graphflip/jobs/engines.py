"""Engines that compute shards: in this process, or in others that may die or hang. The answers are the same."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from ..data.inputs import InputRow
from ..data.molecules.building import rdkit_chem
from ..errors import ConfigError, JobError
from .answers import Order, answer_rows, check, crashed, explainer_of, one_thread, out_of_time
from .child import Child, Died, may_fork
from .settings import JobSettings
from .tables import to_parquet

AHEAD = 2
"""Tasks queued for each worker of a cluster, so that no worker is idle."""
ROW_SECONDS = 120.0
"""Longest time that one row may take by default."""
WRITE_EVERY = 20.0
"""Seconds after which the answers so far are handed over to be written, though the shard is not complete."""

_ATTEMPTS = 2


class Task(NamedTuple):
    """Rows to explain; `index` is the number of their shard."""

    index: int
    rows: tuple[InputRow, ...]


class Done(NamedTuple):
    """The Parquet file of the answers to the next `num_rows` rows of a task; None if the task killed its process."""

    task: Task
    blob: bytes | None
    num_rows: int


class AbstractEngine(ABC):
    """Interface of engines: compute tasks, in any order, with a bounded number of them in memory.

    `row_seconds` is the longest time that one row may take; engines that cannot end a row have no limit.
    """

    row_seconds: float = float("inf")

    def warm(self, settings: JobSettings) -> None:  # noqa: B027
        """Get ready for a job with these settings; for a program that does nothing else, before its first job."""

    @abstractmethod
    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        """Yield the answers of every task; `tick` is called after each row by engines that can watch rows."""


class InProcess(AbstractEngine):
    """Computes one shard after the other in this process, which dies and hangs with what it computes."""

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        for task in tasks:
            shard = _Shard(task)
            for found in answer_rows(order, task.rows):
                if found is not None:
                    shard.add(found)
                    tick()
                    yield from shard.ripe()


@dataclass(frozen=True)
class Processes(AbstractEngine):
    """Computes shards in processes of one thread each, which load the models once and are supervised row by row.

    A row that takes longer than `row_seconds`, or of which a process dies twice, gets an outcome of its own; another
    process goes on with the next row.
    """

    workers: int = 1
    row_seconds: float = ROW_SECONDS
    ready: list[Child] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.workers >= 1 and self.row_seconds > 0):
            raise ConfigError(
                "There must be at least 1 worker and more than 0 seconds for a row; "
                f"got {self.workers} and {self.row_seconds:g}."
            )

    def warm(self, settings: JobSettings) -> None:
        """Load the models here and copy this process, so that none imports torch and loads models a second time.

        A classifier of the user's, which may start threads of its own, is loaded by each process instead.
        """
        with one_thread():
            check(settings)
        if explainer_of(settings).kit.schema.chemistry is not None:
            rdkit_chem()  # both this process and its copies need it
        if settings.classifier is None and not self.ready and may_fork():
            self.ready.extend(Child(forked=True) for _ in range(self.workers))

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        tasks, idle = iter(tasks), [_Worker(order, self.row_seconds, self._taken()) for _ in range(self.workers)]
        busy: list[_Worker] = []
        try:
            while True:
                while idle and (task := next(tasks, None)):
                    busy.append(idle.pop())
                    busy[-1].begin(task)
                if not busy:
                    return
                for worker in _awake(busy):
                    worker.advance(tick)
                    yield from worker.shard.ripe()
                    if worker.shard.is_complete:
                        busy.remove(worker)
                        idle.append(worker)
        finally:
            for worker in (*idle, *busy):
                worker.stop()

    def _taken(self) -> Child | None:
        return self.ready.pop() if self.ready else None


@dataclass
class _Shard:
    """A task, the number of its rows that are answered, and the answers that are not handed over yet."""

    task: Task
    num_done: int = 0
    handed: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)

    @property
    def rest(self) -> tuple[InputRow, ...]:
        return self.task.rows[self.num_done :]

    @property
    def is_complete(self) -> bool:
        return self.num_done == len(self.task.rows)

    def add(self, answers: list[dict[str, Any]]) -> None:
        self.answers += answers
        self.num_done += 1

    def ripe(self) -> Iterator[Done]:
        """Hand over the answers, if these are all or if the last time was long ago."""
        new, late = self.num_done - self.handed, time.monotonic() - self.since > WRITE_EVERY
        if new and (self.is_complete or late):
            blob, self.answers = to_parquet(self.answers), []
            self.handed, self.since = self.num_done, time.monotonic()
            yield Done(self.task, blob, new)


class _Worker:
    """A process, the shard that it works on, and the moment at which its row began; None while models are loaded."""

    def __init__(self, order: Order, row_seconds: float, child: Child | None = None) -> None:
        self.order, self.row_seconds = order, row_seconds
        self.child = child
        self.deaths = 0
        self.began: float | None = None

    def begin(self, task: Task) -> None:
        """Take up a shard."""
        self.shard = _Shard(task)
        self._go_on()

    @property
    def deadline(self) -> float:
        return float("inf") if self.began is None else self.began + self.row_seconds

    def advance(self, tick: Callable[[], None]) -> None:
        """Take one message of the process, if there is one; else its row has taken too long."""
        if self.child is not None and self.child.connection.poll():
            self._take(self.child, tick)
        elif time.monotonic() > self.deadline:
            self._give_up(out_of_time(self.shard.rest[0], self.row_seconds), tick)

    def stop(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child = None

    def _take(self, child: Child, tick: Callable[[], None]) -> None:
        try:
            found = child.take()
        except Died:
            self._mourn(tick)
            return
        self.began = time.monotonic()
        if isinstance(found, list):
            self.deaths = 0
            self.shard.add(found)
            tick()

    def _mourn(self, tick: Callable[[], None]) -> None:
        """Go on after a death; the second death of one row is its outcome."""
        self.deaths += 1
        if self.deaths < _ATTEMPTS:  # a process may also have died of something else
            self.stop()
            self._go_on()
        elif self.began is None:
            raise JobError(
                f"A worker must be able to load {self.order.settings.model}; its process died. "
                "There may be too little memory: make room, and run the same command again to go on."
            )
        else:
            self._give_up(crashed(self.shard.rest[0]), tick)

    def _give_up(self, answer: dict[str, Any], tick: Callable[[], None]) -> None:
        self.stop()
        self.deaths = 0
        self.shard.add([answer])
        tick()
        if not self.shard.is_complete:
            self._go_on()

    def _go_on(self) -> None:
        self.began = None
        self.child = self.child or Child()
        self.child.give(answer_rows, self.order, self.shard.rest)


def _awake(workers: list[_Worker]) -> list[_Worker]:
    """Workers that have sent something or are late, after waiting for one of them."""
    seconds = min(worker.deadline for worker in workers) - time.monotonic()
    connections = {worker.child.connection: worker for worker in workers if worker.child is not None}
    ready = wait(list(connections), None if seconds == float("inf") else max(0.0, seconds))
    heard = [connections[one] for one in ready if one in connections]  # pyright: ignore[reportArgumentType]
    return heard + [worker for worker in workers if worker not in heard and time.monotonic() > worker.deadline]
