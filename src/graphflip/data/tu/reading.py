"""Sets in the format of the TU collection (Morris et al., 2020), and the three sets as the paper filters them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...chemistry import Chemistry
from ...errors import ConfigError, DataError
from ...schema import Categories, Column, Continuous, Schema
from ..dataset import GraphDataset
from ..edge_list import fold_edges, repeated_edges
from .files import Integers, LabelNotes, Numbers, TuFiles, find_tu
from .known import KNOWN, PAPER_LABEL_COUNT, KnownSet

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

    Graphs of more than `max_nodes` nodes are left out, and those with a node label that fewer than `min_label_count`
    nodes of the whole set have. `target` chooses a column of the graph attributes to regress on; without it the labels
    are classes (where the set has no graph labels: the first graph attribute). Edges that are not listed both ways,
    alike, are directed. The id of a graph is its number in the files, from 0.
    """
    files = find_tu(source)
    known = KNOWN.get(files.name)
    if known is not None:
        _verify(files, known)
    notes = LabelNotes.parse(files.content.get("label_readme", b"").decode("utf-8", errors="replace"))
    raw = _read(files, notes, target)
    if not attributes:
        raw = replace(raw, node_attributes=raw.node_attributes[:, :0], edge_attributes=raw.edge_attributes[:, :0])
    names = _names(raw, notes, known)
    kept = _frequent(raw.node_labels, names.maps["node labels"], min_label_count)
    keep = _kept_graphs(raw, kept, max_nodes)
    if not keep.any():
        raise DataError(
            f"{files.where}: at least one graph must pass the filter max_nodes={max_nodes}, "
            f"min_label_count={min_label_count}; none of {len(keep)} does. Relax the filter."
        )
    dataset = _assemble(_select(raw, keep), names, kept, max_nodes, known.chemistry if known else None)
    return dataset.split_randomly(seed).with_scales()


def load_paper_dataset(name: str, seed: int = 0) -> GraphDataset:
    """AIDS, Mutagenicity or NCI1 as the paper uses them: labels on more than 50 atoms, at most 30 / 50 / 50 nodes."""
    if name not in PAPER_SETS:
        raise ConfigError(f"A set of the paper must be one of {', '.join(PAPER_SETS)}; got {name!r}.")
    full = PAPER_SETS[name]
    dataset = load_tu(full, KNOWN[full].max_nodes, PAPER_LABEL_COUNT, attributes=False, seed=seed)
    return replace(dataset, name=name, ids=tuple(f"{name}/{k.rpartition('/')[2]}" for k in dataset.ids))


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


def _read(files: TuFiles, notes: LabelNotes, target: int | None) -> _Raw:
    graph_of = files.integers("graph_indicator", columns=1)[:, 0] - 1
    num_graphs, labels = _read_labels(files, target)
    _check_indicator(files, graph_of, num_graphs)
    edges = files.integers("A", columns=2) - 1
    _check_edges(files, edges, graph_of)
    columns = {}
    for kind, rows in (("node", len(graph_of)), ("edge", len(edges))):
        for what, read, dtype in (("labels", files.integers, np.int64), ("attributes", files.numbers, np.float64)):
            there = f"{kind}_{what}" in files.content
            if there and rows:
                columns[f"{kind}_{what}"] = read(f"{kind}_{what}", rows)
            else:  # a set without edges may still have edge columns: only the notes can tell
                width = len(notes.names.get(f"{kind} {what}", [])) if there else 0
                columns[f"{kind}_{what}"] = np.empty((rows, width), dtype)
    tables = [columns["edge_labels"], columns["edge_attributes"]]
    directed = notes.names.get("edge direction") == ["directed"] or None
    kept, directed = fold_edges(edges, len(graph_of), tables, directed)
    columns |= {name: columns[name][kept] for name in ("edge_labels", "edge_attributes")}
    return _Raw(
        files.name,
        graph_of,
        edges[kept],
        graph_labels=labels,
        number=np.arange(num_graphs),
        directed=directed,
        **columns,
    )


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
            f"{where}: every graph must have a node; graph {empty[0] + 1} (line {empty[0] + 1} of the labels) "
            "has none. The file may be cut off: copy it again, or remove the graph's label."
        )


def _check_edges(files: TuFiles, edges: Int[np.ndarray, "m 2"], graph_of: Int[np.ndarray, " nodes"]) -> None:
    n = len(graph_of)
    inside = np.clip(edges, 0, n - 1)
    for wrong, must in (
        (((edges < 0) | (edges >= n)).any(1), f"an edge must join nodes 1..{n}"),
        (graph_of[inside[:, 0]] != graph_of[inside[:, 1]], "an edge must join two nodes of one graph"),
        (edges[:, 0] == edges[:, 1], "an edge must join two different nodes (no self loops)"),
        (repeated_edges(edges, n), "an edge must be listed once per direction"),
    ):
        if wrong.any():
            k = int(wrong.argmax())
            i, j = (edges[k] + 1).tolist()
            raise DataError(f"{files.label('A')}, line {k + 1}: {must}; got {i}, {j}. Correct or remove the line.")


def _frequent(
    labels: Integers, names: Sequence[dict[int, str]], min_count: int = 0
) -> list[Int[np.ndarray, " values"]]:
    """For each column of labels the values, occurring or named in the set's notes, that `min_count` rows have."""
    kept = []
    for column, named in zip(labels.T, names, strict=True):
        values = np.union1d(column, np.array(list(named), dtype=np.int64))
        counts = np.bincount(np.searchsorted(values, column), minlength=len(values))
        kept.append(values[counts >= min_count])
    return kept


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


def _names(raw: _Raw, notes: LabelNotes, known: KnownSet | None) -> LabelNotes:
    """Names of every column and of the integers in it: what is known of the set, its own notes, or plain defaults."""
    names, maps = dict(notes.names), dict(notes.maps)
    for kind, width in (
        ("node labels", raw.node_labels.shape[1]),
        ("edge labels", raw.edge_labels.shape[1]),
        ("node attributes", raw.node_attributes.shape[1]),
        ("edge attributes", raw.edge_attributes.shape[1]),
    ):
        if len(set(names.setdefault(kind, []))) != width:
            word = "type" if kind.endswith("labels") else "attribute"
            names[kind] = [word] if width == 1 else [f"{word}_{k}" for k in range(width)]
        if len(maps.setdefault(kind, [])) != width:
            maps[kind] = [{} for _ in range(width)]
    maps["class labels"] = maps.get("class labels") or [{}]
    if known is not None:
        names |= {"node labels": ["type"], "edge labels": ["type"] if known.bonds else []}
        maps |= {"node labels": [known.elements], "edge labels": [known.bonds] if known.bonds else []}
        maps["class labels"] = [known.classes]
    return LabelNotes(names, maps)


def _assemble(
    raw: _Raw, notes: LabelNotes, kept_labels: list[np.ndarray], max_nodes: int | None, chemistry: Chemistry | None
) -> GraphDataset:
    sizes = np.bincount(raw.graph_of, minlength=len(raw.number))
    edge_values = _frequent(raw.edge_labels, notes.maps["edge labels"])
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
        (values,) = _frequent(raw.graph_labels[:, None], notes.maps["class labels"])
        labels = torch.from_numpy(np.searchsorted(values, raw.graph_labels))
        classes = _texts_of(values, notes.maps["class labels"][0])
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
