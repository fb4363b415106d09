"""Results on disk: a file of explanations, the folder of a job, or that of a benchmark."""

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
from ..schema import Categories, Continuous, Schema

RECORDS, UNEXPLAINED = "counterfactuals.jsonl", "unexplained.csv"


@dataclass(frozen=True)
class Unread:
    """An input without an explanation, because it could not even be searched."""

    id: str
    outcome: str
    note: str


@dataclass(frozen=True)
class Lot:
    """Explanations of one origin, and inputs without one: the first of `total`."""

    name: str
    explanations: tuple[Counterfactual, ...]
    total: int
    unread: tuple[Unread, ...] = ()

    @property
    def shown(self) -> int:
        return len(self.explanations) + len(self.unread)


@dataclass(frozen=True)
class Results:
    """What a report is about: explanations, and for a benchmark its tables (Markdown) and figures (SVG or PNG)."""

    title: str
    lots: tuple[Lot, ...]
    tables: tuple[str, ...] = ()
    figures: tuple[Path, ...] = ()
    remarks: dict[str, str] = field(default_factory=dict)


def read_results(path: Path, limit: int = 1000, schema: Schema | None = None) -> Results:
    """Read a .jsonl file or a folder; of more than `limit` explanations, the first of each file.

    Without a schema, that of each file is inferred.
    """
    if path.is_file():
        return Results(f"Counterfactual explanations: {path.stem}", (_lot(path, path.stem, limit, schema),))
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder. Give a .jsonl file of explanations or a folder of results.")
    name = path.resolve().name
    if (path / RECORDS).exists():
        return Results(f"Counterfactual explanations: {name}", (_lot(path / RECORDS, name, limit, schema),))
    files = [one for one in sorted(path.rglob("*.jsonl")) if _has_explanations(one)]
    tables, figures = sorted(path.glob("*.md")), sorted([*path.glob("*.svg"), *path.glob("*.png")])
    figures = [one for one in figures if one.suffix == ".svg" or not one.with_suffix(".svg").exists()]
    if not files and not tables:
        raise DataError(
            f"{path}: a folder of results must have {RECORDS}, or tables (.md) and explanations (.jsonl) of a "
            "benchmark; it has none of them. Give what `graphflip explain --out` or `graphflip bench` wrote."
        )
    share = max(1, limit // max(1, len(files)))
    lots = tuple(_lot(one, one.relative_to(path).with_suffix("").as_posix(), share, schema) for one in files)
    texts = tuple(one.read_text(encoding="utf-8") for one in tables)
    return Results(f"Benchmark: {name}", lots, texts, tuple(figures))


def infer_schema(path: Path, limit: int | None = None) -> Schema:
    """The schema that a file of explanations follows, from what occurs in it, or in the first `limit` of them.

    Texts are categories, numbers continuous columns. An edge [i, j] with i > j occurs only in directed graphs; a file
    with SMILES is one of molecules, in which hydrogens are nodes if one of them is.
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
                f"{path}, line {number}: not an explanation ({type(error).__name__}: {error}). See docs/format.md."
            ) from error
    elements = {value for values in nodes.texts.values() for value in values}
    bonds = edges.texts.keys() == {"type"} and set(edges.texts["type"]) <= set(BOND_ORDERS)
    chemistry = Chemistry(explicit_hydrogens="H" in elements) if molecules and bonds else None
    return Schema(
        nodes=nodes.columns(), edges=edges.columns(), max_nodes=largest, directed=directed, chemistry=chemistry
    )


class _Columns:
    """Columns that attributes of nodes or edges have, in the order in which they come up."""

    def __init__(self) -> None:
        self.texts: dict[str, dict[str, None]] = {}
        self.numbers: dict[str, None] = {}

    def see(self, several: Iterator[dict[str, Any]]) -> None:
        for attributes in several:
            for name, value in attributes.items():
                if isinstance(value, str):
                    self.texts.setdefault(name, {})[value] = None
                else:
                    self.numbers[name] = None

    def columns(self) -> tuple[Categories | Continuous, ...]:
        texts = [Categories(name=name, values=tuple(values)) for name, values in self.texts.items()]
        return (*texts, *(Continuous(name=name) for name in self.numbers if name not in self.texts))


def _lot(path: Path, name: str, limit: int, schema: Schema | None) -> Lot:
    schema = schema or infer_schema(path, limit)
    rest = _unread(path.with_name(UNEXPLAINED))
    unread = tuple(islice(rest, limit))  # there may be more than fit into memory
    total = _num_lines(path) + len(unread) + sum(1 for _ in rest)
    return Lot(name, tuple(islice(read_records(path, schema), limit)), total, unread)


def _num_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


def _has_explanations(path: Path) -> bool:
    """Whether a file of a folder is one of explanations: others are none of our business."""
    first = next(_records(path), (0, {}))[1]
    return {"factual", "counterfactual"} <= first.keys()


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines of a file as objects, with their numbers."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _object(path, number, line)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}). Give a .jsonl file of explanations.") from error


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not JSON ({error}). See docs/format.md.") from error
    if not isinstance(found, dict):
        raise DataError(f"{path}, line {number}: an explanation must be a JSON object. See docs/format.md.")
    return found


def _unread(path: Path) -> Iterator[Unread]:
    """Rows of a job's unexplained.csv that have no explanation at all."""
    if path.exists():
        searched = {outcome.value for outcome in Outcome}
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row.get("outcome") not in searched:
                    yield Unread(row.get("id") or "", row.get("outcome") or "", row.get("note") or "")
