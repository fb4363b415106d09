"""Files that are dropped on the page: their text, never a path, becomes a list of inputs."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ...data.files import READERS, JsonLine, read_json_lines
from ...data.inputs import InputRow, source_text
from ...errors import DataError, GraphflipError
from ...jobs.plain_json import check_depth
from ...schema import Schema

SUFFIXES = (".smi", ".csv", ".tsv", ".sdf", ".mol", ".jsonl")
_LIKE = {".txt": ".smi", ".sd": ".sdf", ".mol": ".sdf"}
"""Further endings; a MOL file is an SD file of one molecule."""


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


def read_rows(name: str, text: str, schema: Schema, limit: int, max_smiles: int = 500) -> Rows:
    """The first entries of a file; its name says nothing but what format it has, and long SMILES are not read."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    suffix = _LIKE.get(suffix, suffix)
    if suffix not in SUFFIXES:
        advice = "Save the table as .csv." if suffix in (".xls", ".xlsx", ".ods") else "Rename or convert it."
        raise DataError(f"A file must end in {', '.join(SUFFIXES)}; got {name[-40:]!r}. {advice}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"row{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            lines = map(_json_row, read_json_lines(path))
            entries = lines if suffix == ".jsonl" else _read_rows(suffix, path, schema, max_smiles)
            rows = list(islice(entries, limit + 1))
        except GraphflipError as error:
            said = re.sub(r" \(in Python: `\w+`\)", "", str(error))
            raise DataError(said.replace(str(path), "The file")) from error
    if not rows:
        raise DataError("A file must have at least one entry; this one is empty.")
    return Rows(rows[:limit], len(rows) > limit)


def _read_rows(suffix: str, path: Path, schema: Schema, max_smiles: int) -> Iterator[Row]:
    """The entries of a file of molecules; an entry of an SD file becomes a SMILES text."""
    for row in READERS[suffix](path):
        name = row.id.replace(f"{path.stem}/", f"{path.stem} ")  # one that has none was named after our file: row/3
        if row.form == "smiles" and len(row.text) > max_smiles:
            yield Row(name, problem=f"A SMILES must have at most {max_smiles} characters; got {len(row.text)}.")
        else:
            yield Row(name, {"smiles": row.text}) if row.form == "smiles" else _from_molblock(row, name, schema)


def _from_molblock(row: InputRow, name: str, schema: Schema) -> Row:
    try:
        row.graph(schema)
    except GraphflipError as error:
        return Row(name, problem=str(error))
    return Row(name, {"smiles": source_text(row).partition(" ")[0]})


def _json_row(line: JsonLine) -> Row:
    """An explanation, a graph, or an object that has one as `graph`."""
    name = (f"row {line.number}" if line.id is None else line.id)[:200]
    if not isinstance(line.stored, dict):
        return Row(name, problem="The line must be a JSON object; it is not.")
    try:
        check_depth(line.stored)
    except ValueError as error:
        return Row(name, problem=str(error))
    if "factual" in line.stored:
        return Row(name, record=line.stored)
    return Row(name, {"graph": line.stored.get("graph", line.stored)})
