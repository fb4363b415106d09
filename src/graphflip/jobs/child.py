"""A process that is given work and supervised: it may die or hang, and another one takes its place."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

from ..errors import GraphflipError, JobError


class Died(Exception):
    """The process has ended in the middle of its work."""


class End(NamedTuple):
    """Mark after the last result of a piece of work."""


class Child:
    """A process of one thread that runs generator functions, one after the other, and sends what they yield.

    Args:
        forked: Copy this process, with all that it has imported and loaded; only where `may_fork` allows it.
    """

    def __init__(self, forked: bool = False) -> None:
        # In general not forked from here, or processes would have torch's threads and the folder's lock; but from a
        # process that has imported everything, so that one more of them costs next to nothing.
        context = get_context("fork") if forked else get_context("forkserver")
        if not forked:
            context.set_forkserver_preload([f"{__package__}.answers"])
        self.connection, theirs = context.Pipe()
        # No daemon: such a process could have no children, which classifiers may need.
        self._process = context.Process(target=_work, args=(theirs,))
        with shielded():
            self._process.start()
        self._at_exit = Finalize(None, self._process.kill, exitpriority=1)  # or the end of this process waits for it
        theirs.close()

    def give(self, function: Callable[..., Iterator[Any]], *arguments: Any) -> None:
        """Let the process run a generator function of a module."""
        with suppress(OSError):  # it is dead, which `take` says
            self.connection.send((function, arguments))

    def take(self) -> Any:
        """The next result, or End. Raises Died if the process has ended, and errors of ours that it raised."""
        try:
            result = self.connection.recv()
        except (EOFError, OSError) as error:
            raise Died from error
        if isinstance(result, GraphflipError):
            raise result
        return result

    def kill(self) -> None:
        """End the process at once."""
        self._at_exit.cancel()
        self._process.kill()
        self._process.join()
        self.connection.close()


def may_fork() -> bool:
    """A copy of this process is sure to work: there is no other thread that could hold a lock for ever.

    Torch's own threads, which a copy lacks, do no harm: `_work` asks for none.
    """
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def shielded() -> Iterator[None]:
    """Block Ctrl-C in the processes and threads that are started within, so that only this thread handles it."""
    resource_tracker.ensure_running()  # or multiprocessing starts it in here, and then unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection) -> None:
    """Program of the process: it ends when its parent ends."""
    import torch

    from ..nn.memory import keep_memory

    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    keep_memory()
    with suppress(EOFError):
        while True:
            function, arguments = connection.recv()
            try:
                for result in function(*arguments):
                    connection.send(result)
                connection.send(End())
            except GraphflipError as error:
                connection.send(error)
            except Exception as error:
                connection.send(
                    JobError(f"A worker must be able to explain; one says {type(error).__name__}: {error}.")
                )


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
