"""Keep freed memory in the process: large tensors of the same sizes are allocated again at every step."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the names of the two settings in glibc's malloc.h, without M_
_GIBIBYTE = 1 << 30


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
