"""PyG graphs as texts, so that they can be sent, hashed and stored like other rows."""

import json
from types import SimpleNamespace
from typing import Any

import torch

from ..data.pyg import from_pyg
from ..errors import DataError
from ..graph import Graph
from ..schema import Schema


def pyg_text(data: Any) -> str:
    """`edge_index`, `x`, `edge_attr` and the number of nodes of a `Data` object as JSON; whole numbers stay whole."""
    if getattr(data, "edge_index", None) is None:
        return json.dumps({"type": type(data).__name__})
    tables = {name: getattr(data, name, None) for name in ("edge_index", "x", "edge_attr")}
    lists = {name: None if table is None else table.tolist() for name, table in tables.items()}
    return json.dumps(lists | {"num_nodes": data.num_nodes if tables["x"] is None else len(tables["x"])})


def from_pyg_text(text: str, schema: Schema) -> Graph:
    """The graph that `pyg_text` wrote, as one of the schema; an error says what does not fit."""
    stored = json.loads(text)
    if "edge_index" not in stored:
        raise DataError(f"A graph must be a PyG Data object with `edge_index`; got a {stored['type']}.")
    edges = torch.tensor(stored["edge_index"], dtype=torch.long).reshape(2, -1)
    x, edge_attr = (None if stored[name] is None else torch.tensor(stored[name]) for name in ("x", "edge_attr"))
    if not edges.numel():
        edge_attr = torch.empty(0, schema.de)
    # A label is not needed to be explained.
    data = SimpleNamespace(edge_index=edges, x=x, edge_attr=edge_attr, num_nodes=stored["num_nodes"], y=0)
    return from_pyg([data], schema=schema).graphs()
