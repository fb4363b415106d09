"""Graphs, and parts of edits, as JSON in the form of docs/concepts/format.md, in which node numbers are stable."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .columns import shortened
from .errors import DataError, GraphError
from .graph import Graph
from .schema import AttributeDict, Column, Schema, decoder


def graph_to_json(graph: Graph) -> dict[str, Any]:
    """Convert one hard graph to `{"nodes": [{"type": "C"}, null, …], "edges": [[i, j, {"type": "single"}], …]}`.

    An empty slot is null; empty slots after the last node are left out.
    """
    nodes = single_hard(graph).nodes()
    while nodes and nodes[-1] is None:
        nodes.pop()
    return {"nodes": nodes, "edges": [[i, j, attributes] for i, j, attributes in graph.edges()]}


def graph_from_json(stored: Any, schema: Schema, max_slots: int | None = None) -> Graph:
    """Read a graph from the form of `graph_to_json`, node i in slot i.

    Args:
        stored: The JSON form.
        schema: Attributes of nodes and edges, and the largest number of nodes.
        max_slots: Largest number of slots, empty ones included. The graph has a schema of so many nodes. Default: the
            schema's number of nodes.

    Returns:
        A single graph.

    Raises:
        DataError: The form is wrong, or there are too many slots.
        SchemaError: An attribute is not of the schema.
        GraphError: There are too many nodes.
    """
    if not isinstance(stored, dict) or set(stored) != {"nodes", "edges"}:
        raise DataError(f"A graph must be an object with the keys `nodes` and `edges`; got {shortened(stored)}.")
    for key, form in (("nodes", '{"type": "C"} or null'), ("edges", '[i, j, {"type": "single"}]')):
        if not isinstance(stored[key], list):
            raise DataError(f"`{key}` of a graph must be a list of {form}; got {shortened(stored[key])}.")
    for i, node in enumerate(stored["nodes"]):
        if node is not None:
            _check_attributes(f"node {i}", node, schema.nodes)
    _check_edges(stored["nodes"], stored["edges"], schema)
    slots = [i for i, node in enumerate(stored["nodes"]) if node is not None]
    number = {slot: k for k, slot in enumerate(slots)}
    edges = [(number[i], number[j], attributes) for i, j, attributes in stored["edges"]]
    compact = Graph.build(schema, [stored["nodes"][i] for i in slots], edges)
    if max_slots is not None:
        compact = dataclasses.replace(compact, schema=schema.model_copy(update={"max_nodes": max_slots}))
    return _spread(compact, slots, len(stored["nodes"]))


def aligned_pair(factual: Graph, counterfactual: Graph) -> tuple[Graph, Graph]:
    """Reorder two aligned graphs: the factual's nodes first, then the added ones; slots empty in both are dropped.

    Slot i must be the same node in both graphs, and is so in both results.
    """
    order, used = aligned_order(factual, counterfactual)
    before, after = (
        graph.pad(len(order)).permute(torch.tensor(order, dtype=torch.long)) for graph in (factual, counterfactual)
    )
    return first_slots(before, used), first_slots(after, used)


def aligned_order(factual: Graph, counterfactual: Graph) -> tuple[list[int], int]:
    """Slots of two aligned graphs in the order of `aligned_pair`, those empty in both last; and how many are not."""
    n = max(factual.num_slots, counterfactual.num_slots)
    before, after = (single_hard(graph).pad(n) for graph in (factual, counterfactual))
    # 0 is a node of the factual, 1 one that was added, 2 a slot that is empty in both.
    kind = torch.where(before.B[0] > 0, 0, torch.where(after.B[0] > 0, 1, 2))
    return torch.argsort(kind, stable=True).tolist(), int((kind < 2).sum())


def pair_within(factual: Graph, counterfactual: Graph, schema: Schema) -> tuple[Graph, Graph]:
    """Fit two aligned graphs of at most `schema.max_nodes` nodes, with as many slots each, into those of a schema.

    Where there are too many slots, those that are empty in both graphs are dropped, and the last nodes that were added
    take slots of nodes that were removed.
    """
    n = schema.max_nodes
    if factual.num_slots > n:
        factual, counterfactual = aligned_pair(factual, counterfactual)
    order = torch.arange(counterfactual.num_slots)
    taken = counterfactual.B[0] > 0
    surplus = order[n:][taken[n:]]
    free = order[:n][~taken[:n]][: len(surplus)]
    order[free], order[surplus] = surplus, free
    before, after = (first_slots(graph, n) for graph in (factual, counterfactual.permute(order)))
    return dataclasses.replace(before, schema=schema), dataclasses.replace(after, schema=schema)


def single_hard(graph: Graph) -> Graph:
    """Return the graph if it is a single hard one; raise GraphError if it is relaxed or a batch of several."""
    if len(graph) != 1:
        raise GraphError(f"This works on single graphs; got a batch of {len(graph)}. Select one: graph[0].")
    if not graph.is_hard:
        raise GraphError("This works on hard graphs; got a relaxed one. Decode it with `decode_hard` first.")
    return graph


Parts = dict[tuple[int, ...], AttributeDict]
"""Nodes or edges of a graph by their slots, with their attributes."""


def unlike_nodes(before: Graph, after: Graph) -> tuple[Parts, Parts]:
    """Nodes of two single hard graphs of as many slots, without those that are the same in both."""
    unlike = (before.B != after.B) | (before.V != after.V).any(-1)
    at, decode = unlike[0].nonzero(), decoder(before.schema.node_slices())
    return _parts(at, before.B[0], before.V[0], decode), _parts(at, after.B[0], after.V[0], decode)


def unlike_edges(before: Graph, after: Graph) -> tuple[Parts, Parts]:
    """Edges of two single hard graphs of as many slots, without those that are the same in both; each once."""
    unlike = (before.A != after.A) | (before.E != after.E).any(-1)
    unlike = unlike if before.schema.directed else unlike.triu(1)
    at, decode = unlike[0].nonzero(), decoder(before.schema.edge_slices())
    return _parts(at, before.A[0], before.E[0], decode), _parts(at, after.A[0], after.E[0], decode)


def _parts(at: Tensor, exists: Tensor, rows: Tensor, decode: Callable[[list[float]], AttributeDict]) -> Parts:
    """Those of the nodes or edges at some places that exist."""
    at = at[exists[at.unbind(1)] > 0.5]
    return {tuple(slots): decode(row) for slots, row in zip(at.tolist(), rows[at.unbind(1)].tolist(), strict=True)}


def read_place(op: str, at: Any) -> tuple[int, ...]:
    """Read the node or the two ends of the edge that a stored edit is at; raises DataError if wrong."""
    size = 1 if op.endswith("node") else 2
    fits = isinstance(at, list | tuple) and len(at) == size and all(type(i) is int and i >= 0 for i in at)
    if not fits or len(set(at)) != size:
        expected = "a node number >= 0" if size == 1 else "two different node numbers [i, j]"
        raise DataError(f"An edit `{op}` must be at {expected}; got {at if size == 2 else at[0]!r}.")
    return tuple(at)


def read_attributes(stored: Any) -> AttributeDict:
    """Read the attributes of a stored edit; raises DataError if they are no texts and numbers."""
    if not isinstance(stored, dict) or not all(type(value) in (str, int, float) for value in stored.values()):
        raise DataError(f"Attributes must be an object of texts and numbers; got {stored!r}.")
    return {str(name): value if isinstance(value, str) else float(value) for name, value in stored.items()}


def _check_attributes(owner: str, attributes: Any, columns: Sequence[Column]) -> None:
    names = [column.name for column in columns]
    if not isinstance(attributes, dict) or sorted(attributes) != sorted(names):
        wanted = ", ".join(names) or "none"
        raise DataError(
            f"{owner} must have exactly the attributes that the model knows ({wanted}); got {shortened(attributes)}. "
            "Leave the others out, or use a model of graphs like these."
        )
    for column in columns:
        column.check(attributes[column.name], owner)


def _check_edges(nodes: list, edges: list, schema: Schema) -> None:
    seen: set[tuple[int, int]] = set()
    for position, edge in enumerate(edges):
        if not isinstance(edge, list | tuple) or len(edge) != 3 or any(type(i) is not int for i in edge[:2]):
            raise DataError(f'edge {position} must be [i, j, {{"type": …}}]; got {shortened(edge)}.')
        i, j, attributes = edge
        if i == j or any(not 0 <= k < len(nodes) or nodes[k] is None for k in (i, j)):
            raise DataError(f"edge {position} must join two different nodes that are not null; got ({i}, {j}).")
        pair = (i, j) if schema.directed else (min(i, j), max(i, j))
        if pair in seen:
            raise DataError(f"edge {position} must not repeat another one; got ({i}, {j}) again. List each edge once.")
        seen.add(pair)
        _check_attributes(f"edge ({i}, {j})", attributes, schema.edges)


def _spread(compact: Graph, slots: list[int], n: int) -> Graph:
    """Move node k to slot `slots[k]` of `n`."""
    empty = iter(range(len(slots), n))
    number = {slot: k for k, slot in enumerate(slots)}
    order = [number[i] if i in number else next(empty) for i in range(n)]
    if n > compact.schema.max_nodes:
        raise DataError(f"`nodes` must list at most {compact.schema.max_nodes} nodes, null included; got {n}.")
    return compact.pad(n).permute(torch.tensor(order, dtype=torch.long))


def first_slots(graph: Graph, n: int) -> Graph:
    """The graphs without the slots from `n` on, in which no graph may have a node."""
    return Graph.trusted(graph.B[:, :n], graph.V[:, :n], graph.A[:, :n, :n], graph.E[:, :n, :n], graph.schema)
