"""Memory of the process: keep what is freed, as tensors of the same sizes follow; look for garbage seldom."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the names of the two settings in glibc's malloc.h, without M_
_GIBIBYTE = 1 << 30

# New objects after which Python looks for garbage while an answer is sought.
_SELDOM = 50_000


def keep_memory() -> bool:
    """Keep freed blocks of up to 1 GiB in this process instead of returning them to the system; True if that worked.

    glibc would map large blocks anew each time, and the page faults cost a third of a training step. With another C
    library this does nothing. The process keeps the peak of its memory until it ends, so importing graphflip does not
    call this; commands that train or explain do.
    """
    try:
        libc = ctypes.CDLL(None)
    except (OSError, TypeError):
        return False
    if not hasattr(libc, "gnu_get_libc_version"):
        return False
    return all(libc.mallopt(name, _GIBIBYTE) == 1 for name in (_MMAP_THRESHOLD, _TRIM_THRESHOLD))


class _Collector:
    """Python's garbage collector, which is slowed down for as long as anyone asks for it."""

    def __init__(self) -> None:
        self.lock, self.users, self.usual = Lock(), 0, gc.get_threshold()

    def slow_down(self) -> None:
        with self.lock:
            if not self.users:
                self.usual = gc.get_threshold()
                first, *others = self.usual
                gc.set_threshold(max(first, _SELDOM) if first else 0, *others)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                gc.set_threshold(*self.usual)


_COLLECTOR = _Collector()


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Look for garbage less often in this block: after 50,000 new objects, not 700.

    An answer makes thousands of objects that live as long as its search. Python takes them for a reason to walk over
    all objects of the process again and again, most of which belong to modules, and that took a tenth of the time of
    an answer, a fifth of a quick one. What is not part of a cycle is freed at once, as ever.
    """
    _COLLECTOR.slow_down()
    try:
        yield
    finally:
        _COLLECTOR.leave()
