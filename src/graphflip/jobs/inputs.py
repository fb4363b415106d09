"""What a job explains, as a stream of rows: each a text that says what graph it is."""

import hashlib
import json
import os.path
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..data.dataset import PARTS, GraphDataset
from ..data.molecules.smiles import bounded_lines, read_smiles
from ..data.pyg.rows import from_pyg_text, pyg_text
from ..data.source import load_dataset
from ..data.tu.reading import PAPER_SETS, load_tu
from ..errors import DataError
from ..explain.asked import not_a_molecule
from ..graph import Graph
from ..jsongraph import graph_from_json, graph_to_json
from ..models.adapters.factory import call_function, is_function
from ..schema import Schema

Form = Literal["smiles", "molblock", "graph", "tu", "pyg"]

_NAMES = (*PAPER_SETS, "planted", "rdkit")
_TABLES = (".csv", ".tsv", ".smi")
_FILES = (*_TABLES, ".sdf", ".jsonl", ".zip", ".pt")
_ACCEPTED = (
    f"a SMILES text, a file ({', '.join(_FILES)}), a TU folder, one of {', '.join(_NAMES)}, "
    "whole or a part of it (mutagenicity:test), or package.module:function of yours that returns PyG graphs"
)


class InputRow(NamedTuple):
    """One input: its line or number, its id, and the graph as a text of that form."""

    number: int
    id: str
    form: Form
    text: str

    def graph(self, schema: Schema, parent: bool = False) -> Graph:
        """The graph that the text says it is, or of a molecule its `parent`; an error says what is wrong with it."""
        if self.form == "smiles":
            from ..data.molecules.molecule import from_smiles

            return from_smiles(self.text, schema, parent=parent)
        if self.form == "molblock":
            from ..data.molecules.sdf import from_molblock

            return from_molblock(self.text, schema, parent=parent)
        if parent:
            raise not_a_molecule()
        if self.form == "pyg":
            return from_pyg_text(self.text, schema)
        try:
            stored = json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"A line must be a JSON object; {error}. See docs/concepts/format.md.") from error
        return graph_from_json(_known_part(stored, schema) if self.form == "tu" else stored, schema)


def _known_part(graph: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """A graph of a TU set without attributes that the schema does not have: such sets often have more than is used."""
    nodes, edges = ({column.name for column in columns} for columns in (schema.nodes, schema.edges))

    def known(attributes: dict[str, Any], names: set[str]) -> dict[str, Any]:
        return {name: value for name, value in attributes.items() if name in names}

    return {
        "nodes": [known(node, nodes) for node in graph["nodes"]],
        "edges": [[i, j, known(attributes, edges)] for i, j, attributes in graph["edges"]],
    }


@dataclass(frozen=True)
class Source:
    """Rows that can be read again and again; `files` is where they come from."""

    name: str
    rows: Callable[[], Iterator[InputRow]]
    files: tuple[Path, ...] = ()

    def nonempty(self) -> Iterator[InputRow]:
        """The rows, of which there must be one."""
        row = None
        for row in self.rows():
            yield row
        if row is None:
            raise DataError(f"{self.name}: the input must have at least one row; it has none. Add one.")

    def stamp(self) -> tuple[tuple[int, int, int], ...]:
        """Changes when a file is written to or replaced."""
        try:
            states = [path.stat() for path in self.files]
        except OSError as error:
            raise DataError(f"{error.filename}: the input must stay where it is; {error.strerror}.") from error
        return tuple((state.st_ino, state.st_size, state.st_mtime_ns) for state in states)


def open_source(spec: str) -> Source:
    """The source that a command's INPUT names."""
    path = Path(spec)
    name, _, part = spec.partition(":")
    if not spec.strip():
        raise DataError(f"The input must be {_ACCEPTED}; got {spec!r}.")
    if name in _NAMES and part in ("", *PARTS):
        return _of_dataset(spec, lambda: load_dataset(name).part(part) if part else load_dataset(name))
    # Of os.path, because a SMILES text may be longer than a path can be, which Path's own questions take amiss.
    is_folder, is_file = os.path.isdir(path), os.path.isfile(path)
    if is_folder or (path.suffix.lower() == ".zip" and is_file):
        files = tuple(sorted(path.rglob("*.txt"))) if is_folder else (path,)
        return _of_dataset(path.name, lambda: load_tu(path), files, form="tu")
    if path.suffix.lower() in _FILES:
        if not is_file:
            raise DataError(f"{path}: there is no such file. The input must be {_ACCEPTED}.")
        return Source(path.name, lambda: _READERS[path.suffix.lower()](path), (path,))
    if os.path.exists(path) or (name in _NAMES and part):
        raise DataError(f"The input must be {_ACCEPTED}; got {spec!r}.")
    if is_function(spec):
        return _of_function(spec)
    return Source("smiles", lambda: iter([InputRow(1, spec, "smiles", spec)]))


def of_graphs(graphs: Iterable[Graph], ids: Iterable[str] = ()) -> Source:
    """Graphs that are at hand, as a source: those of PyG objects, for example, read with `Explainer.read`."""
    texts = [json.dumps(graph_to_json(graph)) for graph in graphs]
    names = list(ids) or [str(k) for k in range(len(texts))]
    rows = [InputRow(k, name, "graph", text) for k, (name, text) in enumerate(zip(names, texts, strict=True))]
    return Source("graphs", lambda: iter(rows))


def digest_of(rows: Iterable[InputRow]) -> tuple[str, int]:
    """sha256 of rows, and how many there are."""
    digest, count = hashlib.sha256(), 0
    for row in rows:
        digest.update(json.dumps(row).encode("utf-8", errors="surrogatepass"))
        count += 1
    return digest.hexdigest(), count


def _of_dataset(
    name: str, load: Callable[[], GraphDataset], files: tuple[Path, ...] = (), form: Form = "graph"
) -> Source:
    loaded = cache(load)

    def rows() -> Iterator[InputRow]:
        dataset = loaded()
        for k, one in enumerate(dataset.ids):
            yield InputRow(k, one, form, json.dumps(graph_to_json(dataset.graphs([k]))))

    return Source(name, rows, files)


def _of_function(spec: str) -> Source:
    """Graphs that a function of the user's own makes; it is called once."""
    made = call_function(spec)
    name = spec.partition(":")[2]
    if isinstance(made, GraphDataset):
        return _of_dataset(name, lambda: made)
    rows = list(_of_pyg(name, made))
    return Source(name, lambda: iter(rows))


def _of_pyg(name: str, graphs: Iterable[Any]) -> Iterator[InputRow]:
    for k, data in enumerate(graphs):
        yield InputRow(k, f"{name}/{k}", "pyg", pyg_text(data))


def _read_table(path: Path) -> Iterator[InputRow]:
    for row in read_smiles(path, tolerant=True):
        yield InputRow(row.row, row.id, "smiles", row.smiles)


def _read_sdf(path: Path) -> Iterator[InputRow]:
    from ..data.molecules.sdf import read_sdf

    for record in read_sdf(path):
        yield InputRow(record.row, record.id, "molblock", record.block)


def _read_json_lines(path: Path) -> Iterator[InputRow]:
    """Graphs, objects that have one as `graph`, or explanations, whose `factual` is taken."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(bounded_lines(file), start=1):
            if line.strip():
                stored = _parsed(line)
                graph = stored.get("graph", stored.get("factual", stored)) if isinstance(stored, dict) else stored
                name = stored.get("id") if isinstance(stored, dict) else None
                text = line.strip() if graph is stored else json.dumps(graph)
                yield InputRow(number, f"{path.stem}/{number}" if name is None else str(name), "graph", text)


def _read_pyg_file(path: Path) -> Iterator[InputRow]:
    from ..data.pyg.file import read_pyg_file

    return _of_pyg(path.stem, read_pyg_file(path))


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


_READERS: dict[str, Callable[[Path], Iterator[InputRow]]] = {
    **dict.fromkeys(_TABLES, _read_table),
    ".sdf": _read_sdf,
    ".jsonl": _read_json_lines,
    ".pt": _read_pyg_file,
}
