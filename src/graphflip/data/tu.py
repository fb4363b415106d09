"""Sets in the format of the TU collection (Morris et al., 2020), and the paper's three sets as the paper filters them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..errors import ConfigError, DataError
from ..schema import Categories, Column, Continuous, Schema
from .dataset import GraphDataset
from .known import KNOWN, PAPER_LABEL_COUNT, KnownSet
from .tu_files import Integers, LabelNotes, Numbers, TuFiles, find_tu

PAPER_SETS = {name.lower(): name for name in KNOWN}


def load_tu(
    source: str | Path,
    max_nodes: int | None = None,
    min_label_count: int = 0,
    attributes: bool = True,
    target: int | None = None,
    seed: int = 0,
) -> GraphDataset:
    """A TU set from a folder, a zip or by name, split 80/10/10 by `seed`.

    Graphs of more than `max_nodes` nodes are left out, and those with a node label on fewer than `min_label_count` nodes
    of the whole set. `target` chooses a column of the graph attributes to regress on; without it the labels are classes
    (where the set has no graph labels: the first graph attribute). Edges that are not listed both ways, alike, are
    directed. The id of a graph is its number in the files, from 0.
    """
    files = find_tu(source)
    known = KNOWN.get(files.name)
    if known is not None:
        _verify(files, known)
    raw = _read(files, target)
    names = _names(files, raw, known)
    kept_labels = [_frequent(column, min_label_count) for column in raw.node_labels.T]
    keep = _kept_graphs(raw, kept_labels, max_nodes)
    if not keep.any():
        raise DataError(
            f"{files.where}: at least one graph must pass the filter max_nodes={max_nodes}, "
            f"min_label_count={min_label_count}; none of {len(keep)} does. Relax the filter."
        )
    raw = _select(raw, keep)
    if not attributes:
        raw = replace(raw, node_attributes=raw.node_attributes[:, :0], edge_attributes=raw.edge_attributes[:, :0])
    dataset = _assemble(raw, names, kept_labels, max_nodes, known.chemistry if known else None)
    return dataset.split_randomly(seed).with_scales()


def load_paper_dataset(name: str, seed: int = 0) -> GraphDataset:
    """AIDS, Mutagenicity or NCI1 as the paper uses them: labels on more than 50 atoms, at most 30 / 50 / 50 nodes."""
    if name not in PAPER_SETS:
        raise ConfigError(f"A set of the paper must be one of {', '.join(PAPER_SETS)}; got {name!r}.")
    full = PAPER_SETS[name]
    dataset = load_tu(full, KNOWN[full].max_nodes, PAPER_LABEL_COUNT, attributes=False, seed=seed)
    return replace(dataset, name=name, ids=tuple(f"{name}/{k.rpartition('/')[2]}" for k in dataset.ids))


def write_tu(dataset: GraphDataset, folder: str | Path) -> None:
    """Write a dataset as a TU folder NAME/NAME_A.txt …, NAME being the folder's; `load_tu` reads it back.

    Names of columns, categories and classes go into NAME_label_readme.txt. The split is not part of the format.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in _texts(dataset).items():
        (folder / f"{folder.name}_{suffix}.txt").write_text(text)


@dataclass(frozen=True)
class _Raw:
    """A set as its files have it, nodes and graphs counted from 0; columns that the set lacks have width 0."""

    name: str
    graph_of: Int[np.ndarray, " nodes"]
    edges: Int[np.ndarray, "m 2"]
    node_labels: Integers
    edge_labels: Integers
    node_attributes: Numbers
    edge_attributes: Numbers
    graph_labels: Int[np.ndarray, " g"] | Float[np.ndarray, " g"]
    number: Int[np.ndarray, " g"]
    directed: bool


def _verify(files: TuFiles, known: KnownSet) -> None:
    for suffix, expected in known.sha256.items():
        content = files.content.get(suffix)
        if content is not None and hashlib.sha256(content).hexdigest() != expected:
            raise DataError(
                f"{files.label(suffix)}: must be the published file (sha256 {expected[:12]}…); its content differs. "
                f"Copy the set again, or rename your own files so that they are not called {files.name}."
            )


def _read(files: TuFiles, target: int | None) -> _Raw:
    graph_of = files.integers("graph_indicator", columns=1)[:, 0] - 1
    num_graphs, labels = _read_labels(files, target)
    _check_indicator(files, graph_of, num_graphs)
    edges = files.integers("A", columns=2) - 1
    _check_edges(files, edges, graph_of)
    columns = {}
    for suffix, rows in (("node_labels", len(graph_of)), ("edge_labels", len(edges))):
        there = suffix in files.content
        columns[suffix] = files.integers(suffix, rows) if there else np.empty((rows, 0), dtype=np.int64)
    for suffix, rows in (("node_attributes", len(graph_of)), ("edge_attributes", len(edges))):
        columns[suffix] = files.numbers(suffix, rows) if suffix in files.content else np.empty((rows, 0))
    raw = _Raw(files.name, graph_of, edges, graph_labels=labels, number=np.arange(num_graphs), directed=True, **columns)
    return _fold(files, raw)


def _read_labels(files: TuFiles, target: int | None) -> tuple[int, np.ndarray]:
    if target is None and "graph_labels" in files.content:
        labels = files.integers("graph_labels", columns=1)[:, 0]
        return len(labels), labels
    if "graph_attributes" not in files.content:
        files.required("graph_labels" if target is None else "graph_attributes")
    values = files.numbers("graph_attributes")
    column = target or 0
    if not 0 <= column < values.shape[1]:
        raise ConfigError(
            f"{files.label('graph_attributes')}: target must be one of 0..{values.shape[1] - 1}; got {target}."
        )
    return len(values), values[:, column]


def _check_indicator(files: TuFiles, graph_of: Int[np.ndarray, " nodes"], num_graphs: int) -> None:
    where = files.label("graph_indicator")
    wrong = np.flatnonzero((graph_of < 0) | (graph_of >= num_graphs))
    if len(wrong):
        raise DataError(
            f"{where}, line {wrong[0] + 1}: the graph must be one of 1..{num_graphs}, because that many have labels; "
            f"got {graph_of[wrong[0]] + 1}. A file may be cut off: copy the set again."
        )
    falls = np.flatnonzero(np.diff(graph_of) < 0)
    if len(falls):
        raise DataError(
            f"{where}, line {falls[0] + 2}: nodes of one graph must stand together, in the order of graphs; "
            f"got graph {graph_of[falls[0] + 1] + 1} after {graph_of[falls[0]] + 1}. Sort the nodes by graph."
        )
    empty = np.setdiff1d(np.arange(num_graphs), graph_of)
    if len(empty):
        raise DataError(
            f"{where}: every graph must have a node; graph {empty[0] + 1} (its label is on line {empty[0] + 1}) has none. "
            "The file may be cut off: copy it again, or remove the graph's label."
        )


def _check_edges(files: TuFiles, edges: Int[np.ndarray, "m 2"], graph_of: Int[np.ndarray, " nodes"]) -> None:
    n = len(graph_of)
    inside = np.clip(edges, 0, n - 1)
    keys = edges[:, 0] * n + edges[:, 1]
    repeated = np.ones(len(edges), dtype=bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    for wrong, must in (
        (((edges < 0) | (edges >= n)).any(1), f"an edge must join nodes 1..{n}"),
        (graph_of[inside[:, 0]] != graph_of[inside[:, 1]], "an edge must join two nodes of one graph"),
        (edges[:, 0] == edges[:, 1], "an edge must join two different nodes (no self loops)"),
        (repeated, "an edge must be listed once per direction"),
    ):
        if wrong.any():
            k = int(wrong.argmax())
            i, j = (edges[k] + 1).tolist()
            raise DataError(f"{files.label('A')}, line {k + 1}: {must}; got {i}, {j}. Correct or remove the line.")


def _fold(files: TuFiles, raw: _Raw) -> _Raw:
    """Edges sorted, and if they are listed both ways alike, each once with i < j."""
    n = len(raw.graph_of)
    i, j = raw.edges.T
    order, mates = np.argsort(i * n + j), np.argsort(j * n + i)  # row mates[k] is row order[k] reversed, if symmetric
    symmetric = np.array_equal(raw.edges[order], raw.edges[mates][:, ::-1])
    alike = all(np.array_equal(rows[order], rows[mates]) for rows in (raw.edge_labels, raw.edge_attributes))
    if symmetric and alike:
        order = order[i[order] < j[order]]
    return replace(
        raw,
        edges=raw.edges[order],
        edge_labels=raw.edge_labels[order],
        edge_attributes=raw.edge_attributes[order],
        directed=not (symmetric and alike),
    )


def _frequent(labels: Int[np.ndarray, " nodes"], min_count: int) -> Int[np.ndarray, " values"]:
    values, counts = np.unique(labels, return_counts=True)
    return values[counts >= min_count]


def _kept_graphs(raw: _Raw, kept_labels: list[np.ndarray], max_nodes: int | None) -> Bool[np.ndarray, " g"]:
    keep = np.ones(len(raw.number), dtype=bool)
    for labels, kept in zip(raw.node_labels.T, kept_labels, strict=True):
        keep[raw.graph_of[~np.isin(labels, kept)]] = False
    if max_nodes is not None:
        keep &= np.bincount(raw.graph_of, minlength=len(keep)) <= max_nodes
    return keep


def _select(raw: _Raw, keep: Bool[np.ndarray, " g"]) -> _Raw:
    nodes = keep[raw.graph_of]
    edges = nodes[raw.edges[:, 0]]
    return replace(
        raw,
        graph_of=(np.cumsum(keep) - 1)[raw.graph_of[nodes]],
        edges=(np.cumsum(nodes) - 1)[raw.edges[edges]],
        node_labels=raw.node_labels[nodes],
        edge_labels=raw.edge_labels[edges],
        node_attributes=raw.node_attributes[nodes],
        edge_attributes=raw.edge_attributes[edges],
        graph_labels=raw.graph_labels[keep],
        number=raw.number[keep],
    )


def _names(files: TuFiles, raw: _Raw, known: KnownSet | None) -> LabelNotes:
    """Names for every column and every integer of the set: its own notes, what is known of it, or numbers as text."""
    notes = LabelNotes.parse(files.content.get("label_readme", b"").decode("utf-8", errors="replace"))
    tables = {
        "node labels": raw.node_labels,
        "edge labels": raw.edge_labels,
        "node attributes": raw.node_attributes,
        "edge attributes": raw.edge_attributes,
    }
    names, maps = dict(notes.names), dict(notes.maps)
    for kind, table in tables.items():
        width = table.shape[1]
        if len(set(names.get(kind, []))) != width:
            word = "type" if kind.endswith("labels") else "attribute"
            names[kind] = [word] if width == 1 else [f"{word}_{k}" for k in range(width)]
        if len(maps.get(kind, [])) != width:
            maps[kind] = [{} for _ in range(width)]
    maps["class labels"] = maps.get("class labels") or [{}]
    if known is not None:
        names |= {"node labels": ["type"], "edge labels": ["type"] if known.bonds else []}
        maps["node labels"], maps["class labels"] = [known.elements], [known.classes]
        maps["edge labels"] = [known.bonds] if known.bonds else []
    return LabelNotes(names, maps)


def _assemble(
    raw: _Raw, notes: LabelNotes, kept_labels: list[np.ndarray], max_nodes: int | None, chemistry
) -> GraphDataset:
    sizes = np.bincount(raw.graph_of, minlength=len(raw.number))
    edge_values = [np.unique(labels) for labels in raw.edge_labels.T]
    nodes, V = _columns("node", notes, raw.node_labels, kept_labels, raw.node_attributes)
    edges, E = _columns("edge", notes, raw.edge_labels, edge_values, raw.edge_attributes)
    schema = Schema(
        nodes=nodes, edges=edges, max_nodes=max_nodes or int(sizes.max()), directed=raw.directed, chemistry=chemistry
    )
    owner = raw.graph_of[raw.edges[:, 0]]
    node_ptr, edge_ptr = (
        np.concatenate([[0], np.cumsum(c)]) for c in (sizes, np.bincount(owner, minlength=len(sizes)))
    )
    labels, classes = torch.from_numpy(raw.graph_labels).float(), ()
    if np.issubdtype(raw.graph_labels.dtype, np.integer):
        values, numbers = np.unique(raw.graph_labels, return_inverse=True)
        labels, classes = torch.from_numpy(numbers.astype(np.int64)), _texts_of(values, notes.maps["class labels"][0])
    return GraphDataset(
        name=raw.name,
        schema=schema,
        node_ptr=torch.from_numpy(node_ptr),
        V=V,
        edge_ptr=torch.from_numpy(edge_ptr),
        edges=torch.from_numpy(raw.edges - node_ptr[owner][:, None]),
        E=E,
        labels=labels,
        classes=classes,
        ids=tuple(f"{raw.name}/{k}" for k in raw.number),
    )


def _columns(
    kind: str, notes: LabelNotes, labels: Integers, kept: Sequence[np.ndarray], attributes: Numbers
) -> tuple[tuple[Column, ...], Float[Tensor, "rows d"]]:
    columns: list[Column] = []
    blocks = [np.empty((len(labels), 0), dtype=np.float32)]
    for k, values in enumerate(kept):
        texts = _texts_of(values, notes.maps[f"{kind} labels"][k])
        columns.append(Categories(name=notes.names[f"{kind} labels"][k], values=texts))
        blocks.append(np.eye(len(values), dtype=np.float32)[np.searchsorted(values, labels[:, k])])
    for k in range(attributes.shape[1]):
        columns.append(Continuous(name=notes.names[f"{kind} attributes"][k]))
    blocks.append(attributes.astype(np.float32))
    return tuple(columns), torch.from_numpy(np.concatenate(blocks, axis=1))


def _texts_of(values: np.ndarray, names: dict[int, str]) -> tuple[str, ...]:
    return tuple(names.get(int(value), str(int(value))) for value in values)


def _texts(dataset: GraphDataset) -> dict[str, str]:
    """Content of each file of the set by its suffix."""
    owner = torch.repeat_interleave(torch.arange(len(dataset)), dataset.num_nodes)
    edge_owner = torch.repeat_interleave(torch.arange(len(dataset)), dataset.num_edges)
    edges = dataset.edges + dataset.node_ptr[edge_owner][:, None] + 1
    twice = (lambda rows: rows) if dataset.schema.directed else (lambda rows: rows.repeat_interleave(2, 0))
    both = twice(edges)
    if not dataset.schema.directed:
        both[1::2] = both[1::2].flip(1)
    names, maps = {}, {}
    texts = {"A": _lines(both), "graph_indicator": _lines(owner[:, None] + 1)}
    for kind, rows, slices in (
        ("node", dataset.V, list(dataset.schema.node_slices())),
        ("edge", twice(dataset.E), list(dataset.schema.edge_slices())),
    ):
        groups = [(column, rows[:, at]) for column, at in slices if isinstance(column, Categories)]
        reals = [(column, rows[:, at]) for column, at in slices if isinstance(column, Continuous)]
        if groups:
            names[f"{kind} labels"] = [column.name for column, _ in groups]
            maps[f"{kind} labels"] = [dict(enumerate(column.values)) for column, _ in groups]
            texts[f"{kind}_labels"] = _lines(torch.stack([part.argmax(1) for _, part in groups], 1))
        if reals:
            names[f"{kind} attributes"] = [column.name for column, _ in reals]
            texts[f"{kind}_attributes"] = _lines(torch.cat([part for _, part in reals], 1))
    maps["class labels"] = [dict(enumerate(dataset.classes))]
    texts["graph_labels" if dataset.classes else "graph_attributes"] = _lines(dataset.labels[:, None])
    texts["label_readme"] = LabelNotes(names, maps).format()
    return texts


def _lines(rows: Tensor) -> str:
    return "".join(", ".join(repr(value) for value in row) + "\n" for row in rows.tolist())
