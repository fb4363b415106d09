"""Tables of a TU set, read from its files and checked against each other."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from ...errors import ConfigError, DataError
from ..edge_list import fold_edges, repeated_edges
from .files import Integers, Numbers, TuFiles
from .known import KnownSet
from .notes import LabelNotes


@dataclass(frozen=True)
class TuTables:
    """Tables of a set as its files have them, nodes and graphs counted from 0; a table that is lacking has width 0."""

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

    def select(self, keep: Bool[np.ndarray, " g"]) -> "TuTables":
        """Tables of the graphs to keep, nodes and graphs counted anew."""
        nodes = keep[self.graph_of]
        edges = nodes[self.edges[:, 0]]
        return replace(
            self,
            graph_of=(np.cumsum(keep) - 1)[self.graph_of[nodes]],
            edges=(np.cumsum(nodes) - 1)[self.edges[edges]],
            node_labels=self.node_labels[nodes],
            edge_labels=self.edge_labels[edges],
            node_attributes=self.node_attributes[nodes],
            edge_attributes=self.edge_attributes[edges],
            graph_labels=self.graph_labels[keep],
            number=self.number[keep],
        )


def verify_published(files: TuFiles, known: KnownSet) -> None:
    """Raise DataError if a file is not the one that was published."""
    for suffix, expected in known.sha256.items():
        content = files.content.get(suffix)
        if content is not None and hashlib.sha256(content).hexdigest() != expected:
            raise DataError(
                f"{files.title(suffix)}: must be the published file (sha256 {expected[:12]}…); its content differs. "
                f"Copy the set again, or rename your own files so that they are not called {files.name}."
            )


def read_tables(files: TuFiles, notes: LabelNotes, target: int | None) -> TuTables:
    """Read and check the tables of a set; `target` chooses a column of graph attributes as labels."""
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
    return TuTables(
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
            f"{files.title('graph_attributes')}: target must be one of 0..{values.shape[1] - 1}; got {target}."
        )
    return len(values), values[:, column]


def _check_indicator(files: TuFiles, graph_of: Int[np.ndarray, " nodes"], num_graphs: int) -> None:
    where = files.title("graph_indicator")
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
            raise DataError(f"{files.title('A')}, line {k + 1}: {must}; got {i}, {j}. Correct or remove the line.")
