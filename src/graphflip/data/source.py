"""Sources: what a text on the command line names, as a dataset to learn from or as a stream of rows to explain."""

import json
import os.path
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import ConfigError, DataError, GraphflipError
from ..graph import Graph
from ..jsongraph import graph_from_json, graph_to_json
from ..schema import Schema
from .dataset import GraphDataset
from .files import COUNTERS, READERS, TABLES, pyg_rows
from .functions import call_function, is_function
from .inputs import Form, InputRow
from .splits import PARTS
from .tu.reading import PAPER_SETS, load_paper_dataset, load_tu

SETS = (*PAPER_SETS, "ames", "logp", "planted", "rdkit")
"""Names of sets that can be loaded without a file of the user's."""

_DATA = (
    f"{', '.join(PAPER_SETS)} (the paper's sets), ames (all molecules of Mutagenicity, with charges), planted, rdkit "
    "(molecules that come with RDKit), a file of SMILES (.csv, .smi, .tsv), a .pt file of PyG graphs, or a TU folder "
    "or zip"
)
_FILES = (*TABLES, ".sdf", ".jsonl", ".zip", ".pt")
_INPUT = (
    f"a SMILES text, a file ({', '.join(_FILES)}), a TU folder, one of {', '.join(SETS)}, "
    "whole or a part of it (mutagenicity:test), or, with --function, package.module:function of yours that returns PyG "
    "graphs"
)


@dataclass(frozen=True)
class Source:
    """Rows that can be read again and again; `files` are the files that they come from.

    `count` counts the rows in another way than by reading them, where there is one.
    """

    name: str
    rows: Callable[[], Iterator[InputRow]]
    files: tuple[Path, ...] = ()
    count: Callable[[], int] | None = None

    def __iter__(self) -> Iterator[InputRow]:
        return self.rows()

    def nonempty(self) -> Iterator[InputRow]:
        """Yield the rows; raise DataError if there is none."""
        row = None
        for row in self.rows():
            yield row
        if row is None:
            raise DataError(f"{self.name}: the input must have at least one row; it has none. Add one.")

    def check_count(self, num_rows: int) -> None:
        """Raise DataError if the source has another number of rows than were read of it."""
        expected = num_rows if self.count is None else self.count()
        if num_rows != expected:
            raise DataError(
                f"{self.name}: each of its {expected} lines or records must be read as one row; {num_rows} were. "
                "Look for quotes that are not closed, and for line breaks in cells."
            )

    def stamp(self) -> tuple[tuple[int, int, int, int], ...]:
        """Inode, size and times of each file: changes when a file is written to or replaced.

        The time of the last change of the inode is among them, because nobody can set that one back.
        """
        try:
            states = [path.stat() for path in self.files]
        except OSError as error:
            raise DataError(f"{error.filename}: the input must stay where it is; {error.strerror}.") from error
        return tuple((state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns) for state in states)


def load_dataset(
    spec: str, skip_bad: bool = False, schema: Schema | None = None, target: str | None = None
) -> GraphDataset:
    """Load the dataset that a text names.

    Args:
        spec: The name of a set (aids, mutagenicity, nci1, ames, planted, rdkit), or the path of a SMILES file (.csv,
            .tsv, .smi), of a .pt file of PyG graphs, or of a TU folder or zip.
        skip_bad: Leaves out rows of a SMILES file that cannot be read; `GraphDataset.bad` lists them.
        schema: Schema that all graphs must have, a model's say. By default it is inferred from the data.
        target: Column of a table that holds the labels; rows with a blank there are left out. Default: the column with
            a usual heading, such as "label" or "activity".

    Returns:
        All graphs with their labels, classes, ids and split.

    Raises:
        DataError: If nothing has this name, if a file cannot be read, or if a graph does not fit the schema.
        ConfigError: If `target` is given for something else than a table.

    Example:
        >>> load_dataset("planted").classes
        ('no motif', 'motif')
    """
    place = locate(spec)
    if place.kind in TABLES:
        from .molecules.smiles import load_smiles_csv

        return load_smiles_csv(place.path, label_column=target, schema=schema, skip_bad=skip_bad)
    if target is not None:
        raise ConfigError(f"`target` must name a column of a table; {spec} is none. Leave it out.")
    dataset = _load(spec, place)
    return dataset if schema is None or dataset.schema == schema else _read_as(dataset, schema)


def open_source(spec: str, function: bool = False) -> Source:
    """Open what a text names as a stream of rows: a set, a file, a TU folder, or one SMILES text.

    Args:
        spec: The text.
        function: True if it names a function of the user's own code, `package.module:function`, which is imported and
            called. Without this no text runs code.

    Raises:
        DataError: If the text is empty, or names a file that is not there or of another kind.
        ConfigError: If it is to be a function and is none, or one that returns no graphs.
    """
    if function:
        return _of_function(spec)
    place = locate(spec)
    if not spec.strip():
        raise DataError(f"The input must be {_INPUT}; got {spec!r}.")
    if place.kind == "set":
        return _of_dataset(spec, lambda: _load_part(place))
    if place.kind == "tu":
        files = tuple(sorted(place.path.rglob("*.txt"))) if place.path.is_dir() else (place.path,)
        return _of_dataset(place.path.name, lambda: load_tu(place.path), files, form="tu")
    if place.kind in READERS:
        count = COUNTERS.get(place.kind)
        counted = None if count is None else lambda: count(place.path)
        return Source(place.path.name, lambda: READERS[place.kind](place.path), (place.path,), counted)
    if place.path.suffix.lower() in _FILES and not os.path.exists(place.path):
        raise DataError(f"{place.path}: there is no such file. The input must be {_INPUT}.")
    name, _, part = spec.partition(":")
    if name in SETS:
        raise DataError(f"A part of {name} must be one of {', '.join(PARTS)}; got {part!r}. Write {name}:test, say.")
    if os.path.exists(place.path):
        raise DataError(
            f"{place.path}: a file to read must end in {', '.join(_FILES)}; got '{place.path.suffix}'. "
            "Rename it, or save it as one of these."
        )
    if is_function(spec) and not _is_smiles(spec):
        raise DataError(
            f"The input must be {_INPUT}; got {spec!r}, which is none of them. If it is a function of your own code, "
            "say so: --function."
        )
    return Source("smiles", lambda: iter([InputRow(1, spec, "smiles", spec)]))


def of_graphs(graphs: Iterable[Graph], ids: Iterable[str] = ()) -> Source:
    """Make a source of graphs that are at hand: those of PyG objects, for example, read with `Explainer.read`."""
    texts = [json.dumps(graph_to_json(graph)) for graph in graphs]
    names = list(ids) or [str(k) for k in range(len(texts))]
    rows = [InputRow(k, name, "graph", text) for k, (name, text) in enumerate(zip(names, texts, strict=True))]
    return Source("graphs", lambda: iter(rows))


class Place(NamedTuple):
    """Meaning of a text that names data.

    Its kind is "set", with a `part` of it, "tu" for a folder or zip, the ending of a file, or "" for nothing known.
    """

    kind: str
    path: Path
    part: str = ""


def locate(spec: str) -> Place:
    """Recognize what a text names, by the names of sets and by the files that are there."""
    path = Path(spec)
    name, _, part = spec.partition(":")
    if name in SETS and part in ("", *PARTS):
        return Place("set", Path(name), part)
    # Of os.path, because a SMILES text may be longer than a path can be, which Path's own questions take amiss.
    suffix, is_file = path.suffix.lower(), os.path.isfile(path)
    if (spec.strip() and os.path.isdir(path)) or (suffix == ".zip" and is_file):
        return Place("tu", path)
    return Place(suffix if is_file and suffix in READERS else "", path)


def _load(spec: str, place: Place) -> GraphDataset:
    if place.kind == "set" and not place.part:
        return _load_part(place)
    if place.kind == "tu":
        return load_tu(place.path)
    if place.kind == ".pt":
        from .pyg.file import read_pyg_file
        from .pyg.objects import from_pyg

        return from_pyg(read_pyg_file(place.path), name=place.path.stem)
    came = "there is no such file" if place.path.suffix or len(place.path.parts) > 1 else "no set has this name"
    raise DataError(f"Data must be one of: {_DATA}; got {spec!r} ({came}).")


def _load_part(place: Place) -> GraphDataset:
    """A set, or a part of it."""
    dataset = _load_set(str(place.path))
    return dataset.part(place.part) if place.part else dataset


def _load_set(name: str) -> GraphDataset:
    if name == "planted":
        from .planted.motif import planted

        return planted()
    if name == "ames":
        from .ames import load_ames

        return load_ames()
    if name == "logp":
        from .molecules.logp import load_logp

        return load_logp()
    if name == "rdkit":
        from .molecules.smiles import load_rdkit_molecules

        return load_rdkit_molecules()
    return load_paper_dataset(name)


def _read_as(dataset: GraphDataset, schema: Schema) -> GraphDataset:
    """The same graphs, their attributes by name, as graphs of another schema."""
    graphs = []
    for k, name in enumerate(dataset.ids):
        try:
            graphs.append(graph_from_json(graph_to_json(dataset.graphs([k])), schema))
        except GraphflipError as error:
            raise DataError(
                f"{name}: the graph must be one of the schema that is asked for; it is not. {error}"
            ) from error
    return GraphDataset.from_graphs(
        dataset.name, graphs, dataset.labels, dataset.classes, dataset.ids, dataset.split, dataset.bad
    )


def _of_dataset(
    name: str, load: Callable[[], GraphDataset], files: tuple[Path, ...] = (), form: Form = "graph"
) -> Source:
    loaded = cache(load)

    def rows() -> Iterator[InputRow]:
        dataset = loaded()
        for k, row_id in enumerate(dataset.ids):
            yield InputRow(k, row_id, form, json.dumps(graph_to_json(dataset.graphs([k]))))

    return Source(name, rows, files)


def _is_smiles(text: str) -> bool:
    from .molecules.reading import parse_smiles

    try:
        parse_smiles(text)
    except DataError:
        return False
    return True


def _of_function(spec: str) -> Source:
    """Graphs that a function of the user's own makes; it is called once."""
    made = call_function(spec)
    name = spec.partition(":")[2]
    if isinstance(made, GraphDataset):
        return _of_dataset(name, lambda: made)
    rows = list(pyg_rows(name, made))
    return Source(name, lambda: iter(rows))
