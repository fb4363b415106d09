"""Text files of a TU set: where they are (folder, zip, name), their numbers, and their notes on labels."""

import io
import lzma
import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from ...errors import DataError, require
from ..budget import check_zip

README = "README"
"""Key of a set's README among its files."""
_READMES = ("readme.txt",)

Integers = Int[np.ndarray, "_ _"]
Numbers = Float[np.ndarray, "_ _"]


@dataclass(frozen=True)
class TuFiles:
    """Contents of the files `NAME_suffix.txt` of a set by suffix, read from the folder or zip `where`."""

    name: str
    where: Path
    content: dict[str, bytes]

    def title(self, suffix: str) -> str:
        """Name of a file in error messages."""
        return f"{self.where}: {self.name}_{suffix}.txt"

    def required(self, suffix: str) -> bytes:
        """Content of a file; raises DataError if it is missing."""
        if suffix not in self.content:
            raise DataError(
                f"{self.title(suffix)} must be there; it is missing. Copy the complete set from its source."
            )
        return self.content[suffix]

    def numbers(self, suffix: str, rows: int | None = None, columns: int | None = None) -> Numbers:
        """Finite numbers of a file, a row for each line; DataError unless there are so many `rows` and `columns`."""
        where = self.title(suffix)
        table = _parse(where, self.required(suffix), columns)
        if rows is not None and len(table) != rows:
            line = min(len(table), rows) + 1
            raise DataError(
                f"{where}, line {line}: the file must have {rows} lines to match the other files; it has {len(table)}. "
                "It may be cut off: copy it again."
            )
        wrong = np.argwhere(~np.isfinite(table))
        if len(wrong):
            raise DataError(
                f"{where}, line {wrong[0, 0] + 1}: attributes must be finite; got {table[tuple(wrong[0])]}. "
                "Replace the value, or remove the graph."
            )
        return table

    def integers(self, suffix: str, rows: int | None = None, columns: int | None = None) -> Integers:
        """Whole numbers of a file of indices or labels; else like `numbers`."""
        table = self.numbers(suffix, rows, columns)
        wrong = np.argwhere(table != np.rint(table))
        if len(wrong):
            raise DataError(
                f"{self.title(suffix)}, line {wrong[0, 0] + 1}: labels and indices must be whole numbers; "
                f"got {table[tuple(wrong[0])]:g}. Real values belong into an attributes file."
            )
        return table.astype(np.int64)


def find_tu(source: str | Path) -> TuFiles:
    """Read the files of a set from a folder or a zip, or by its name.

    A name is looked up in the folder that GRAPHFLIP_DATA names (NAME.zip, NAME/ or NAME/raw/), then downloaded.
    """
    path = Path(source)
    if path.exists():
        return _read(path)
    if len(path.parts) != 1 or path.suffix:
        raise DataError(f"{path}: a TU set must be a folder or a zip file; there is nothing here. Check the path.")
    data = os.environ.get("GRAPHFLIP_DATA")
    places = [Path(data, f"{path}.zip"), Path(data, path)] if data else []
    existing = next((place for place in places if place.exists()), None)
    return _read(existing or _download(str(path)))


def _read(path: Path) -> TuFiles:
    if path.is_dir():
        folder = next((f for f in (path, path / "raw") if any(f.glob("*_A.txt"))), path)
        name = _set_name(path, [file.name for file in folder.glob("*_A.txt")])
        files = {file.name: file.read_bytes() for file in sorted(folder.glob(f"{name}_*.txt"))}
        files |= {file.name: file.read_bytes() for file in folder.glob("*.txt") if file.name.lower() in _READMES}
    else:
        files = _read_zip(path)
        name = _set_name(path, [file for file in files if file.endswith("_A.txt")])
    start = len(name) + 1
    content = {file[start:-4]: text for file, text in files.items() if file.startswith(f"{name}_")}
    readme = next((text for file, text in files.items() if file.lower() in _READMES), b"")
    return TuFiles(name, path, content | ({README: readme} if readme else {}))


# Names that are no text, unknown compression and encrypted entries raise errors of their own.
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError, RuntimeError)


_RATIO = 30
"""Most bytes of text for each byte of a zip file; real sets have 5 to 15."""


def _read_zip(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            check_zip(path, archive, _RATIO)
            return {Path(entry).name: archive.read(entry) for entry in archive.namelist() if entry.endswith(".txt")}
    except (*_DAMAGED_ZIP, OSError) as error:
        raise DataError(
            f"{path}: must be a zip file of a TU set; it cannot be read ({error}). Copy it again."
        ) from error


def _set_name(path: Path, candidates: list[str]) -> str:
    if len(candidates) != 1:
        raise DataError(
            f"{path}: a TU set must have exactly one file NAME_A.txt (the edges); got {sorted(candidates) or 'none'}. "
            "Give the folder or zip of one set."
        )
    return candidates[0].removesuffix("_A.txt")


def _download(name: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graphflip"
    raw = cache / name / "raw"
    if any(raw.glob("*_A.txt")):
        return raw
    advice = f"Set GRAPHFLIP_DATA to a folder that has {name}.zip, or give the path of the set"
    datasets = require("torch_geometric.datasets", "pyg", f"{advice}. Downloading it")
    try:
        datasets.TUDataset(str(cache), name)
    except Exception as error:  # whatever PyG's download and its file systems raise: no network, no such set, bad zip
        reason = type(error).__name__  # the words of network errors fill a screen and say no more
        raise DataError(f"{name}: is not on this machine and could not be downloaded ({reason}). {advice}.") from error
    return raw


def _parse(where: str, content: bytes, columns: int | None) -> Numbers:
    text = content.decode("utf-8-sig", errors="replace").rstrip()
    if not text:
        return np.empty((0, columns or 0))
    try:
        table = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        table = np.empty((0, 0))
    num_lines = text.count("\n") + 1
    if len(table) != num_lines or columns not in (None, table.shape[1]):
        raise _first_bad_line(where, text.split("\n"), columns)
    return table


def _first_bad_line(where: str, lines: list[str], columns: int | None) -> DataError:
    """Error that names the first bad line of a file that numpy refuses; slow, so only used for the message."""
    width = columns or len(lines[0].split(","))
    for k, line in enumerate(lines, 1):
        words = line.split(",")
        if len(words) != width or not all(_is_number(word) for word in words):
            must = "a number" if width == 1 else f"{width} numbers separated by commas"
            return DataError(f"{where}, line {k}: must be {must}; got {line.strip()[:60]!r}. Correct the line.")
    return DataError(f"{where}: must be a table of numbers; it cannot be read. Copy the file again.")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
