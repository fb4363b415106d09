"""Files that are dropped on the page: their text, never a path, becomes a list of inputs."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import DataError, GraphflipError
from ..schema import Schema

SUFFIXES = (".smi", ".csv", ".tsv", ".sdf", ".jsonl")


@dataclass(frozen=True)
class Row:
    """One entry of a file: an input, or an explanation (`record`), or what is wrong with it."""

    id: str
    input: dict[str, Any] | None = None
    record: dict[str, Any] | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Rows:
    """Entries of a file, and whether there were more than the limit."""

    rows: list[Row]
    left_out: bool


def read_rows(name: str, text: str, schema: Schema, limit: int) -> Rows:
    """The first entries of a file; its name says nothing but what format it has."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"A file must end in {', '.join(SUFFIXES)}; got {name[-40:]!r}. Rename or convert it.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"row{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            rows = list(islice(_READERS[suffix](path, schema), limit + 1))
        except GraphflipError as error:
            raise DataError(str(error).replace(str(path), "The file")) from error
    if not rows:
        raise DataError("A file must have at least one entry; this one is empty.")
    return Rows(rows[:limit], len(rows) > limit)


def _read_table(path: Path, schema: Schema) -> Iterator[Row]:
    from ..data.molecules.smiles import read_smiles

    for row in read_smiles(path, tolerant=True):
        yield Row(_name(row.id, path), {"smiles": row.smiles})


def _read_sdf(path: Path, schema: Schema) -> Iterator[Row]:
    from ..data.molecules.molecule import to_smiles
    from ..data.molecules.sdf import from_molblock, read_sdf

    for record in read_sdf(path):
        name = _name(record.id, path)
        try:
            smiles = to_smiles(from_molblock(record.block, schema), kekule=True)
        except GraphflipError as error:
            yield Row(name, problem=str(error))
        else:
            yield Row(name, {"smiles": smiles}) if smiles else Row(name, problem="It is no molecule.")


def _name(given: str, path: Path) -> str:
    """The name of an entry; one that has none was named after our file: row/3."""
    return given.replace(f"{path.stem}/", f"{path.stem} ")


def _read_json_lines(path: Path, schema: Schema) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _json_row(line, f"row {number}")


def _json_row(line: str, name: str) -> Row:
    """An explanation, a graph, or an object that has one as `graph`."""
    try:
        stored = json.loads(line)
    except (ValueError, RecursionError):
        return Row(name, problem="The line must be JSON; it is not.")
    if not isinstance(stored, dict):
        return Row(name, problem="The line must be a JSON object; it is not.")
    name = str(stored.get("id", name))[:200]
    if "factual" in stored:
        return Row(name, record=stored)
    return Row(name, {"graph": stored.get("graph", stored)})


_READERS: dict[str, Callable[[Path, Schema], Iterator[Row]]] = {
    **dict.fromkeys((".smi", ".csv", ".tsv"), _read_table),
    ".sdf": _read_sdf,
    ".jsonl": _read_json_lines,
}
