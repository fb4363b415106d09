"""Read results from disk: a file of explanations, the folder of a job, or the folder of a benchmark."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..chemistry import BOND_ORDERS, Chemistry
from ..errors import DataError
from ..explain.counterfactual import Counterfactual, Outcome
from ..explain.records import read_records
from ..jobs.folder import MANIFEST, check_records, read_manifest
from ..schema import Categories, Continuous, Schema
from .about import Facts, about_job

RECORDS, UNEXPLAINED = "counterfactuals.jsonl", "unexplained.csv"


@dataclass(frozen=True)
class UnreadInput:
    """An input for which no search was possible, for example because it could not be read."""

    id: str
    outcome: str
    note: str


@dataclass(frozen=True)
class ResultSet:
    """Explanations of one origin (a file, a run) and its unread inputs: the first of `total` rows."""

    name: str
    explanations: tuple[Counterfactual, ...]
    total: int
    unread: tuple[UnreadInput, ...] = ()

    @property
    def num_shown(self) -> int:
        """Number of rows that are kept here and shown in a report."""
        return len(self.explanations) + len(self.unread)


@dataclass(frozen=True)
class Results:
    """Content of a report: explanations, and for a benchmark its tables (Markdown) and figures (SVG or PNG).

    `remarks` are texts to show beside explanations, by their ids; `about` are facts on model, question and date.
    """

    title: str
    sets: tuple[ResultSet, ...]
    tables: tuple[str, ...] = ()
    figures: tuple[Path, ...] = ()
    remarks: dict[str, str] = field(default_factory=dict)
    about: Facts = ()


def read_results(path: Path, limit: int = 1000, schema: Schema | None = None) -> Results:
    """Read a .jsonl file or a folder of results: at most `limit` explanations, the first ones of each file.

    Without a schema, the schema of each file is inferred from its explanations.
    """
    if path.is_file():
        return Results(f"Counterfactual explanations: {path.stem}", (_read_set(path, path.stem, limit, schema),))
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder. Give a .jsonl file of explanations or a folder of results.")
    name = path.resolve().name
    if (path / RECORDS).exists():
        check_records(path, path / RECORDS)
        sets = (_read_set(path / RECORDS, name, limit, schema),)
        return Results(f"Counterfactual explanations: {name}", sets, about=about_job(path))
    if (path / MANIFEST).exists():
        read_manifest(path).check_finished(path)
    return _read_benchmark(path, name, limit, schema)


def _read_benchmark(path: Path, name: str, limit: int, schema: Schema | None) -> Results:
    """Tables, figures and explanations in a benchmark's folder; of a figure that is there twice, the SVG."""
    files = [file for file in sorted(path.rglob("*.jsonl")) if _has_explanations(file)]
    tables, figures = sorted(path.glob("*.md")), sorted([*path.glob("*.svg"), *path.glob("*.png")])
    figures = [file for file in figures if file.suffix == ".svg" or not file.with_suffix(".svg").exists()]
    if not files and not tables:
        raise DataError(
            f"{path}: a folder of results must have {RECORDS}, or tables (.md) and explanations (.jsonl) of a "
            "benchmark; it has none of them. Give what `graphflip explain --out` or `graphflip bench` wrote."
        )
    share = max(1, limit // max(1, len(files)))
    names = [file.relative_to(path).with_suffix("").as_posix() for file in files]
    sets = tuple(_read_set(file, name, share, schema) for file, name in zip(files, names, strict=True))
    texts = tuple(table.read_text(encoding="utf-8") for table in tables)
    return Results(f"Benchmark: {name}", sets, texts, tuple(figures))


def infer_schema(path: Path, limit: int | None = None) -> Schema:
    """Infer a schema from the attributes in a file of explanations, or in its first `limit` lines.

    Texts become categories, numbers continuous columns. An edge [i, j] with i > j means directed graphs. A file with
    SMILES holds molecules: their charges are stored if every node has a `charge`, and else their hydrogens are nodes if
    there is any node of type H.
    """
    nodes, edges = _Columns(), _Columns()
    largest, directed, molecules = 1, False, False
    for number, record in islice(_records(path), limit):
        try:
            molecules |= any((record.get("smiles") or {}).values())
            for graph in (record["factual"], record["counterfactual"]):
                if graph is not None:
                    largest = max(largest, len(graph["nodes"]))
                    directed |= any(i > j for i, j, _ in graph["edges"])
                    nodes.see(node for node in graph["nodes"] if node is not None)
                    edges.see(edge for _, _, edge in graph["edges"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{path}, line {number}: not an explanation ({type(error).__name__}: {error}). "
                "See docs/concepts/format.md."
            ) from error
    bonds = edges.texts.keys() == {"type"} and set(edges.texts["type"]) <= set(BOND_ORDERS)
    chemistry = _chemistry(nodes) if molecules and bonds else None
    return Schema(
        nodes=nodes.columns(), edges=edges.columns(), max_nodes=largest, directed=directed, chemistry=chemistry
    )


def _chemistry(nodes: "_Columns") -> Chemistry:
    """Chemistry of molecules whose nodes have these attributes."""
    stored = nodes.texts.keys() == {"type", "charge"} and set(nodes.texts["charge"]) <= _CHARGES
    return Chemistry(explicit_hydrogens="H" in nodes.texts.get("type", ()) and not stored, stored_charges=stored)


_CHARGES = {"0", *(f"{charge:+d}" for charge in range(-9, 10) if charge)}
"""Texts of formal charges."""


class _Columns:
    """Columns of the attributes of nodes or edges that were seen so far, in order of appearance."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, None]] = {}
        self.numbers: dict[str, None] = {}

    def see(self, rows: Iterator[dict[str, Any]]) -> None:
        """Take note of the attributes of some nodes or edges."""
        for attributes in rows:
            for name, value in attributes.items():
                if isinstance(value, str):
                    self.texts.setdefault(name, {})[value] = None
                else:
                    self.numbers[name] = None

    def columns(self) -> tuple[Categories | Continuous, ...]:
        """Columns with these names and values; one that has texts and numbers is a category."""
        texts = [Categories(name=name, values=tuple(values)) for name, values in self.texts.items()]
        return (*texts, *(Continuous(name=name) for name in self.numbers if name not in self.texts))


def _read_set(path: Path, name: str, limit: int, schema: Schema | None) -> ResultSet:
    """The first `limit` explanations of a file, and unread inputs from the unexplained.csv beside it."""
    schema = schema or infer_schema(path, limit)
    rest = _unread(path.with_name(UNEXPLAINED))
    unread = tuple(islice(rest, limit))  # not all: there may be more than fit into memory
    total = _num_lines(path) + len(unread) + sum(1 for _ in rest)
    return ResultSet(name, tuple(islice(read_records(path, schema), limit)), total, unread)


def _num_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


def _has_explanations(path: Path) -> bool:
    """True if the first line of a file is an explanation; a folder may have other .jsonl files, which are skipped."""
    first = next(_records(path), (0, {}))[1]
    return {"factual", "counterfactual"} <= first.keys()


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines of a .jsonl file as dictionaries, with their line numbers from 1."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _object(path, number, line)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}). Give a .jsonl file of explanations.") from error


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not JSON ({error}). See docs/concepts/format.md.") from error
    if not isinstance(record, dict):
        raise DataError(f"{path}, line {number}: an explanation must be a JSON object. See docs/concepts/format.md.")
    return record


def _unread(path: Path) -> Iterator[UnreadInput]:
    """Rows of a job's unexplained.csv for which no search was made."""
    if path.exists():
        searched = {outcome.value for outcome in Outcome}
        with path.open(encoding="utf-8", newline="") as file:
            for row in _table_rows(csv.DictReader(file)):
                if row.get("outcome") not in searched:
                    yield UnreadInput(row.get("id") or "", row.get("outcome") or "", row.get("note") or "")


def _table_rows(reader: csv.DictReader) -> Iterator[dict[str, Any]]:
    """Rows of a table; one that csv cannot read, because a cell is too long, is given as such."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield {
                "id": f"line {reader.line_num}",
                "outcome": "bad_input",
                "note": f"The row cannot be shown: {error}.",
            }
