"""Engine for many machines: a running Dask cluster, or one that is started on this machine."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GraphflipError, JobError, require
from .answers import Order, explain_rows
from .child import shielded
from .encryption import check_encrypted, temporary_security
from .engines import AHEAD, ROW_SECONDS, AbstractEngine, Done, Task

if TYPE_CHECKING:
    from distributed import Client, Future

_LOOK_EVERY = 5.0  # seconds after which new workers are noticed
_NEEDED = explain_rows.__module__


@dataclass(frozen=True)
class Dask(AbstractEngine):
    """Computes tasks on the workers of a Dask scheduler.

    Only this process writes, so a task that is computed twice counts once. Tasks of dead workers are computed again. If
    the scheduler is lost and comes back, unfinished tasks are submitted again.

    Args:
        scheduler: Address or scheduler file of a running cluster; None starts one on this machine.
        workers: Number of processes of a cluster that is started here.
        patience: Seconds to wait for a scheduler that does not answer.
        unencrypted: Allow a scheduler whose address is not `tls://`. Whoever can reach it, or read what is sent, can
            run code here and there.
        row_seconds: Longest time for one row: a worker that takes longer ends itself, and the row counts as crashed.
    """

    scheduler: str | None = None
    workers: int = 1
    patience: float = 600.0
    row_seconds: float = ROW_SECONDS
    unencrypted: bool = False

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        require("distributed", "dask", "Computing on a Dask cluster")
        flight = _Flight(order._replace(row_seconds=self.row_seconds), iter(tasks))
        with self._cluster() as address:
            while not flight.landed:
                with self._client(address) as client:
                    yield from flight.run(client)

    @contextmanager
    def client(self) -> Iterator["Client"]:
        """A client of the cluster, for work of another kind than rows."""
        with self._cluster() as address, self._client(address) as client:
            yield client

    @contextmanager
    def _cluster(self) -> Iterator[dict[str, Any]]:
        """Arguments of a Client that connect it to the scheduler."""
        if self.scheduler is not None:
            is_file = Path(self.scheduler).is_file()
            check_encrypted(self.scheduler, self.unencrypted)
            yield {"scheduler_file" if is_file else "address": self.scheduler}
            return
        from distributed import LocalCluster

        security = temporary_security()
        options: dict[str, Any] = {
            "host": "127.0.0.1",
            "security": security,
            "dashboard_address": None,
            "silence_logs": logging.CRITICAL,
        }
        options["scheduler_kwargs"] = {"allowed_failures": 1}  # nothing kills workers here but what they work on
        with ExitStack() as stack:
            with shielded():  # or Ctrl-C would end the workers, too
                cluster = stack.enter_context(LocalCluster(n_workers=self.workers, threads_per_worker=1, **options))
            address = cluster.scheduler_address  # pyright: ignore[reportAttributeAccessIssue]
            yield {"address": address, "security": security}

    @contextmanager
    def _client(self, address: dict[str, Any]) -> Iterator["Client"]:
        client = self._connected(address)
        try:
            yield client
        finally:
            with suppress(OSError, TimeoutError, RuntimeError, CancelledError):  # it may be closed already
                client.close(timeout=10)

    def _connected(self, address: dict[str, Any]) -> "Client":
        from distributed import Client

        deadline = time.monotonic() + self.patience
        while True:
            try:
                return Client(**address, timeout=min(5.0, self.patience))
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise JobError(
                        f"{self.scheduler}: a Dask scheduler must answer at this address; none did for "
                        f"{self.patience:.0f} s ({error}). Start it and run the same command again to go on."
                    ) from error
                time.sleep(1)


class _Flight:
    """State of the tasks: those to submit, those to submit again, and suspects to try one at a time."""

    def __init__(self, order: Order, tasks: Iterator[Task]) -> None:
        self.order, self.tasks = order, tasks
        self.again: list[Task] = []
        self.suspects: list[Task] = []
        self.landed = False

    def run(self, client: "Client") -> Iterator[Done]:
        """Yield finished tasks; return early if the connection is lost."""
        futures: dict[Future, Task] = {}
        try:
            _check_worker(client)
            yield from self._all(client, futures)
            yield from self._alone(client, futures)
            self.landed = True
        except (CancelledError, OSError, TimeoutError):
            self.again += futures.values()
        finally:
            for future in futures:
                future.release()

    def _all(self, client: "Client", futures: dict["Future", Task]) -> Iterator[Done]:
        """Submit every task, enough at a time that no worker waits."""
        from distributed import wait

        looked, room = -_LOOK_EVERY, 0
        waiting = chain(iter(lambda: self.again.pop() if self.again else None, None), self.tasks)
        while True:
            if time.monotonic() - looked > _LOOK_EVERY:
                looked, room = time.monotonic(), AHEAD * max(1, _num_workers(client))
            for task in islice(waiting, max(0, room - len(futures))):
                futures[self._submitted(client, task)] = task
            if not futures:
                return
            with suppress(TimeoutError):
                wait(list(futures), timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")
            for future in [future for future in futures if future.status != "pending"]:
                blob = _blob(future)
                task = futures.pop(future)
                if blob is None:
                    self.suspects.append(task)
                else:
                    yield Done(task, blob, len(task.rows))

    def _alone(self, client: "Client", futures: dict["Future", Task]) -> Iterator[Done]:
        """Try tasks that may have killed workers one at a time, so that the guilty one is known."""
        while self.suspects:
            future = self._submitted(client, self.suspects[-1])
            blob = _blob(future)
            task = self.suspects.pop()
            yield Done(task, blob, len(task.rows))

    def _submitted(self, client: "Client", task: Task) -> "Future":
        return client.submit(explain_rows, self.order, task.rows, pure=False)


def _num_workers(client: "Client") -> int:
    workers: Any = client.nthreads()
    return len(workers)


def _check_worker(client: "Client") -> None:
    """Raise a JobError if a worker cannot import this package; a task that it cannot read would kill it silently."""
    from distributed import KilledWorker

    with suppress(KilledWorker):
        _check(client.submit(import_module, _NEEDED, pure=False))


def _blob(future: "Future") -> bytes | None:
    """Result of a task; None if it killed its workers. Errors of the task and a lost connection are raised."""
    from distributed import KilledWorker

    try:
        _check(future)
        return future.result()  # computed once more if the worker that holds it has died
    except KilledWorker:
        return None


def _check(future: "Future") -> None:
    """Wait for a task, and raise the error of the worker if it failed."""
    from distributed import KilledWorker, wait

    wait([future])
    if future.status != "error":
        return
    error: Any = future.exception()
    if isinstance(error, KilledWorker | GraphflipError):
        raise error
    # What a worker raises must not be taken for a lost connection, after which all would be tried again and again.
    raise JobError(
        f"A worker must be able to explain; one says {type(error).__name__}: {error}. Install the same graphflip, and "
        "put the kit in the same place, on all machines; then run the same command again to go on."
    ) from error
