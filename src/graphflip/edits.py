"""Edits: the list of changes that turns one graph into another whose slot i is the same node."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor

from .errors import ConfigError, DataError, GraphError, SchemaError
from .graph import Graph
from .jsongraph import read_attributes, read_place, single_hard, unlike_edges, unlike_nodes
from .schema import AttributeDict, Column, Op, Schema

_INVERSE: dict[Op, Op] = {
    "remove_edge": "add_edge",
    "add_edge": "remove_edge",
    "remove_node": "add_node",
    "add_node": "remove_node",
    "set_node": "set_node",
    "set_edge": "set_edge",
}


@dataclass(frozen=True)
class Edit:
    """One change of a node or an edge.

    Args:
        op: Kind of edit.
        at: Slot of the node `(i,)`, or of the two ends of the edge `(i, j)`; an undirected edge has i < j.
        before: Attributes before the edit; none if something is added. `set_node` and `set_edge` name only the
            attributes that change.
        after: Attributes after the edit; none if something is removed.

    Example:
        >>> Edit("set_edge", (3, 4), {"type": "double"}, {"type": "single"}).to_json()
        {'op': 'set_edge', 'edge': [3, 4], 'from': {'type': 'double'}, 'to': {'type': 'single'}}
    """

    op: Op
    at: tuple[int, ...]
    before: AttributeDict = field(default_factory=dict)
    after: AttributeDict = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.op, self.at, tuple(self.before.items()), tuple(self.after.items())))

    @property
    def is_node(self) -> bool:
        """True for an edit of a node, False for one of an edge."""
        return self.op.endswith("node")

    def inverse(self) -> "Edit":
        """Make the edit that undoes this one."""
        return Edit(_INVERSE[self.op], self.at, self.after, self.before)

    def to_json(self) -> dict[str, Any]:
        """Convert to the JSON form of docs/concepts/format.md; `Edit.from_json` reads it back."""
        stored: dict[str, Any] = {"op": self.op}
        stored |= {"node": self.at[0]} if self.is_node else {"edge": list(self.at)}
        if not self.op.startswith("add"):
            stored["from"] = self.before
        if not self.op.startswith("remove"):
            stored["to"] = self.after
        return stored

    @classmethod
    def from_json(cls, stored: Any) -> "Edit":
        """Read an edit from the form that `to_json` makes; raises DataError if it is not an edit."""
        if not isinstance(stored, dict) or stored.get("op") not in get_args(Op):
            raise DataError(
                f"An edit must be an object whose `op` is one of {', '.join(get_args(Op))}; got {stored!r}."
            )
        op: Op = stored["op"]
        place = "node" if op.endswith("node") else "edge"
        keys = {"op", place} | ({"from"} if not op.startswith("add") else set())
        keys |= {"to"} if not op.startswith("remove") else set()
        if set(stored) != keys:
            raise DataError(f"An edit `{op}` must have the keys {sorted(keys)}; got {sorted(map(str, stored))}.")
        at = (stored["node"],) if place == "node" else stored["edge"]
        return cls(op, read_place(op, at), *(read_attributes(stored.get(key, {})) for key in ("from", "to")))


@dataclass(frozen=True)
class EditCosts:
    """Costs of the kinds of edit; by default every edit costs 1.

    A change of continuous attributes costs its size in units of the column's `scale`, at most as much as a change of
    category. A change must not cost more than removing and adding: else the cheapest edits would not be an alignment.

    Args:
        add_node, remove_node, add_edge, remove_edge: Costs of adding and removing, at least 0.
        set_node, set_edge: Costs of changing attributes, at most those of removing and adding.

    Raises:
        ConfigError: If a cost is negative or infinite, or a change costs too much.
    """

    add_node: float = 1.0
    remove_node: float = 1.0
    set_node: float = 1.0
    add_edge: float = 1.0
    remove_edge: float = 1.0
    set_edge: float = 1.0

    def __post_init__(self) -> None:
        for name, cost in vars(self).items():
            if not 0 <= cost < float("inf"):
                raise ConfigError(f"`{name}` must be a number >= 0; got {cost}.")
        for place in ("node", "edge"):
            change = getattr(self, f"set_{place}")
            limit = getattr(self, f"add_{place}") + getattr(self, f"remove_{place}")
            if change > limit:
                raise ConfigError(
                    f"`set_{place}` must not exceed add_{place} + remove_{place} = {limit:g}; got {change:g}. Lower it."
                )

    def of(self, edit: Edit, schema: Schema) -> float:
        """Cost of one edit."""
        if not edit.op.startswith("set"):
            return getattr(self, edit.op)
        columns = {column.name: column for column in (schema.nodes if edit.is_node else schema.edges)}
        share = sum(columns[name].distance(edit.before[name], edit.after[name]) for name in edit.after)
        return getattr(self, edit.op) * min(1.0, share)

    def total(self, edits: Iterable[Edit], schema: Schema) -> float:
        """Cost of a list of edits."""
        return float(sum(self.of(edit, schema) for edit in edits))


def edits_between(factual: Graph, counterfactual: Graph) -> list[Edit]:
    """List the edits that turn one hard graph into another whose slot i is the same node.

    Args:
        factual: Graph before the edits, a batch of one.
        counterfactual: Graph after the edits, a batch of one.

    Returns:
        Edits in an order in which `apply_edits` can apply them. The edges of a removed node are edits of their own.

    Raises:
        SchemaError: If the schemas differ.
        GraphError: If a graph is relaxed or a batch of several.
    """
    if factual.schema != counterfactual.schema:
        raise SchemaError("Both graphs must have the same schema; these differ. Load them from one dataset.")
    n = max(factual.num_slots, counterfactual.num_slots)
    before, after = (single_hard(graph).pad(n) for graph in (factual, counterfactual))
    nodes, other_nodes = unlike_nodes(before, after)
    edges, other_edges = unlike_edges(before, after)
    changes = _changes("node", nodes, other_nodes) + _changes("edge", edges, other_edges)
    rank = {op: position for position, op in enumerate(get_args(Op))}
    return sorted(changes, key=lambda edit: (rank[edit.op], edit.at))


def apply_edits(graph: Graph, edits: Sequence[Edit]) -> Graph:
    """Apply edits to a hard graph, in the order given.

    Args:
        graph: Graph before the edits, a batch of one.
        edits: Edits by its slots; slots that added nodes need are appended.

    Returns:
        The edited graph.

    Raises:
        GraphError: If an edit does not fit: a missing node, an edge that exists, other attributes than `before`.
        SchemaError: If an edit names other attributes than the schema.
    """
    slots = max([graph.num_slots, *(edit.at[0] + 1 for edit in edits if edit.op == "add_node")])
    if slots > graph.schema.max_nodes:
        raise GraphError(
            f"Edits must stay within the schema's {graph.schema.max_nodes} nodes; node {slots - 1} would be added. "
            "Leave this edit out, or use a schema with a larger limit."
        )
    wide = single_hard(graph).pad(slots)
    B, V, A, E = (getattr(wide, name)[0].clone() for name in "BVAE")
    for edit in edits:
        if max(edit.at) >= slots:
            raise GraphError(f"An edit must be at a node of 0..{slots - 1}; got {edit.to_json()}.")
        if edit.is_node:
            _edit_node(edit, B, V, A, graph.schema)
        else:
            _edit_edge(edit, B, A, E, graph.schema)
    return Graph.trusted(B[None], V[None], A[None], E[None], graph.schema)


def undo(edits: Sequence[Edit]) -> list[Edit]:
    """List the edits that undo `edits`: `apply_edits(apply_edits(graph, edits), undo(edits)) == graph`."""
    return [edit.inverse() for edit in reversed(edits)]


def heavy_edits(factual: Graph, edits: Sequence[Edit]) -> list[Edit]:
    """Select the edits that are not bookkeeping of hydrogens or charges.

    Where hydrogens are nodes, adding or removing one of them or its bond is left out. Where charges are stored, the
    charge of an atom is left out if there is another edit at the atom or at a neighbor. In other graphs nothing is.
    """
    chemistry = factual.schema.chemistry
    if chemistry is not None and chemistry.stored_charges:
        return _without_charges(factual, edits)
    if chemistry is None or not chemistry.explicit_hydrogens:
        return list(edits)
    types = _types_over_time(factual, edits)
    return [edit for edit in edits if edit.op.startswith("set") or not any(types[i] == {"H"} for i in edit.at)]


def num_edits(factual: Graph, counterfactual: Graph) -> int:
    """Number of edits between two aligned graphs: an upper bound of their labelled graph edit distance."""
    return len(edits_between(factual, counterfactual))


def _changes(place: Literal["node", "edge"], before: dict[tuple[int, ...], AttributeDict], after: dict) -> list[Edit]:
    """Edits between two sets of nodes or edges, each with its attributes."""
    add, remove, change = (f"{verb}_{place}" for verb in ("add", "remove", "set"))
    edits = [Edit(cast(Op, add), at, {}, after[at]) for at in after.keys() - before.keys()]
    edits += [Edit(cast(Op, remove), at, before[at], {}) for at in before.keys() - after.keys()]
    for at in before.keys() & after.keys():
        names = [name for name in before[at] if before[at][name] != after[at][name]]
        if names:
            old, new = ({name: attributes[at][name] for name in names} for attributes in (before, after))
            edits.append(Edit(cast(Op, change), at, old, new))
    return edits


def _edit_node(edit: Edit, B: Tensor, V: Tensor, A: Tensor, schema: Schema) -> None:
    (i,) = edit.at
    _check_there(edit, bool(B[i]))
    if edit.op == "remove_node" and bool(A[i].any() or A[:, i].any()):
        raise GraphError(f"A node must have no edges when it is removed; node {i} has some. Remove its edges first.")
    _rewrite(edit, V[i], list(schema.node_slices()))
    B[i] = float(edit.op != "remove_node")


def _edit_edge(edit: Edit, B: Tensor, A: Tensor, E: Tensor, schema: Schema) -> None:
    i, j = edit.at
    if not (B[i] and B[j]) or i == j:
        raise GraphError(
            f"An edge must join two different nodes of the graph; got {edit.to_json()}. Add the nodes first."
        )
    _check_there(edit, bool(A[i, j]))
    _rewrite(edit, E[i, j], list(schema.edge_slices()))
    A[i, j] = float(edit.op != "remove_edge")
    if not schema.directed:
        A[j, i], E[j, i] = A[i, j], E[i, j]


def _check_there(edit: Edit, there: bool) -> None:
    """Raise GraphError if the edit adds what exists, or removes or changes what does not."""
    if there == edit.op.startswith("add"):
        state = "exists already" if there else "does not exist"
        raise GraphError(f"The edit {edit.to_json()} does not fit the graph: what it is at {state}.")


def _rewrite(edit: Edit, row: Tensor, slices: list) -> None:
    """Check that a row has the attributes `before` the edit, and write those `after` it."""
    known = {column.name for column, _ in slices}
    named = set(edit.before) | set(edit.after)
    if not named <= known or (not edit.op.startswith("set") and named != known):
        raise SchemaError(f"The edit {edit.to_json()} must name the schema's attributes {sorted(known)}.")
    if edit.op.startswith("set") and set(edit.before) != set(edit.after):
        raise SchemaError(f"The edit {edit.to_json()} must name the same attributes in `from` and `to`.")
    for column, at in slices:
        if column.name in edit.before:
            expected = _encoded(column, edit.before[column.name], row)
            if not torch.equal(row[at], expected):
                raise GraphError(
                    f"The edit {edit.to_json()} does not fit the graph: `{column.name}` is not as in `from`."
                )
            row[at] = 0.0
        if column.name in edit.after:
            row[at] = _encoded(column, edit.after[column.name], row)


def _encoded(column: Column, value: str | float, like: Tensor) -> Tensor:
    column.check(value, "an edit")
    return like.new_tensor(column.encode(value))


def _without_charges(factual: Graph, edits: Sequence[Edit]) -> list[Edit]:
    """The edits without charges that follow from other edits, at the same atom or at a neighbor."""
    charges = [edit for edit in edits if edit.op == "set_node" and edit.after.keys() == {"charge"}]
    edited = {i for edit in edits if edit not in charges for i in edit.at}
    beside = {k for i, j, _ in factual.edges() for k in (i, j) if i in edited or j in edited} if charges else set()
    return [edit for edit in edits if edit not in charges or edited.union(beside).isdisjoint(edit.at)]


def _types_over_time(factual: Graph, edits: Sequence[Edit]) -> dict[int, set[str | float | None]]:
    """All types that each node has before, during or after the edits."""
    types = {i: {node.get("type")} for i, node in enumerate(factual.nodes()) if node is not None}
    for edit in edits:
        if edit.is_node and "type" in edit.after:
            types.setdefault(edit.at[0], set()).add(edit.after["type"])
    return types
