"""Rules that the tables of a dataset must obey; each error names the first graph that breaks one."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from ..errors import DataError
from ..schema import Column, Schema
from .ragged import gather_rows, owner_of


class GraphNames(NamedTuple):
    """Name of a dataset and ids of its graphs, for error messages."""

    dataset: str
    ids: tuple[str, ...]

    def at(self, numbers: Int[Tensor, "*_"]) -> str:
        """Name of the first of these graphs."""
        k = int(numbers.reshape(-1)[0])
        return f"{self.dataset}: graph {k} ({self.ids[k]})"


def check_sizes(names: GraphNames, num_nodes: Int[Tensor, " g"], num_labels: int, limit: int) -> None:
    """Raise unless there are graphs, each with a label, an id and 1 to `limit` nodes."""
    name, g = names.dataset, len(num_nodes)
    if g < 1:
        raise DataError(f"{name}: a dataset must have at least one graph; got none. Check filters and input files.")
    for what, count in (("label", num_labels), ("id", len(names.ids))):
        if count != g:
            raise DataError(f"{name}: every graph must have one {what}; got {count} {what}s for {g} graphs.")
    empty, large = (num_nodes < 1).nonzero(), (num_nodes > limit).nonzero()
    if len(empty):
        raise DataError(f"{names.at(empty)} must have at least one node; it is empty. Leave it out.")
    if len(large):
        raise DataError(
            f"{names.at(large)} must have at most {limit} nodes (the schema's max_nodes); "
            f"it has {int(num_nodes[large[0]])}. Leave it out, or use a larger max_nodes (for models: "
            "graphflip fit DATA --max-nodes N)."
        )


def check_edges(
    names: GraphNames,
    num_nodes: Int[Tensor, " g"],
    edge_ptr: Int[Tensor, " ptr"],
    edges: Int[Tensor, "m 2"],
    directed: bool,
) -> None:
    """Raise unless every edge joins two different nodes of its graph, the smaller first if undirected."""
    i, j = edges.unbind(1)
    owner, _ = gather_rows(edge_ptr, torch.arange(len(num_nodes)))
    wrong = (i < 0) | (j < 0) | (torch.maximum(i, j) >= num_nodes[owner]) | (i == j)
    if not directed:
        wrong |= i > j
    if bool(wrong.any()):
        at = wrong.nonzero()[0]
        raise DataError(
            f"{names.at(owner[at])}: an edge must join two different nodes of the graph, the smaller first if "
            f"undirected; got {tuple(edges[at[0]].tolist())}. Correct or remove it."
        )


def check_attributes(
    names: GraphNames,
    schema: Schema,
    nodes: tuple[Int[Tensor, " ptr"], Shaped[Tensor, "_ _"]],
    edges: tuple[Int[Tensor, " ptr"], Shaped[Tensor, "_ _"]],
) -> None:
    """Raise unless V and E, given with their pointers, have the schema's columns: finite, categories one-hot."""
    _check_columns(names, "node", *nodes, schema.nodes)
    _check_columns(names, "edge", *edges, schema.edges)


def check_labels(names: GraphNames, labels: Shaped[Tensor, " g"], classes: tuple[str, ...]) -> None:
    """Raise unless labels are numbers of classes, or finite where there are no classes."""
    if classes and labels.dtype != torch.long:
        raise DataError(f"{names.dataset}: class labels must be integers; got {labels.dtype}. Convert with `.long()`.")
    wrong = ((labels < 0) | (labels >= len(classes))) if classes else ~torch.isfinite(labels)
    if bool(wrong.any()):
        must = f"one of 0..{len(classes) - 1} ({', '.join(classes)})" if classes else "a finite number"
        at = wrong.nonzero()[0]
        raise DataError(
            f"{names.at(at)}: the label must be {must}; got {labels[at[0]].item()}. "
            "Correct the label, or leave the graph out."
        )


def check_split(name: str, num_graphs: int, split: Mapping[str, Int[Tensor, " _"]]) -> None:
    """Raise unless the parts name graphs of the dataset, and none of them twice."""
    members = torch.cat([torch.empty(0, dtype=torch.long), *split.values()])
    if len(members) and not 0 <= int(members.min()) <= int(members.max()) < num_graphs:
        raise DataError(f"{name}: the split must name graphs 0..{num_graphs - 1}; got {int(members.max())}.")
    if len(members.unique()) != len(members):
        raise DataError(f"{name}: parts of the split must not share graphs; some graph is in two. Split again.")


def check_two_classes(name: str, labels: Shaped[Tensor, " g"], classes: tuple[str, ...]) -> None:
    """Raise unless graphs of at least two classes are there."""
    present = [text for k, text in enumerate(classes) if bool((labels == k).any())]
    if len(present) < 2:
        came = f"only `{present[0]}` among {len(labels)} graphs" if present else "real numbers as labels"
        raise DataError(
            f"{name}: a classifier needs graphs of at least two classes; got {came}. "
            "Add graphs of another class, or check which column or file holds the labels."
        )


def _check_columns(names: GraphNames, kind: str, ptr: Tensor, rows: Tensor, columns: tuple[Column, ...]) -> None:
    width = sum(column.width for column in columns)
    if rows.shape[1] != width or len(rows) != int(ptr[-1]):
        raise DataError(
            f"{names.dataset}: {kind} attributes must be {int(ptr[-1])} rows of {width} columns, as the schema says; "
            f"got {tuple(rows.shape)}."
        )
    wrong = ~torch.isfinite(rows).all(1)
    if bool(wrong.any()):
        raise DataError(
            f"{names.at(_first_owner(ptr, wrong))}: {kind} attributes must be finite; got NaN or infinity. "
            "Clean the attributes, or leave the graph out."
        )
    at = 0
    for column in columns:
        part = rows[:, at : at + column.width]
        wrong = ((part != 0) & (part != 1)).any(1) | (part.sum(1) != 1)
        if not column.is_continuous and bool(wrong.any()):
            raise DataError(
                f"{names.at(_first_owner(ptr, wrong))}: the {kind} columns `{column.name}` must be one-hot; they are "
                "not. Give each exactly one category."
            )
        at += column.width


def _first_owner(ptr: Tensor, wrong: Tensor) -> Tensor:
    return owner_of(ptr, wrong.nonzero()[:1, 0])
