"""Lock that allows one job or training run in a folder; the system releases it when the process ends, however."""

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import ConfigError, JobError
from .files import NO_LINKS, check_own_folder, lock_file

LOCK = ".lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise a JobError that names the holder if another job has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
    except OSError as error:
        if isinstance(error, FileExistsError | NotADirectoryError):
            raise JobError(f"{folder}: this must be a folder, and a file has the name. Give another one.") from error
        reason = f"{LOCK} in it is a link" if error.errno == errno.ELOOP else error.strerror
        raise JobError(f"{folder}: the folder must be writable; {reason}. Give another one.") from error
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


@contextmanager
def model_lock(folder: Path, card: str, resume: bool) -> Iterator[None]:
    """Hold the lock of a folder that a model is trained in.

    Raises ConfigError if a finished model is there already, or files that are not of a training run.
    """
    if (folder / card).exists() and not resume:
        raise ConfigError(
            f"{folder}: a model must be trained in a folder of its own; there is a finished one here. "
            "Give another folder, or remove it."
        )
    if not any((folder / mark).exists() for mark in (card, LOCK)):
        check_own_folder(folder, card)
    with folder_lock(folder):
        yield


def _try(handle: int) -> bool:
    try:
        lock_file(handle)
    except BlockingIOError:
        return False
    return True


def _holder(handle: int) -> str:
    try:
        told = json.loads(os.pread(handle, 1000, 0))
        return f"process {told['pid']} on {told['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "it has not said which process it is"
