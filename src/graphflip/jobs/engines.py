"""Where shards are computed: in this process, in several, or on a Dask cluster. The answers are the same."""

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import NamedTuple

from .answers import Order, explain_rows
from .inputs import Row

AHEAD = 2
"""Shards that wait for each worker, so that it never does."""

_ATTEMPTS = 2


class Task(NamedTuple):
    """Some rows to explain; `index` is the shard they belong to."""

    index: int
    rows: tuple[Row, ...]


class Done(NamedTuple):
    """A task and the Parquet file of its answers; None if the process that worked on it died of it."""

    task: Task
    blob: bytes | None


class AbstractEngine(ABC):
    """Computes tasks, in any order, with a bounded number of them in memory."""

    @abstractmethod
    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        """Answer every task; `tick` is called after each row where rows can be watched."""


class InProcess(AbstractEngine):
    """One shard after the other, here."""

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        for task in tasks:
            yield Done(task, explain_rows(order, task.rows, tick))


@dataclass(frozen=True)
class Processes(AbstractEngine):
    """Several processes on this machine, of one thread each; models are loaded once in each."""

    workers: int

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        tasks = iter(tasks)
        suspects: list[Task] = []
        while True:
            with self._pool() as pool:
                yield from self._map(pool, order, tasks, suspects)
            if not suspects:
                return
            # A process has died and taken the pool with it: each task that was in it gets a pool of its own.
            for task in suspects:
                yield self._alone(order, task)
            suspects.clear()

    def _map(
        self, pool: ProcessPoolExecutor, order: Order, tasks: Iterator[Task], suspects: list[Task]
    ) -> Iterator[Done]:
        pending: dict[Future[bytes], Task] = {}
        while True:
            for task in islice(tasks, self.workers * AHEAD - len(pending)):
                try:
                    pending[pool.submit(explain_rows, order, task.rows)] = task
                except BrokenProcessPool:
                    suspects += [task, *pending.values()]
                    return
            if not pending:
                return
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                try:
                    blob = future.result()
                except BrokenProcessPool:
                    suspects += pending.values()
                    return
                yield Done(pending.pop(future), blob)

    def _alone(self, order: Order, task: Task) -> Done:
        for _ in range(_ATTEMPTS):  # a process may also have died of something else
            with self._pool(1) as pool, suppress(BrokenProcessPool):
                return Done(task, pool.submit(explain_rows, order, task.rows).result())
        return Done(task, None)

    def _pool(self, workers: int | None = None) -> ProcessPoolExecutor:
        # Fresh processes: forked ones would inherit torch's threads and the folder's lock.
        return ProcessPoolExecutor(workers or self.workers, get_context("spawn"), initializer=_prepare)


def _prepare() -> None:
    """In a new process: leave Ctrl-C to the parent, end when the parent has ended, and use one thread."""
    import torch

    from ..memory import keep_memory

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    keep_memory()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
