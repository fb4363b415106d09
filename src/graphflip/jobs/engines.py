"""Engines that compute shards: in this process or in several. The answers are the same."""

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process, resource_tracker
from typing import NamedTuple

from ..data.inputs import InputRow
from .answers import Order, explain_rows

AHEAD = 2
"""Tasks queued for each worker, so that no worker is idle."""

_ATTEMPTS = 2


class Task(NamedTuple):
    """Rows to explain; `index` is the number of their shard."""

    index: int
    rows: tuple[InputRow, ...]


class Done(NamedTuple):
    """A task and the Parquet file of its answers, which is None if the task killed its process."""

    task: Task
    blob: bytes | None


class AbstractEngine(ABC):
    """Interface of engines: compute tasks, in any order, with a bounded number of them in memory."""

    @abstractmethod
    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        """Yield the answers of every task; `tick` is called after each row by engines that can watch rows."""


class InProcess(AbstractEngine):
    """Computes one shard after the other in this process."""

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        for task in tasks:
            yield Done(task, explain_rows(order, task.rows, tick))


@dataclass(frozen=True)
class Processes(AbstractEngine):
    """Computes shards in several processes of one thread each; each loads the models once."""

    workers: int

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        tasks = iter(tasks)
        suspects: list[Task] = []
        while True:
            with self._pool() as pool:
                yield from self._map(pool, order, tasks, suspects)
            if not suspects:
                return
            # A process has died and taken the pool with it: tasks that were in it are tried one at a time.
            yield from self._one_by_one(order, suspects)

    def _map(
        self, pool: ProcessPoolExecutor, order: Order, tasks: Iterator[Task], suspects: list[Task]
    ) -> Iterator[Done]:
        pending: dict[Future[bytes], Task] = {}
        try:
            while True:
                for task in islice(tasks, self.workers * AHEAD - len(pending)):
                    suspects.append(task)  # until it is accepted
                    pending[_submitted(pool, order, task)] = suspects.pop()
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    blob = future.result()
                    yield Done(pending.pop(future), blob)
        except BrokenProcessPool:
            suspects += pending.values()
        finally:
            for future in pending:  # nobody wants them if this ends early
                future.cancel()

    def _one_by_one(self, order: Order, tasks: list[Task]) -> Iterator[Done]:
        """Run tasks one at a time; a task that killed its process twice is done without an answer."""
        deaths = 0
        while tasks:
            with self._pool(1) as pool, suppress(BrokenProcessPool):
                while tasks:
                    blob = _submitted(pool, order, tasks[0]).result()
                    deaths = 0
                    yield Done(tasks.pop(0), blob)
            if tasks:
                deaths += 1
            if deaths == _ATTEMPTS:  # a process may also have died of something else
                deaths = 0
                yield Done(tasks.pop(0), None)

    def _pool(self, workers: int | None = None) -> ProcessPoolExecutor:
        # Not forked from here, or processes would have torch's threads and the folder's lock; but from a process that
        # has imported everything, so that one more of them costs next to nothing.
        context = get_context("forkserver")
        context.set_forkserver_preload([explain_rows.__module__])
        return ProcessPoolExecutor(workers or self.workers, context, initializer=_prepare)


@contextmanager
def shielded() -> Iterator[None]:
    """Block Ctrl-C in the processes and threads that are started within, so that only this thread handles it."""
    resource_tracker.ensure_running()  # or multiprocessing starts it in here, and then unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _submitted(pool: ProcessPoolExecutor, order: Order, task: Task) -> Future[bytes]:
    with shielded():  # this may start processes
        return pool.submit(explain_rows, order, task.rows)


def _prepare() -> None:
    """Prepare a new process: it ends when its parent ends, and uses one thread."""
    import torch

    from ..nn.memory import keep_memory

    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    keep_memory()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
