"""PyG `Data` objects to GraphDataset and back."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...errors import DataError, require
from ...graph import Graph
from ...schema import Categories, Column, Continuous, Schema
from ..dataset import GraphDataset
from ..edge_list import fold_edges, repeated_edges
from ..ragged import pointers


def from_pyg(
    graphs: Iterable[Any],
    schema: Schema | None = None,
    name: str = "pyg",
    classes: Sequence[str] = (),
    seed: int = 0,
) -> GraphDataset:
    """Convert PyG `Data` objects to a dataset, split 80/10/10.

    Edges are undirected if all of them are listed both ways, with equal attributes.

    Args:
        graphs: `Data` objects with `edge_index` and `y`, and optionally `x` and `edge_attr`. An integer `y` is the
            number of a class, a floating-point `y` a regression target, unless all are zeros and ones.
        schema: Columns to read, say those of a model. Default: read off the values; integers are categories, one group
            for each column, one-hot rows are one group, other floating-point columns are continuous.
        name: Name of the dataset.
        classes: Names of the classes. Default: their numbers.
        seed: Decides the split.

    Returns:
        The dataset, nodes in the order of each `Data` object.

    Raises:
        DataError: The list is empty, or a graph has wrong shapes, self loops, repeated edges, values that the schema
            lacks, or no label; the message names it.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> pair = Data(x=torch.tensor([[6], [8]]), edge_index=edges, y=torch.tensor([1]))
        >>> dataset = from_pyg([pair], classes=("off", "on"))
        >>> dataset.schema.nodes[0].values, dataset.schema.directed
        (('6', '8'), False)
    """
    data = list(graphs)
    if not data:
        raise DataError(f"{name}: a dataset must have at least one graph; got an empty list.")
    sizes = torch.tensor([_num_nodes(name, k, item) for k, item in enumerate(data)])
    first = sizes.cumsum(0) - sizes
    edge_lists = [_edges(name, k, item, int(sizes[k])) for k, item in enumerate(data)]
    counts = torch.tensor([len(edges) for edges in edge_lists])
    edges = torch.cat([edges + start for edges, start in zip(edge_lists, first, strict=True)])
    x = _stack(name, "x", [item.x for item in data], sizes)
    edge_attr = _stack(name, "edge_attr", [item.edge_attr for item in data], counts)
    nodes, V = _columns(name, "x", x, schema.nodes if schema else None)
    edge_columns, E = _columns(name, "edge_attr", edge_attr, schema.edges if schema else None)
    kept, directed = fold_edges(edges.numpy(), len(x), [E.numpy()], schema.directed if schema else None)
    if schema is not None and directed and not schema.directed:
        raise DataError(
            f"{name}: edges must be listed both ways, with equal attributes, because the schema is undirected; they "
            "are not. Use `torch_geometric.utils.to_undirected`, or a schema with directed=True."
        )
    owner = torch.repeat_interleave(torch.arange(len(data)), counts)[kept]
    labels, classes = _labels(name, data, classes)
    dataset = GraphDataset(
        name=name,
        schema=schema or Schema(nodes=nodes, edges=edge_columns, max_nodes=int(sizes.max()), directed=directed),
        node_ptr=pointers(sizes),
        V=V,
        edge_ptr=pointers(torch.bincount(owner, minlength=len(data))),
        edges=edges[kept] - first[owner][:, None],
        E=E[kept],
        labels=labels,
        classes=classes,
    ).split_randomly(seed)
    return dataset if schema else dataset.with_scales()


def to_pyg(graphs: GraphDataset | Graph) -> list[Any]:
    """Convert graphs to PyG.

    Args:
        graphs: Hard graphs, or a dataset.

    Returns:
        One `Data` for each graph: rows of V as `x`, rows of E as `edge_attr` if the schema has edge columns, undirected
        edges in both directions. Those of a dataset have their label as `y`.

    Raises:
        MissingExtra: PyG is not installed.

    Example:
        >>> from graphflip import Graph, Schema
        >>> (pair,) = to_pyg(Graph.build(Schema(max_nodes=4), [{}, {}], [(0, 1, {})]))
        >>> pair.edge_index
        tensor([[0, 1],
                [1, 0]])
    """
    Data = require("torch_geometric.data", "pyg", "Converting to PyG").Data
    is_dataset = isinstance(graphs, GraphDataset)
    dataset = graphs if is_dataset else GraphDataset.from_graphs("graph", [graphs], torch.zeros(len(graphs)))
    converted = []
    for k in range(len(dataset)):
        nodes = slice(*dataset.node_ptr[k : k + 2].tolist())
        rows = slice(*dataset.edge_ptr[k : k + 2].tolist())
        edges, E = dataset.edges[rows], dataset.E[rows]
        if not dataset.schema.directed:
            edges, E = torch.cat([edges, edges.flip(1)]), torch.cat([E, E])
        attributes = {"y": dataset.labels[k : k + 1]} if is_dataset else {}
        if dataset.schema.de:
            attributes["edge_attr"] = E
        converted.append(Data(x=dataset.V[nodes], edge_index=edges.T.contiguous(), **attributes))
    return converted


def _num_nodes(name: str, k: int, item: Any) -> int:
    if getattr(item, "edge_index", None) is None:
        raise DataError(f"{name}: element {k} must be a PyG Data with `edge_index`; got {type(item).__name__}.")
    if getattr(item, "num_graphs", 1) != 1:
        raise DataError(
            f"{name}: element {k} must be one graph; got a batch of {item.num_graphs}. Give `batch.to_data_list()`."
        )
    for field, must, holds in (
        ("edge_index", "an integer tensor of two rows", _are_edges(item.edge_index)),
        ("x", "a tensor with a row for each node", item.x is None or _is_table(item.x)),
        ("edge_attr", "a tensor with a row for each edge", item.edge_attr is None or _is_table(item.edge_attr)),
    ):
        if not holds:
            raise DataError(f"{name}: graph {k}: `{field}` must be {must}; got {_brief(getattr(item, field))}.")
    # PyG guesses the number of nodes from the edges, with a warning, where nothing else tells it.
    count = len(item.x) if item.x is not None else item.num_nodes
    try:
        count = operator.index(count)
    except TypeError as error:
        raise DataError(f"{name}: graph {k}: `num_nodes` must be a number; got {_brief(count)}.") from error
    if not count:
        raise DataError(f"{name}: graph {k} must have at least one node; it is empty. Leave it out.")
    return count


def is_dense(value: Any) -> bool:
    """True if a value is a dense tensor of real numbers."""
    return isinstance(value, Tensor) and value.layout is torch.strided and not value.is_complex()


def _is_table(value: Any) -> bool:
    return is_dense(value) and value.ndim in (1, 2)


def _are_edges(value: Any) -> bool:
    return _is_table(value) and value.ndim == 2 and len(value) == 2 and not value.is_floating_point()


def _brief(value: Any) -> str:
    return f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"


def _edges(name: str, k: int, item: Any, n: int) -> Int[Tensor, "m 2"]:
    edges = item.edge_index.T.cpu().long()
    for wrong, must in (
        (((edges < 0) | (edges >= n)).any(1), f"`edge_index` must name nodes 0..{n - 1}"),
        (edges[:, 0] == edges[:, 1], "an edge must join two different nodes (no self loops)"),
        (torch.from_numpy(repeated_edges(edges.numpy(), n)), "an edge must be listed once per direction"),
    ):
        if bool(wrong.any()):
            at = int(wrong.int().argmax())
            raise DataError(
                f"{name}: graph {k}, edge {at}: {must}; got {tuple(edges[at].tolist())}. Correct or remove it "
                "(`torch_geometric.utils` has `remove_self_loops` and `coalesce`)."
            )
    return edges


def _stack(name: str, field: str, tables: Sequence[Tensor | None], counts: Int[Tensor, " g"]) -> Tensor:
    """Stack the attributes of all graphs, a row for each node or edge; of width 0 if no graph has any."""
    if all(table is None for table in tables):
        return torch.empty(int(counts.sum()), 0)
    rows = [torch.empty(0) if table is None else table.detach().cpu() for table in tables]
    rows = [table[:, None] if table.ndim == 1 else table for table in rows]
    width = next((table.shape[1] for table in rows if len(table)), rows[0].shape[1])
    rows = [table if len(table) else table.reshape(0, width) for table in rows]
    for k, (table, count) in enumerate(zip(rows, counts.tolist(), strict=True)):
        if table.shape != (count, width):
            raise DataError(
                f"{name}: graph {k}: `{field}` must have {count} rows of {width} columns, as in the other graphs; "
                f"got {tuple(table.shape)}. Give every graph the same attributes."
            )
    return torch.cat(rows)


def _columns(
    name: str, field: str, table: Tensor, known: tuple[Column, ...] | None
) -> tuple[tuple[Column, ...], Float[Tensor, "rows d"]]:
    columns = _infer(field, table) if known is None else known
    if table.is_floating_point():
        width = sum(column.width for column in columns)
        if table.shape[1] != width:
            raise DataError(
                f"{name}: `{field}` must have {width} columns, as the schema says; got {table.shape[1]}. "
                "Give the schema of this data, or none to read it off the values."
            )
        return columns, table.float()
    if table.shape[1] != len(columns):
        raise DataError(
            f"{name}: integer `{field}` must have a column for each of {[column.name for column in columns]}; "
            f"got {table.shape[1]}."
        )
    return columns, torch.cat([_one_hot(name, field, c, v) for c, v in zip(columns, table.T, strict=True)], 1)


def _infer(field: str, table: Tensor) -> tuple[Column, ...]:
    width = table.shape[1]
    names = ["type"] if width == 1 else [f"type_{k}" for k in range(width)]
    if not table.is_floating_point():
        values = [column.unique().tolist() for column in table.long().T]
        return tuple(Categories(name=n, values=tuple(map(str, v))) for n, v in zip(names, values, strict=True))
    is_one_hot = width > 1 and bool(((table == 0) | (table == 1)).all()) and bool((table.sum(1) == 1).all())
    if is_one_hot and len(table):
        return (Categories(name="type", values=tuple(str(k) for k in range(width))),)
    return tuple(Continuous(name=f"{field}_{k}") for k in range(width))


def _one_hot(name: str, field: str, column: Column, values: Int[Tensor, " rows"]) -> Float[Tensor, "rows d"]:
    """One-hot columns of integers, which are names of categories if these are numbers, else their positions."""
    if column.is_continuous:
        return values[:, None].float()
    known = torch.tensor(column.numbers)
    matches = values.long()[:, None] == known  # rows d
    if not bool(matches.any(1).all()):
        wrong = int(values[(~matches.any(1)).int().argmax()])
        raise DataError(
            f"{name}: `{field}` must be one of {known.tolist()} for `{column.name}`; got {wrong}. "
            "Remove such graphs, or use a schema that has this value."
        )
    return matches.float()


def _labels(name: str, data: Sequence[Any], classes: Sequence[str]) -> tuple[Tensor, tuple[str, ...]]:
    for k, item in enumerate(data):
        if getattr(item, "y", None) is None or torch.as_tensor(item.y).numel() != 1:
            raise DataError(
                f"{name}: graph {k} must have one label as `y`; got {getattr(item, 'y', None)}. Set `data.y`."
            )
    labels = torch.cat([torch.as_tensor(item.y).detach().cpu().reshape(1) for item in data])
    missing = (~labels.isfinite()).nonzero()[:, 0].tolist()
    if missing:
        raise DataError(
            f"{name}: labels must be finite; {len(missing)} are not, that of graph {missing[0]} first. Leave these out."
        )
    if labels.is_floating_point() and set(labels.unique().tolist()) != {0.0, 1.0}:
        return labels.float(), ()
    count = max(int(labels.max()) + 1, 1)
    return labels.long(), tuple(classes) or tuple(str(k) for k in range(count))
