"""GraphDataset: many graphs of one schema with their labels and their split, stored without padding."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from ..errors import DataError
from ..graph import Graph
from ..schema import Column, Schema
from .checks import GraphNames, check_attributes, check_edges, check_labels, check_sizes, check_split, check_two_classes
from .ragged import gather_rows, pointers, ragged
from .splits import Batch, batches_by_size, graph_numbers, pieces, random_split, split_of_subset


class BadRow(NamedTuple):
    """Row of an input file that was skipped.

    Args:
        file: Path of the file.
        row: Line or record, counted from 1.
        reason: Message of the error that the row caused.

    Example:
        >>> BadRow("molecules.csv", 7, "The label must be a number.").row
        7
    """

    file: str
    row: int
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """Graphs of one schema, with labels and a split. Make one with `from_graphs` or a loader such as `load_tu`.

    Graph k owns the rows `node_ptr[k]:node_ptr[k + 1]` of V, and `edge_ptr[k]:edge_ptr[k + 1]` of edges and E.

    Args:
        name: Name of the dataset, for messages and reports.
        schema: Meaning of the columns of V and E, and the largest number of nodes.
        node_ptr: First node of each graph, and at the end the number of all nodes; g + 1 integers.
        V: Node attributes, one row for each node of all graphs.
        edge_ptr: First edge of each graph, and at the end the number of all edges; g + 1 integers.
        edges: Two nodes for each edge, counted from 0 within its graph; an undirected edge stands once, with i < j.
        E: Edge attributes, one row for each row of `edges`.
        labels: Numbers of classes (long) if `classes` names any, else real numbers to regress on.
        classes: Names of the classes; empty for regression.
        split: Numbers of the graphs of each part: "train", "validation", "test". Parts share no graph.
        ids: Names of the graphs in reports. Default: `name/0`, `name/1`, …
        bad: Rows of the input that a loader skipped.

    Raises:
        DataError: The tables do not fit each other or the schema; the message names the graph.

    Example:
        >>> from graphflip import Graph, Schema
        >>> schema = Schema(max_nodes=4)
        >>> edge = Graph.build(schema, [{}, {}], [(0, 1, {})])
        >>> path = Graph.build(schema, [{}, {}, {}], [(0, 1, {}), (1, 2, {})])
        >>> dataset = GraphDataset.from_graphs("paths", [edge, path], [0, 1], classes=("short", "long"))
        >>> dataset
        GraphDataset(paths: 2 graphs of up to 4 nodes, 2 classes)
        >>> dataset.num_nodes, dataset.ids
        (tensor([2, 3]), ('paths/0', 'paths/1'))
        >>> dataset.graphs(1)
        Graph(3 nodes; 2 edges)
    """

    name: str
    schema: Schema
    node_ptr: Int[Tensor, " ptr"]
    V: Float[Tensor, "nodes dv"]
    edge_ptr: Int[Tensor, " ptr"]
    edges: Int[Tensor, "m 2"]
    E: Float[Tensor, "m de"]
    labels: Shaped[Tensor, " g"]
    classes: tuple[str, ...] = ()
    split: Mapping[str, Int[Tensor, " _"]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    bad: tuple[BadRow, ...] = ()

    def __post_init__(self) -> None:
        if not self.ids:
            object.__setattr__(self, "ids", tuple(f"{self.name}/{k}" for k in range(len(self))))
        names = GraphNames(self.name, self.ids)
        check_sizes(names, self.num_nodes, len(self.labels), self.schema.max_nodes)
        check_edges(names, self.num_nodes, self.edge_ptr, self.edges, self.schema.directed)
        check_attributes(names, self.schema, (self.node_ptr, self.V), (self.edge_ptr, self.E))
        check_labels(names, self.labels, self.classes)
        check_split(self.name, len(self), self.split)

    @classmethod
    def from_graphs(
        cls,
        name: str,
        graphs: Sequence[Graph],
        labels: Sequence[int] | Sequence[float] | Tensor,
        classes: Sequence[str] = (),
        ids: Sequence[str] = (),
        split: Mapping[str, Tensor] | None = None,
        bad: Sequence[BadRow] = (),
    ) -> "GraphDataset":
        """Make a dataset of hard graphs.

        Args:
            name: Name of the dataset.
            graphs: Hard graphs of one schema; each element may be a batch.
            labels: One label for each graph: the number of its class, or without `classes` a real number.
            classes: Names of the classes; empty for regression.
            ids: Names of the graphs. Default: `name/0`, `name/1`, …
            split: Numbers of the graphs of each part. Default: no split.
            bad: Rows of the input that were skipped.

        Returns:
            The dataset, with the graphs in the order in which they are given.

        Raises:
            DataError: There are no graphs, or labels, ids or split do not fit them.
        """
        if not graphs:
            raise DataError(
                f"{name}: a dataset must have at least one graph; got none. Check the input it is made from."
            )
        parts = [ragged(graph) for graph in graphs]
        sizes, V, edge_counts, edges, E = (torch.cat(column) for column in zip(*parts, strict=True))
        return cls(
            name=name,
            schema=graphs[0].schema,
            node_ptr=pointers(sizes),
            V=V,
            edge_ptr=pointers(edge_counts),
            edges=edges,
            E=E,
            labels=torch.as_tensor(labels, dtype=torch.long if classes else torch.float32),
            classes=tuple(classes),
            split=split or {},
            ids=tuple(ids),
            bad=tuple(bad),
        )

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __repr__(self) -> str:
        what = f"{len(self.classes)} classes" if self.classes else "regression"
        return f"GraphDataset({self.name}: {len(self)} graphs of up to {self.schema.max_nodes} nodes, {what})"

    @property
    def num_nodes(self) -> Int[Tensor, " g"]:
        """Number of nodes of each graph."""
        return self.node_ptr.diff()

    @property
    def num_edges(self) -> Int[Tensor, " g"]:
        """Number of edges of each graph; an undirected edge counts once."""
        return self.edge_ptr.diff()

    def graphs(self, index: int | slice | Sequence[int] | Tensor = slice(None)) -> Graph:
        """Give the graphs at `index` (default: all) as one dense batch, padded to the largest of them.

        Args:
            index: One number, several, or a slice; negative numbers count from the end.

        Returns:
            The graphs in the order of `index`.
        """
        index = graph_numbers(index, len(self))
        owner, rows = gather_rows(self.node_ptr, index)
        slot = rows - self.node_ptr[index][owner]
        b, n = len(index), int(self.num_nodes[index].max()) if len(index) else 0
        B, V = torch.zeros(b, n), torch.zeros(b, n, self.schema.dv)
        B[owner, slot], V[owner, slot] = 1.0, self.V[rows]
        A, E = torch.zeros(b, n, n), torch.zeros(b, n, n, self.schema.de)
        owner, rows = gather_rows(self.edge_ptr, index)
        i, j = self.edges[rows].unbind(1)
        for a, c in ((i, j),) if self.schema.directed else ((i, j), (j, i)):
            A[owner, a, c], E[owner, a, c] = 1.0, self.E[rows]
        return Graph.trusted(B, V, A, E, self.schema)

    def batches(
        self,
        size: int,
        rng: torch.Generator | None = None,
        indices: Sequence[int] | Tensor | None = None,
        pool: int = 8,
        pairs: int | None = None,
    ) -> Iterator[Batch]:
        """Give every graph once, in batches of graphs of about the same size, so that there is little padding.

        Args:
            size: Number of graphs in a batch; the last of a pool may be smaller.
            rng: Draws the batches and their order anew. Without it they are fixed, smallest graphs first.
            indices: Numbers of the graphs to give. Default: all.
            pool: Number of batches, with `rng`, within which graphs are sorted by size; with 1 size plays no part.
            pairs: Most pairs of nodes in a batch, padding included; fuller ones are divided. Default: no limit.

        Returns:
            An iterator over the batches.
        """
        index = graph_numbers(slice(None) if indices is None else indices, len(self))
        for members in batches_by_size(self.num_nodes, index, size, rng, pool):
            for part in pieces(self.num_nodes, members, pairs):
                yield Batch(part, self.graphs(part), self.labels[part])

    def subset(self, index: slice | Sequence[int] | Tensor) -> "GraphDataset":
        """Make a dataset of the graphs at `index`, in that order; each stays in its part of the split.

        Args:
            index: Numbers of graphs, or a slice.

        Returns:
            The smaller dataset, with the same schema, classes and ids.
        """
        index = graph_numbers(index, len(self))
        _, nodes = gather_rows(self.node_ptr, index)
        _, edges = gather_rows(self.edge_ptr, index)
        return replace(
            self,
            node_ptr=pointers(self.num_nodes[index]),
            V=self.V[nodes],
            edge_ptr=pointers(self.num_edges[index]),
            edges=self.edges[edges],
            E=self.E[edges],
            labels=self.labels[index],
            split=split_of_subset(self.split, index, len(self)),
            ids=tuple(self.ids[k] for k in index.tolist()),
        )

    def part(self, name: str) -> "GraphDataset":
        """Make a dataset of one part of the split.

        Args:
            name: "train", "validation" or "test".

        Returns:
            The graphs of that part.

        Raises:
            DataError: The split has no such part, or it is empty.
        """
        if not len(self.split.get(name, ())):
            has = ", ".join(self.split) or "no parts"
            raise DataError(
                f"{self.name}: the split must have a part `{name}` with graphs in it; it has {has}. "
                "Split with `split_randomly(seed)`, or give more graphs."
            )
        return self.subset(self.split[name])

    def split_randomly(self, seed: int = 0, train: float = 0.8) -> "GraphDataset":
        """Give the same graphs a new split.

        Args:
            seed: Decides which graphs come into which part.
            train: Share of the graphs for training, 0 to 1; the rest is halved into validation and test.

        Returns:
            The dataset with that split.
        """
        return replace(self, split=random_split(len(self), seed, train))

    def with_scales(self) -> "GraphDataset":
        """Set mean and scale of the continuous columns to those of the training part, or of all without a split."""
        known = self.part("train") if len(self.split.get("train", ())) else self
        nodes = _scaled(self.schema.nodes, known.V)
        edges = _scaled(self.schema.edges, known.E)
        return replace(self, schema=self.schema.model_copy(update={"nodes": nodes, "edges": edges}))

    def require_classes(self) -> None:
        """Raise DataError unless graphs of two classes or more are there, as training a classifier needs."""
        check_two_classes(self.name, self.labels, self.classes)

    def fingerprint(self) -> str:
        """Compute the sha256 of graphs, labels, schema and split; equal if a model was made from the same data."""
        digest = hashlib.sha256()
        header = [self.schema.to_dict(), self.classes, {part: len(index) for part, index in self.split.items()}]
        digest.update(json.dumps(header, sort_keys=True).encode())
        tensors = [self.node_ptr, self.V, self.edge_ptr, self.edges, self.E, self.labels]
        tensors += [index for _, index in sorted(self.split.items())]
        for tensor in tensors:
            digest.update(str(tuple(tensor.shape)).encode())
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()


def _scaled(columns: tuple[Column, ...], rows: Float[Tensor, "m d"]) -> tuple[Column, ...]:
    parts = rows.split([column.width for column in columns], 1)
    return tuple(column.fitted(part) for column, part in zip(columns, parts, strict=True))
