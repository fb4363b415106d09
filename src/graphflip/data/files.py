"""Files of inputs, read row by row; one function for each kind of file, registered in READERS."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .inputs import InputRow
from .pyg.rows import pyg_text
from .tables import bounded_lines, count_rows, read_smiles

TABLES = (".csv", ".tsv", ".smi")
"""Endings of files of SMILES."""


def read_table(path: Path) -> Iterator[InputRow]:
    """Read the molecules of a table, or of a file with a SMILES text in each line."""
    for row in read_smiles(path, tolerant=True):
        yield InputRow(row.row, row.id, "smiles", row.smiles)


def read_sdf(path: Path) -> Iterator[InputRow]:
    """Read the records of an SD file."""
    from .molecules import sdf

    for record in sdf.read_sdf(path):
        yield InputRow(record.row, record.id, "molblock", record.block)


def read_graph_lines(path: Path) -> Iterator[InputRow]:
    """Read JSON lines: graphs, objects that have one as `graph`, or explanations, whose `factual` is taken."""
    for line in read_json_lines(path):
        stored = line.stored
        graph = stored.get("graph", stored.get("factual", stored)) if isinstance(stored, dict) else stored
        text = line.text if graph is stored else json.dumps(graph)
        name = f"{path.stem}/{line.number}" if line.id is None else line.id
        yield InputRow(line.number, name, "graph", text)


def read_pyg_file(path: Path) -> Iterator[InputRow]:
    """Read the PyG graphs of a .pt file."""
    from .pyg import file

    return pyg_rows(path.stem, file.read_pyg_file(path))


def pyg_rows(name: str, graphs: Iterable[Any]) -> Iterator[InputRow]:
    """PyG objects as rows, numbered from 0."""
    for k, data in enumerate(graphs):
        yield InputRow(k, f"{name}/{k}", "pyg", pyg_text(data))


READERS: dict[str, Callable[[Path], Iterator[InputRow]]] = {
    **dict.fromkeys(TABLES, read_table),
    ".sdf": read_sdf,
    ".jsonl": read_graph_lines,
    ".pt": read_pyg_file,
}


def count_lines(path: Path) -> int:
    """Count the lines of a file that are not empty."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return sum(bool(line.strip()) for line in bounded_lines(file))


def count_records(path: Path) -> int:
    """Count the records of an SD file, the last of which may lack its end."""
    count, is_open = 0, False
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in bounded_lines(file):
            is_end = line.rstrip() == "$$$$"
            count, is_open = count + is_end, not is_end and (is_open or bool(line.strip()))
    return count + is_open


COUNTERS: dict[str, Callable[[Path], int]] = {
    **dict.fromkeys(TABLES, count_rows),
    ".sdf": count_records,
    ".jsonl": count_lines,
}
"""Functions that count the rows of a file without parsing them, to check that none was lost."""


class JsonLine(NamedTuple):
    """A line of a file: its number from 1, its text, what it says (None if it is no JSON), and the `id` in that."""

    number: int
    text: str
    stored: Any
    id: str | None


def read_json_lines(path: Path) -> Iterator[JsonLine]:
    """Read the lines of a file that are not empty; a line that is no JSON does not keep others from being read."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(bounded_lines(file), start=1):
            if line.strip():
                stored = _parsed(line)
                name = stored.get("id") if isinstance(stored, dict) else None
                yield JsonLine(number, line.strip(), stored, None if name is None else str(name))


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
