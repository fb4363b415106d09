"""Processes to be killed: forked from this one, which has imported everything, or the command as a user gives it."""

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess

import psutil

_FORK = multiprocessing.get_context("fork")  # nothing here has threads


def start(work: Callable[[], object]) -> BaseProcess:
    """A process that does this and ends."""
    process = _FORK.Process(target=_quietly, args=(work,))
    process.start()
    return process


def start_command(*arguments: object) -> BaseProcess:
    """`graphflip …` in a process of its own."""
    texts = [sys.executable, "-m", "graphflip", *map(str, arguments)]
    return start(lambda: os.execv(texts[0], texts))


def _quietly(work: Callable[[], object]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    work()


def running(process: BaseProcess, seconds: float = 0.0, until: Callable[[], bool] = lambda: False) -> bool:
    """Wait so long, or until something holds; whether the process is still there then."""
    deadline = time.monotonic() + seconds
    while process.exitcode is None and time.monotonic() < deadline and not until():
        time.sleep(0.002)
    return process.exitcode is None


def kill(process: BaseProcess) -> int:
    """Kill with -9; gives how many of its children outlived it."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.join()
    return len(psutil.wait_procs(children, timeout=120)[1])


def finish(process: BaseProcess) -> None:
    """Wait for the end, which must be a good one."""
    while process.exitcode is None:
        time.sleep(0.01)
    if process.exitcode:
        raise RuntimeError(f"A process that nothing disturbed must end well; exit code {process.exitcode}.")


def moment(rng: random.Random, seconds: float) -> float:
    """A random moment of something that takes so long: early ones are as interesting as late ones."""
    return rng.choice([rng.uniform(0, 0.2), rng.uniform(0, 1), rng.uniform(0, 1)]) * seconds
