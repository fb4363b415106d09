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

PARTS = ("train", "validation", "test")


class BadRow(NamedTuple):
    """A row of an input file that was skipped, and why."""

    file: str
    row: int
    reason: str


class Batch(NamedTuple):
    """Graphs of a dataset, with their positions in it and their labels."""

    index: Int[Tensor, " b"]
    graph: Graph
    labels: Shaped[Tensor, " b"]


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """Graphs, labels, schema and split. Graph k owns the rows `node_ptr[k]:node_ptr[k+1]` of V, and of edges likewise.

    `edges` count nodes from 0 within each graph; an undirected edge stands once, with i < j. `labels` are class numbers
    where `classes` names the classes, and real numbers where it is empty (regression). `ids` name the graphs in
    reports, `bad` lists what a loader was asked to skip.
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
        _check_sizes(self)
        _check_edges(self)
        _check_columns(self, "node", self.V, self.node_ptr, self.schema.nodes)
        _check_columns(self, "edge", self.E, self.edge_ptr, self.schema.edges)
        _check_labels(self)
        _check_split(self)

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
        """A dataset from hard graphs (each element may be a batch); without `classes` the labels are real numbers."""
        if not graphs:
            raise DataError(
                f"{name}: a dataset must have at least one graph; got none. Check the input it is made from."
            )
        parts = [_ragged(graph) for graph in graphs]
        sizes, V, edge_counts, edges, E = (torch.cat(column) for column in zip(*parts, strict=True))
        labels = torch.as_tensor(labels, dtype=torch.long if classes else torch.float32)
        return cls(
            name,
            graphs[0].schema,
            pointers(sizes),
            V,
            pointers(edge_counts),
            edges,
            E,
            labels,
            tuple(classes),
            split or {},
            tuple(ids),
            tuple(bad),
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
        """The graphs at `index` as one dense batch, with as many slots as the largest of them needs."""
        index = self._index(index)
        owner, rows = _gather(self.node_ptr, index)
        slot = rows - self.node_ptr[index][owner]
        b, n = len(index), int(self.num_nodes[index].max()) if len(index) else 0
        B, V = torch.zeros(b, n), torch.zeros(b, n, self.schema.dv)
        B[owner, slot], V[owner, slot] = 1.0, self.V[rows]
        A, E = torch.zeros(b, n, n), torch.zeros(b, n, n, self.schema.de)
        owner, rows = _gather(self.edge_ptr, index)
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
    ) -> Iterator[Batch]:
        """Every graph (of `indices`) once, in batches of like size: less padding, so less work.

        Without `rng` the order is fixed, smallest graphs first. With it, batches and their order are drawn anew: graphs
        meet within random pools of `pool` batches that are sorted by size, so with 1 size plays no part.
        """
        index = self._index(slice(None) if indices is None else indices)
        chunk = len(index)
        if rng is not None:
            index, chunk = index[torch.randperm(len(index), generator=rng)], size * pool
        pools = [pool[self.num_nodes[pool].argsort(stable=True)] for pool in index.split(max(chunk, 1))]
        batches = [batch for pool in pools for batch in pool.split(size)]
        order = range(len(batches)) if rng is None else torch.randperm(len(batches), generator=rng).tolist()
        for k in order:
            yield Batch(batches[k], self.graphs(batches[k]), self.labels[batches[k]])

    def subset(self, index: slice | Sequence[int] | Tensor) -> "GraphDataset":
        """The dataset of the graphs at `index`, in that order; each stays in the part of the split it was in."""
        index = self._index(index)
        _, nodes = _gather(self.node_ptr, index)
        _, edges = _gather(self.edge_ptr, index)
        part_of = torch.full((len(self),), -1)
        for k, members in enumerate(self.split.values()):
            part_of[members] = k
        split = {part: (part_of[index] == k).nonzero()[:, 0] for k, part in enumerate(self.split)}
        return replace(
            self,
            node_ptr=pointers(self.num_nodes[index]),
            V=self.V[nodes],
            edge_ptr=pointers(self.num_edges[index]),
            edges=self.edges[edges],
            E=self.E[edges],
            labels=self.labels[index],
            split={part: members for part, members in split.items() if len(members)},
            ids=tuple(self.ids[k] for k in index.tolist()),
        )

    def part(self, name: str) -> "GraphDataset":
        """The dataset of one part of the split: "train", "validation" or "test"."""
        if not len(self.split.get(name, ())):
            has = ", ".join(self.split) or "no parts"
            raise DataError(
                f"{self.name}: the split must have a part `{name}` with graphs in it; it has {has}. "
                "Split with `split_randomly(seed)`, or give more graphs."
            )
        return self.subset(self.split[name])

    def split_randomly(self, seed: int = 0, train: float = 0.8) -> "GraphDataset":
        """The same graphs with a new split: `train` of them, and the rest halved into validation and test."""
        g = len(self)
        num_train = int(train * g)
        num_validation = (g - num_train) // 2
        order = torch.randperm(g, generator=torch.Generator().manual_seed(seed))
        parts = order.split([num_train, num_validation, g - num_train - num_validation])
        return replace(self, split={name: part.sort().values for name, part in zip(PARTS, parts, strict=True)})

    def with_scales(self) -> "GraphDataset":
        """The same graphs; continuous columns get mean and scale of the training part (without a split: of all)."""
        known = self.part("train") if len(self.split.get("train", ())) else self
        nodes = _scaled(self.schema.nodes, known.V)
        edges = _scaled(self.schema.edges, known.E)
        return replace(self, schema=self.schema.model_copy(update={"nodes": nodes, "edges": edges}))

    def require_classes(self) -> None:
        """Raise unless graphs of two classes or more are there: what training a classifier needs."""
        present = [name for k, name in enumerate(self.classes) if bool((self.labels == k).any())]
        if len(present) < 2:
            came = f"only `{present[0]}` among {len(self)} graphs" if present else "real numbers as labels"
            raise DataError(
                f"{self.name}: a classifier needs graphs of at least two classes; got {came}. "
                "Add graphs of another class, or check which column or file holds the labels."
            )

    def fingerprint(self) -> str:
        """sha256 of graphs, labels, schema and split: equal means a model was made from the very same data."""
        digest = hashlib.sha256()
        header = [self.schema.to_dict(), self.classes, {part: len(index) for part, index in self.split.items()}]
        digest.update(json.dumps(header, sort_keys=True).encode())
        tensors = [self.node_ptr, self.V, self.edge_ptr, self.edges, self.E, self.labels]
        tensors += [index for _, index in sorted(self.split.items())]
        for tensor in tensors:
            digest.update(str(tuple(tensor.shape)).encode())
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()

    def _index(self, index: int | slice | Sequence[int] | Tensor) -> Int[Tensor, " b"]:
        if isinstance(index, slice):
            return torch.arange(len(self))[index]
        chosen = torch.as_tensor([index] if isinstance(index, int) else index, dtype=torch.long).reshape(-1)
        if len(chosen) and not -len(self) <= int(chosen.min()) <= int(chosen.max()) < len(self):
            raise IndexError(f"graph {int(chosen.max())} of a dataset of {len(self)}")
        return chosen % max(len(self), 1)


def _gather(ptr: Int[Tensor, " ptr"], index: Int[Tensor, " b"]) -> tuple[Int[Tensor, " r"], Int[Tensor, " r"]]:
    """For each row that the chosen graphs own, one graph after the other: which of the chosen owns it, and the row."""
    counts = ptr[index + 1] - ptr[index]
    owner = torch.repeat_interleave(torch.arange(len(index)), counts)
    first = counts.cumsum(0) - counts
    return owner, torch.arange(len(owner)) - (first - ptr[index])[owner]


def pointers(counts: Int[Tensor, " g"]) -> Int[Tensor, " ptr"]:
    """Where the rows of each graph start, and where the last ones end."""
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _ragged(graph: Graph) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Node counts, node rows, edge counts, edges and edge rows of a dense batch, without its empty slots."""
    exists = graph.B > 0.5
    A = graph.A > 0.5
    owner, i, j = (A if graph.schema.directed else A.triu(1)).nonzero().unbind(1)
    number = exists.long().cumsum(1) - 1  # b n: position among existing nodes
    edges = torch.stack([number[owner, i], number[owner, j]], 1)
    counts = torch.bincount(owner, minlength=len(graph))
    return exists.sum(1), graph.V[exists].float(), counts, edges, graph.E[owner, i, j].float()


def _scaled(columns: tuple[Column, ...], rows: Float[Tensor, "m d"]) -> tuple[Column, ...]:
    parts = rows.split([column.width for column in columns], 1)
    return tuple(column.fitted(part) for column, part in zip(columns, parts, strict=True))


def _check_sizes(dataset: GraphDataset) -> None:
    name, g, limit = dataset.name, len(dataset), dataset.schema.max_nodes
    if g < 1:
        raise DataError(f"{name}: a dataset must have at least one graph; got none. Check filters and input files.")
    for what, count in (("label", len(dataset.labels)), ("id", len(dataset.ids))):
        if count != g:
            raise DataError(f"{name}: every graph must have one {what}; got {count} {what}s for {g} graphs.")
    sizes = dataset.num_nodes
    empty, large = (sizes < 1).nonzero(), (sizes > limit).nonzero()
    if len(empty):
        raise DataError(f"{_named(dataset, empty)} must have at least one node; it is empty. Leave it out.")
    if len(large):
        raise DataError(
            f"{_named(dataset, large)} must have at most {limit} nodes (the schema's max_nodes); "
            f"it has {int(sizes[large[0]])}. Leave it out, or use a larger max_nodes (for models: "
            "graphflip fit DATA --max-nodes N)."
        )


def _check_edges(dataset: GraphDataset) -> None:
    i, j = dataset.edges.unbind(1)
    owner, _ = _gather(dataset.edge_ptr, torch.arange(len(dataset)))
    wrong = (i < 0) | (j < 0) | (torch.maximum(i, j) >= dataset.num_nodes[owner]) | (i == j)
    if not dataset.schema.directed:
        wrong |= i > j
    if bool(wrong.any()):
        at = wrong.nonzero()[0]
        raise DataError(
            f"{_named(dataset, owner[at])}: an edge must join two different nodes of the graph, the smaller first if "
            f"undirected; got {tuple(dataset.edges[at[0]].tolist())}. Correct or remove it."
        )


def _check_columns(dataset: GraphDataset, kind: str, rows: Tensor, ptr: Tensor, columns: tuple[Column, ...]) -> None:
    width = sum(column.width for column in columns)
    if rows.shape[1] != width or len(rows) != int(ptr[-1]):
        raise DataError(
            f"{dataset.name}: {kind} attributes must be {int(ptr[-1])} rows of {width} columns, as the schema says; "
            f"got {tuple(rows.shape)}."
        )
    wrong = ~torch.isfinite(rows).all(1)
    if bool(wrong.any()):
        raise DataError(
            f"{_named(dataset, _owner(ptr, wrong))}: {kind} attributes must be finite; got NaN or infinity. "
            "Clean the attributes, or leave the graph out."
        )
    at = 0
    for column in columns:
        part = rows[:, at : at + column.width]
        wrong = ((part != 0) & (part != 1)).any(1) | (part.sum(1) != 1)
        if not column.is_continuous and bool(wrong.any()):
            raise DataError(
                f"{_named(dataset, _owner(ptr, wrong))}: the {kind} columns `{column.name}` must be one-hot; they are "
                "not. Give each exactly one category."
            )
        at += column.width


def _owner(ptr: Tensor, wrong: Tensor) -> Tensor:
    return torch.searchsorted(ptr, wrong.nonzero()[:1, 0], right=True) - 1


def _check_labels(dataset: GraphDataset) -> None:
    labels, classes = dataset.labels, dataset.classes
    if classes and labels.dtype != torch.long:
        raise DataError(f"{dataset.name}: class labels must be integers; got {labels.dtype}. Convert with `.long()`.")
    wrong = ((labels < 0) | (labels >= len(classes))) if classes else ~torch.isfinite(labels)
    if bool(wrong.any()):
        must = f"one of 0..{len(classes) - 1} ({', '.join(classes)})" if classes else "a finite number"
        at = wrong.nonzero()[0]
        raise DataError(
            f"{_named(dataset, at)}: the label must be {must}; got {labels[at[0]].item()}. "
            "Correct the label, or leave the graph out."
        )


def _check_split(dataset: GraphDataset) -> None:
    members = torch.cat([torch.empty(0, dtype=torch.long), *dataset.split.values()])
    if len(members) and not 0 <= int(members.min()) <= int(members.max()) < len(dataset):
        raise DataError(f"{dataset.name}: the split must name graphs 0..{len(dataset) - 1}; got {int(members.max())}.")
    if len(members.unique()) != len(members):
        raise DataError(f"{dataset.name}: parts of the split must not share graphs; some graph is in two. Split again.")


def _named(dataset: GraphDataset, at: Tensor) -> str:
    k = int(at.reshape(-1)[0])
    return f"{dataset.name}: graph {k} ({dataset.ids[k]})"
