"""Checks of graphs that users hand over, as tensors (shapes, types, ranges, one-hot rows) or as lists."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from .errors import GraphError
from .schema import AttributeDict, Column, Schema

_TOLERANCE = 1e-3  # rounding error that probabilities and one-hot rows may have


def check_tensors(B: Tensor, V: Tensor, A: Tensor, E: Tensor, schema: Schema) -> None:
    """Raise GraphError unless the tensors form a batch of graphs of the schema."""
    tensors = {"B": B, "V": V, "A": A, "E": E}
    _check_shapes(tensors, schema)
    _check_values(tensors)
    _check_edges(B, A, E, schema.directed)
    _check_columns("V", V, "B", B, schema.node_slices())
    _check_columns("E", E, "A", A, schema.edge_slices())


def has_hard_values(B: Tensor, V: Tensor, A: Tensor, E: Tensor, schema: Schema) -> bool:
    """True if every existence and every category is exactly 0 or 1."""
    parts = [B, A]
    parts += [V[..., at] for column, at in schema.node_slices() if not column.is_continuous]
    parts += [E[..., at] for column, at in schema.edge_slices() if not column.is_continuous]
    return all(bool(((part == 0) | (part == 1)).all()) for part in parts)


def read_lists(
    schema: Schema, nodes: Sequence[AttributeDict], edges: Sequence[tuple[int, int, AttributeDict]]
) -> tuple[Float[Tensor, "n dv"], Float[Tensor, "n n"], Float[Tensor, "n n de"]]:
    """Tensors V, A, E of one graph given as lists, as in `Graph.build`; raises GraphError if they are no graph."""
    n = len(nodes)
    if n > schema.max_nodes:
        raise GraphError(
            f"A graph must have at most {schema.max_nodes} nodes; got {n}. "
            f"Leave it out, or fit models with a larger limit (max_nodes={n}): graphflip fit DATA --max-nodes {n}."
        )
    V = torch.tensor([_encode(schema.nodes, attributes, f"node {i}") for i, attributes in enumerate(nodes)])
    rows: dict[tuple[int, int], list[float]] = {}
    for i, j, attributes in edges:
        if not (0 <= i < n and 0 <= j < n) or i == j:
            raise GraphError(f"An edge must join two different nodes of 0..{n - 1}; got ({i}, {j}). Remove it.")
        row = _encode(schema.edges, attributes, f"edge ({i}, {j})")
        if rows.get((i, j), row) != row:
            raise GraphError(f"An edge must have one set of attributes; ({i}, {j}) is listed twice. Keep one of them.")
        rows |= {(i, j): row} if schema.directed else {(i, j): row, (j, i): row}
    A, E = torch.zeros(n, n), torch.zeros(n, n, schema.de)
    if rows:
        first, second = torch.tensor(list(rows)).unbind(1)
        A[first, second], E[first, second] = 1.0, torch.tensor(list(rows.values())).reshape(len(rows), schema.de)
    return V.reshape(n, schema.dv), A, E


def _encode(columns: Sequence[Column], attributes: AttributeDict, owner: str) -> list[float]:
    """Row of V or E for the attributes of one node or edge; `owner` names it in errors."""
    names = [column.name for column in columns]
    if set(attributes) != set(names):
        raise GraphError(
            f"{owner} must have the attributes {names}; got {list(attributes)}. Add what is missing, drop the rest."
        )
    row: list[float] = []
    for column in columns:
        value = attributes[column.name]
        try:
            row += column.encode(value)
        except (TypeError, ValueError) as error:
            raise GraphError(
                f"`{column.name}` of {owner} must be a number; got {value!r}. Correct it, or declare it as Categories."
            ) from error
    return row


def _check_shapes(tensors: dict[str, Tensor], schema: Schema) -> None:
    """Raise GraphError if the tensors' shapes do not fit each other or the schema."""
    for name in "BVAE":
        if not isinstance(tensors[name], Tensor):
            raise GraphError(
                f"`{name}` must be a torch tensor; got {type(tensors[name]).__name__}. Convert with `torch.as_tensor`."
            )
    if tensors["B"].ndim != 2:
        raise GraphError(
            f"`B` must be graphs x slots; got shape {tuple(tensors['B'].shape)}. Add a batch axis: B[None]."
        )
    b, n = tensors["B"].shape
    dv, de = schema.dv, schema.de
    for name, expected in (("V", (b, n, dv)), ("A", (b, n, n)), ("E", (b, n, n, de))):
        shape = tuple(tensors[name].shape)
        if shape != expected:
            raise GraphError(
                f"`{name}` must be {' x '.join(map(str, expected))} because `B` has {b} graphs of {n} slots and the "
                f"schema {dv} node and {de} edge columns; got {' x '.join(map(str, shape))}. "
                "Pad with `Graph.pad` before batching."
            )
    if n > schema.max_nodes:
        raise GraphError(
            f"A graph must have at most {schema.max_nodes} slots (the schema's max_nodes); got {n}. "
            "Use `trim`, or a schema with a larger limit."
        )


def _check_values(tensors: dict[str, Tensor]) -> None:
    """Raise GraphError for wrong types of numbers, NaN, and probabilities out of [0, 1]."""
    B = tensors["B"]
    for name in "BVAE":
        tensor = tensors[name]
        if not tensor.is_floating_point():
            raise GraphError(f"`{name}` must be floating point; got {tensor.dtype}. Convert with `.float()`.")
        if not bool(torch.isfinite(tensor).all()):
            raise GraphError(f"`{name}` must be finite; got NaN or infinity. Clean the attributes before loading.")
        if (tensor.dtype, tensor.device) != (B.dtype, B.device):
            raise GraphError(
                f"`{name}` must be {B.dtype} on {B.device} as `B` is; "
                f"got {tensor.dtype} on {tensor.device}. Convert with `.to`."
            )
    for name in "BA":
        tensor = tensors[name]
        if bool(((tensor < -_TOLERANCE) | (tensor > 1 + _TOLERANCE)).any()):
            raise GraphError(
                f"`{name}` must lie in [0, 1]; got {float(tensor.min()):.3g} to {float(tensor.max()):.3g}."
            )


def _check_edges(B: Tensor, A: Tensor, E: Tensor, directed: bool) -> None:
    """Raise GraphError for self loops, edges at empty slots, and undirected edges of one direction only."""
    if bool((A.diagonal(dim1=1, dim2=2) > _TOLERANCE).any()):
        raise GraphError("`A` must have a zero diagonal: self loops are not edges here. Remove them.")
    both_exist = torch.minimum(B[:, :, None], B[:, None, :])
    if bool((A > both_exist + _TOLERANCE).any()):
        raise GraphError(
            "`A` must be zero at empty slots; got an edge at a slot where `B` is 0. Set B, or drop the edge."
        )
    for name, tensor in (("A", A), ("E", E)):
        if not directed and bool(((tensor - tensor.transpose(1, 2)).abs() > _TOLERANCE).any()):
            raise GraphError(
                f"`{name}` must be symmetric because the schema is undirected; it is not. "
                "Store each edge in both directions, or use Schema(directed=True)."
            )


def _check_columns(name: str, tensor: Tensor, of: str, exists: Tensor, slices: Iterable[tuple[Column, slice]]) -> None:
    """Raise GraphError if a group of categories is not one-hot or something absent has a number."""
    for column, at in slices:
        part = tensor[..., at]
        if not column.is_continuous:
            if bool((part < -_TOLERANCE).any()) or bool(((part.sum(-1) - exists).abs() > _TOLERANCE).any()):
                raise GraphError(
                    f"The columns `{column.name}` of `{name}` must be one-hot (sum to `{of}`: 1 where it exists, "
                    "else 0); they are not. Give exactly one category to what exists and zeros to what does not."
                )
        elif bool(((part[..., 0].abs() > _TOLERANCE) & (exists == 0)).any()):
            raise GraphError(
                f"`{column.name}` in `{name}` must be zero where `{of}` is 0; it is not. Multiply by `{of}`."
            )
