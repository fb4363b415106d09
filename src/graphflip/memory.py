"""Keeping freed memory: what a training or explaining process asks of the C library."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters in malloc.h
_BYTES = 1 << 30


def keep_memory() -> bool:
    """Let the C library keep large freed blocks for the next step; whether it could be asked.

    glibc gives them back to the system and pays for every page again when the next step asks for the same size: half of
    the time of elementwise operations at 50 slots. Called by commands that run long, never on import.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no glibc
        return False
    return all(mallopt(parameter, _BYTES) == 1 for parameter in (_MMAP_THRESHOLD, _TRIM_THRESHOLD))
