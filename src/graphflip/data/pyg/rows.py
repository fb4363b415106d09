"""PyG graphs as texts, so that they can be sent, hashed and stored like other rows."""

import json
import operator
from types import SimpleNamespace
from typing import Any

import torch

from ...errors import DataError
from ...graph import Graph
from ...schema import Schema
from .objects import from_pyg, is_dense


def pyg_text(data: Any) -> str:
    """Write `edge_index`, `x`, `edge_attr` and the number of nodes of a `Data` object as JSON; integers stay so."""
    if getattr(data, "edge_index", None) is None:
        return json.dumps({"type": type(data).__name__})
    tables = {name: getattr(data, name, None) for name in ("edge_index", "x", "edge_attr")}
    count = data.num_nodes if tables["x"] is None else None
    return json.dumps({name: _plain(value) for name, value in (tables | {"num_nodes": count}).items()})


def _plain(value: Any) -> Any:
    """Turn a tensor into lists of numbers; of any other value but a whole number, give the name of its type."""
    if is_dense(value):
        return value.tolist()
    try:
        return None if value is None else operator.index(value)
    except (TypeError, RuntimeError):
        return type(value).__name__


def from_pyg_text(text: str, schema: Schema) -> Graph:
    """Read a graph that `pyg_text` wrote; DataError if it does not fit the schema."""
    stored = json.loads(text)
    if "edge_index" not in stored:
        raise DataError(f"A graph must be a PyG Data object with `edge_index`; got a {stored['type']}.")
    edges, x, edge_attr = (_tensor(name, stored[name]) for name in ("edge_index", "x", "edge_attr"))
    if edges is not None and not edges.numel():
        edges, edge_attr = torch.empty(2, 0, dtype=torch.long), torch.empty(0, schema.de)
    # A graph that is to be explained needs no label.
    data = SimpleNamespace(edge_index=edges, x=x, edge_attr=edge_attr, num_nodes=stored["num_nodes"], y=0)
    return from_pyg([data], schema=schema).graphs()


def _tensor(name: str, stored: Any) -> torch.Tensor | None:
    if isinstance(stored, str):
        raise DataError(f"`{name}` of a PyG graph must be a dense tensor of numbers; got a {stored}.")
    return None if stored is None else torch.tensor(stored)
