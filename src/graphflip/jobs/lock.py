"""Lock that allows one job in a folder; the system releases it when the process ends, even by a kill."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import JobError

LOCK = ".lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise a JobError that names the holder if another job has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise JobError(f"{folder}: the folder must be writable; {error.strerror}. Give another one.") from error
    try:
        if not _try(handle):
            raise JobError(
                f"{folder}: another job is at work in this folder ({_holder(handle)}). "
                "Wait until it has ended, or give another folder."
            )
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
        yield
    finally:
        os.close(handle)


def _try(handle: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(handle: int) -> str:
    try:
        told = json.loads(os.pread(handle, 1000, 0))
        return f"process {told['pid']} on {told['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "it has not said which process it is"
