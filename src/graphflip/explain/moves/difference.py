"""Difference: the nodes and edges in which two aligned sketches differ, and what these changes cost."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, cast, get_args

from ...edits import Edit, Op
from ...schema import Column, Schema
from .attributes import Attributes, attribute_distance
from .sketch import Pair, Sketch


class AttributeChange(NamedTuple):
    """Attributes of a node or an edge before and after; None where it does not exist."""

    before: Attributes | None
    after: Attributes | None


@dataclass(frozen=True)
class Difference:
    """The changes that lead from one sketch to another that has the same slots.

    Args:
        nodes: Changed, added and removed nodes.
        edges: Changed, added and removed edges; pairs with i < j if edges are undirected.
    """

    nodes: dict[int, AttributeChange]
    edges: dict[Pair, AttributeChange]

    @classmethod
    def between(cls, before: Sketch, after: Sketch) -> "Difference":
        """Compare two aligned sketches."""
        nodes = {
            i: AttributeChange(before.nodes.get(i), after.nodes.get(i))
            for i in before.nodes.keys() | after.nodes.keys()
            if before.nodes.get(i) != after.nodes.get(i)
        }
        edges: dict[Pair, AttributeChange] = {}
        for i in before.near.keys() | after.near.keys():
            old, new = before.near.get(i, {}), after.near.get(i, {})
            if old is not new:
                _add_changed_edges(edges, i, old, new, before.directed)
        return cls(nodes, edges)

    def updated(self, before: Sketch, after: Sketch) -> "Difference":
        """The difference between `before` and `after`, computed from that between `before` and the sketch of which
        `after` is a changed copy: only nodes in `after.touched` are compared."""
        touched = after.touched
        nodes = {i: change for i, change in self.nodes.items() if i not in touched}
        edges = {pair: change for pair, change in self.edges.items() if touched.isdisjoint(pair)}
        for i in touched:
            old, new = before.nodes.get(i), after.nodes.get(i)
            if old != new:
                nodes[i] = AttributeChange(old, new)
            _add_changed_edges(edges, i, before.near.get(i, {}), after.near.get(i, {}), before.directed)
        if before.directed:
            for j in (before.near.keys() | after.near.keys()) - touched:
                old, new = before.near.get(j, {}), after.near.get(j, {})
                for i in touched & (old.keys() | new.keys()):
                    if old.get(i) != new.get(i):
                        edges[j, i] = AttributeChange(old.get(i), new.get(i))
        return Difference(nodes, edges)

    @cached_property
    def touched(self) -> set[int]:
        """Nodes that change or have an edge that changes."""
        return set(self.nodes).union(*self.edges)

    @property
    def size(self) -> int:
        """Number of edits."""
        return len(self.nodes) + len(self.edges)

    def least_size(self, schema: Schema) -> int:
        """Number of edits that any alignment takes, by the kinds of nodes and edges alone; 0 if there are numbers."""
        return 0 if schema.has_continuous else _least(self.nodes.values()) + _least(self.edges.values())

    def cost(self, schema: Schema) -> float:
        """Number of edits, where a change of continuous attributes alone counts by its size, at most 1 (as in
        `EditCosts`)."""
        if not schema.has_continuous:
            return float(self.size)
        return math.fsum(min(1.0, _gap(change, of)) for change, of in self._all(schema))

    def travel(self, schema: Schema) -> float:
        """Total distance by which attributes change, in scales of the continuous ones; 0 if there are none."""
        if not schema.has_continuous:
            return 0.0
        return math.fsum(_gap(change, of) for change, of in self._all(schema) if None not in change)

    def _all(self, schema: Schema) -> Iterator[tuple[AttributeChange, tuple[Column, ...]]]:
        """Every change with the columns of its attributes."""
        yield from ((change, schema.nodes) for change in self.nodes.values())
        yield from ((change, schema.edges) for change in self.edges.values())

    def edits(self, schema: Schema) -> list[Edit]:
        """The changes as typed edits, in the order of `edits_between`."""
        edits = [_edit("node", (i,), change, schema.nodes) for i, change in self.nodes.items()]
        edits += [_edit("edge", pair, change, schema.edges) for pair, change in self.edges.items()]
        return sorted(edits, key=lambda edit: (_RANK[edit.op], edit.at))


def op_of(what: Literal["node", "edge"], change: AttributeChange) -> Op:
    """The kind of edit that a change is, such as "set_node"."""
    verb = "add" if change.before is None else "remove" if change.after is None else "set"
    return cast(Op, f"{verb}_{what}")


def _gap(change: AttributeChange, columns: tuple[Column, ...]) -> float:
    """Distance between the attributes before and after; 1 if a node or an edge is added or removed."""
    before, after = change
    return 1.0 if before is None or after is None else attribute_distance(before, after, columns)


def _add_changed_edges(
    edges: dict[Pair, AttributeChange], i: int, old: dict[int, Attributes], new: dict[int, Attributes], directed: bool
) -> None:
    if old == new:
        return
    for j in old.keys() | new.keys():
        if old.get(j) != new.get(j):
            edges[(i, j) if directed or i < j else (j, i)] = AttributeChange(old.get(j), new.get(j))


def _least(changes: Iterable[AttributeChange]) -> int:
    """Number of changes that are left when what goes at one place comes back at another."""
    changes = list(changes)
    gone, come = Counter(each.before for each in changes), Counter(each.after for each in changes)
    del gone[None], come[None]
    return max(sum(gone.values()), sum(come.values())) - sum((gone & come).values())


_RANK = {op: position for position, op in enumerate(get_args(Op))}


def _edit(
    what: Literal["node", "edge"], at: tuple[int, ...], change: AttributeChange, columns: tuple[Column, ...]
) -> Edit:
    op, names = op_of(what, change), [column.name for column in columns]
    before, after = (dict(zip(names, attributes or (), strict=False)) for attributes in change)
    if op.startswith("set"):
        names = [name for name in names if before[name] != after[name]]
        before, after = ({name: attributes[name] for name in names} for attributes in (before, after))
    return Edit(op, at, before, after)
