"""Budgets: what a compressed file says that it holds is compared with its size before anything is unpacked."""

import zipfile
from pathlib import Path

from ..errors import DataError

_ALWAYS = 1 << 24
"""Bytes that any file may hold."""
_MOST = 1 << 32
"""Bytes that no file may hold."""


def check_zip(path: Path | str, archive: zipfile.ZipFile, ratio: int) -> None:
    """Raise DataError if the entries of a zip file hold more than `ratio` times its size when they are unpacked.

    Python reads no more of an entry than the directory declares, so that the declared sizes bound what is read.
    """
    check_budget(path, sum(entry.file_size for entry in archive.infolist()), ratio)


def check_budget(path: Path | str, num_bytes: int, ratio: int) -> None:
    """Raise DataError if a file holds more bytes than `ratio` times its size; small amounts are always allowed."""
    most = min(_MOST, max(_ALWAYS, ratio * Path(path).stat().st_size))
    if num_bytes > most:
        raise DataError(
            f"{path}: what the file holds must have at most {most} bytes, by its own size; it would have {num_bytes}. "
            "It may be a trap. If you trust it, unpack it, or save it anew."
        )
