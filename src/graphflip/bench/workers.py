"""Run tasks in this process or in several, each with one thread; results come in order of completion."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from ..errors import ConfigError, GraphflipError

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""A function like `map`, whose results may come in any order."""


@contextmanager
def workers(count: int) -> Iterator[Map]:
    """Provide a `map` over `count` processes; 1 means this process."""
    if count < 1:
        raise ConfigError(f"`workers` must be at least 1; got {count}.")
    if count == 1:
        yield map
        return
    # Fresh processes: forked ones would inherit torch's threads.
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_prepare)
    try:
        yield lambda work, tasks: _results(pool, work, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


def _results(pool: ProcessPoolExecutor, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    try:
        for future in as_completed([pool.submit(work, task) for task in tasks]):
            yield future.result()
    except BrokenProcessPool as error:
        raise GraphflipError(
            "All worker processes must live until the end; one was ended from outside, perhaps for want of memory. "
            "What was done is kept: start again, with fewer workers if memory is short."
        ) from error


def _prepare() -> None:
    import torch

    from ..nn.memory import keep_memory

    torch.set_num_threads(1)
    keep_memory()


@contextmanager
def cluster(scheduler: str, count: int) -> Iterator[Map]:
    """Provide a `map` over the workers of a Dask scheduler, which must see the same files.

    Args:
        scheduler: Address or scheduler file of a running cluster; "local" starts one on this machine.
        count: Number of processes of a cluster that is started here.
    """
    from ..errors import require
    from ..jobs.cluster import Dask

    distributed = require("distributed", "dask", "Computing on a Dask cluster")
    with Dask(None if scheduler == "local" else scheduler, count).client() as client:
        client.run(_prepare)

        def submit(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
            futures = client.map(work, list(tasks), pure=False)
            for future in distributed.as_completed(futures):
                yield future.result()

        yield submit
