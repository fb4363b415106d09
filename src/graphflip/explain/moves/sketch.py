"""Sketch: one hard graph as dictionaries, cheap to copy and to change: what a search over edits works on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, TypeVar, cast, get_args

import torch
from torch import Tensor

from ...edits import Edit, Op
from ...graph import Graph
from ...schema import Categories, Column, Schema
from .attributes import Attributes, apart, has_continuous

Value = TypeVar("Value")

Pair = tuple[int, int]

Bond = tuple[Attributes, Attributes, Attributes]
"""A node's label, the edge's, and the neighbor's."""

Environment = tuple[Attributes, tuple[tuple[str, Attributes, Attributes], ...]]
"""A node's label and, sorted, its edges: direction ("" if they have none), the edge's label, the neighbor's label."""


@dataclass(eq=False)
class Sketch:
    """Labels of nodes by slot, and `near[i][j]`, the label of the edge from i to j; undirected edges stand twice.

    Whoever changes a sketch copies it first: those that have been handed on are not changed any more. Copies share
    the inner dictionaries of `near`, so these are replaced, never changed. `touched` are the nodes that were changed,
    added or removed since the copy was made, with the neighbors they gained or lost. `charges` are kept once known.
    `newest` is the number of the last node that was added, 0 if there was none.
    """

    nodes: dict[int, Attributes]
    near: dict[int, dict[int, Attributes]]
    directed: bool = False
    touched: set[int] = field(default_factory=set)
    charges: dict[int, int] | None = None
    newest: int = 0

    @classmethod
    def of(cls, graph: Graph, index: int = 0) -> "Sketch":
        nodes = {i: tuple(node.values()) for i, node in enumerate(graph.nodes(index)) if node is not None}
        sketch = cls(nodes, {i: {} for i in nodes}, graph.schema.directed)
        for i, j, attributes in graph.edges(index):
            sketch.join(i, j, tuple(attributes.values()))
        sketch.touched.clear()
        return sketch

    def copy(self) -> "Sketch":
        return Sketch(self.nodes.copy(), self.near.copy(), self.directed, newest=self.newest)

    def branch(self) -> "Sketch":
        """A copy that remembers what was touched already: a draft to be finished in several ways."""
        return Sketch(self.nodes.copy(), self.near.copy(), self.directed, set(self.touched), newest=self.newest)

    def add(self, label: Attributes) -> int:
        """A new node, numbered below zero until `align` gives it a slot."""
        self.newest = i = self.newest - 1
        self.nodes[i], self.near[i] = label, {}
        self.touched.add(i)
        return i

    def relabel(self, i: int, label: Attributes) -> None:
        """Give a node another label, or put it back where it was removed."""
        self.nodes[i] = label
        self.near.setdefault(i, {})
        self.touched.add(i)

    def remove(self, i: int) -> None:
        """Take a node out, with its edges."""
        del self.nodes[i]
        gone = self.near.pop(i)
        self.touched.update((i, *gone))
        for j in self.near if self.directed else gone:
            if i in self.near[j]:
                self.near[j] = _without(self.near[j], i)
                self.touched.add(j)

    def join(self, i: int, j: int, label: Attributes) -> None:
        """Add an edge, or change its label."""
        self.touched.update((i, j))
        self.near[i] = {**self.near[i], j: label}
        if not self.directed:
            self.near[j] = {**self.near[j], i: label}

    def cut(self, i: int, j: int) -> None:
        """Remove an edge."""
        self.touched.update((i, j))
        self.near[i] = _without(self.near[i], j)
        if not self.directed:
            self.near[j] = _without(self.near[j], i)

    def edges(self) -> Iterator[tuple[int, int, Attributes]]:
        """Every edge once: with i < j if undirected."""
        for i, near in self.near.items():
            for j, label in near.items():
                if self.directed or i < j:
                    yield i, j, label

    @property
    def size(self) -> tuple[int, int]:
        """Number of nodes and of edges."""
        ends = sum(map(len, self.near.values()))
        return len(self.nodes), ends if self.directed else ends // 2

    def around(self, i: int) -> list[int]:
        """Neighbors of a node, whatever the direction."""
        if not self.directed:
            return list(self.near[i])
        return [j for j in self.nodes if j != i and (j in self.near[i] or i in self.near[j])]

    def reach(self, start: int, block: int | None = None) -> set[int]:
        """Nodes that can be reached from `start`, not going straight from it to `block`."""
        seen, todo = {start}, [start]
        while todo:
            i = todo.pop()
            for j in self.around(i):
                if j not in seen and not (i == start and j == block):
                    seen.add(j)
                    todo.append(j)
        return seen

    def parts(self) -> list[set[int]]:
        """The connected parts."""
        found: list[set[int]] = []
        for i in self.nodes:
            if not any(i in part for part in found):
                found.append(self.reach(i))
        return found

    def environment(self, i: int) -> Environment:
        """The radius-1 environment of a node."""
        out = "out" if self.directed else ""
        edges = [(out, label, self.nodes[j]) for j, label in self.near[i].items()]
        if self.directed:
            edges += [("in", near[i], self.nodes[j]) for j, near in self.near.items() if i in near]
        return self.nodes[i], tuple(sorted(edges))

    def colors(self, rounds: int = 3) -> tuple[int, ...]:
        """What isomorphic graphs share whatever the order of nodes; few others do. Differs between processes."""
        color = {i: hash(label) for i, label in self.nodes.items()}
        for _ in range(rounds):
            color = {
                i: hash((color[i], tuple(sorted((hash(label), color[j]) for j, label in self.near[i].items()))))
                for i in self.nodes
            }
        return tuple(sorted(color.values()))


def _without(edges: dict[int, Attributes], i: int) -> dict[int, Attributes]:
    return {j: label for j, label in edges.items() if j != i}


class AttributeChange(NamedTuple):
    """A label before and after; None where the node or edge does not exist."""

    before: Attributes | None
    after: Attributes | None


@dataclass(frozen=True)
class Difference:
    """What differs between two aligned sketches."""

    nodes: dict[int, AttributeChange]
    edges: dict[Pair, AttributeChange]

    @classmethod
    def between(cls, before: Sketch, after: Sketch) -> "Difference":
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
        """The difference from `before` to `after`, where this one is that to the sketch that `after` was copied from.

        Only what was touched since is looked at.
        """
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
        """Nodes that change or have an edge that does."""
        return {*self.nodes, *(i for pair in self.edges for i in pair)}

    @property
    def size(self) -> int:
        """Number of edits."""
        return len(self.nodes) + len(self.edges)

    def cost(self, schema: Schema) -> float:
        """Number of edits, a change of continuous attributes by its size: what `EditCosts` says."""
        if not has_continuous(schema):
            return float(self.size)
        return math.fsum(min(1.0, _gap(change, of)) for change, of in self._all(schema))

    def travel(self, schema: Schema) -> float:
        """How far attributes have gone in all, continuous ones in units of their scales."""
        if not has_continuous(schema):
            return 0.0
        return math.fsum(_gap(change, of) for change, of in self._all(schema) if None not in change)

    def _all(self, schema: Schema) -> Iterator[tuple[AttributeChange, tuple[Column, ...]]]:
        yield from ((change, schema.nodes) for change in self.nodes.values())
        yield from ((change, schema.edges) for change in self.edges.values())

    def edits(self, schema: Schema) -> list[Edit]:
        """The typed list, in the order of `edits_between`."""
        found = [_edit("node", (i,), change, schema.nodes) for i, change in self.nodes.items()]
        found += [_edit("edge", pair, change, schema.edges) for pair, change in self.edges.items()]
        return sorted(found, key=lambda edit: (_RANK[edit.op], edit.at))


def _gap(change: AttributeChange, columns: tuple[Column, ...]) -> float:
    """How far apart the two labels are; 1 where there is but one."""
    before, after = change
    return 1.0 if before is None or after is None else apart(before, after, columns)


def _add_changed_edges(
    edges: dict[Pair, AttributeChange], i: int, old: dict[int, Attributes], new: dict[int, Attributes], directed: bool
) -> None:
    if old == new:
        return
    for j in old.keys() | new.keys():
        if old.get(j) != new.get(j):
            edges[(i, j) if directed or i < j else (j, i)] = AttributeChange(old.get(j), new.get(j))


_RANK = {op: position for position, op in enumerate(get_args(Op))}


def op_of(what: Literal["node", "edge"], change: AttributeChange) -> Op:
    """Which kind of edit a change is."""
    verb = "add" if change.before is None else "remove" if change.after is None else "set"
    return cast(Op, f"{verb}_{what}")


def _edit(
    what: Literal["node", "edge"], at: tuple[int, ...], change: AttributeChange, columns: tuple[Column, ...]
) -> Edit:
    op, names = op_of(what, change), [column.name for column in columns]
    before, after = (dict(zip(names, label or (), strict=False)) for label in change)
    if op.startswith("set"):
        names = [name for name in names if before[name] != after[name]]
        before, after = ({name: label[name] for name in names} for label in (before, after))
    return Edit(op, at, before, after)


def align(factual: Sketch, sketch: Sketch, max_nodes: int) -> Sketch | None:
    """Give new nodes slots, those of nodes of the factual that they stand in for where there are such.

    A new node takes the slot of a missing neighbor of a kept node: a hydrogen that becomes chlorine is one changed
    label. None if there are not enough slots.
    """
    new = [i for i in sketch.nodes if i < 0]
    if not new:
        return sketch
    slot: dict[int, int] = {}
    beside = {j for i in new for j in sketch.around(i) if j >= 0 and j in factual.nodes}
    todo = [(i, i) for i in sketch.nodes if i in beside]
    while todo:
        here, there = todo.pop(0)
        missing = [j for j in factual.around(there) if j not in sketch.nodes and j not in slot.values()]
        fresh = [j for j in sketch.around(here) if j < 0 and j not in slot]
        for _, _, j, k in sorted(_misfit(sketch, here, j, factual, there, k) for j in fresh for k in missing):
            if j not in slot and k not in slot.values():
                slot[j] = k
                todo.append((j, k))
    rest = sorted((i for i in new if i not in slot), reverse=True)
    if rest:
        used = sketch.nodes.keys() | slot.values()
        free = sorted((k for k in range(max_nodes) if k not in used), key=lambda k: k in factual.nodes)
        if len(rest) > len(free):
            return None
        slot |= dict(zip(rest, free, strict=False))
    return renumbered(sketch, slot)


def _misfit(sketch: Sketch, here: int, j: int, factual: Sketch, there: int, k: int) -> tuple[int, int, int, int]:
    """How badly new node j stands in for node k of the factual, and both; -j, so that older ones come first."""
    edge = sketch.near[here].get(j) != factual.near[there].get(k)
    return int(edge) + int(sketch.nodes[j] != factual.nodes[k]), -j, j, k


def renumbered(sketch: Sketch, slot: dict[int, int]) -> Sketch:
    """The same graph with other numbers for some nodes."""
    beside = {j for i in slot for j in sketch.around(i)}
    nodes, near = _renamed(sketch.nodes, slot), _renamed(sketch.near, slot)
    for i in {slot.get(i, i) for i in (*slot, *beside)}:
        near[i] = {slot.get(j, j): label for j, label in near[i].items()}
    touched = {slot.get(i, i) for i in sketch.touched}
    return Sketch(nodes, near, sketch.directed, touched)


def _renamed(table: dict[int, Value], slot: dict[int, int]) -> dict[int, Value]:
    """The same values under other keys, in the same order."""
    tail = list(islice(reversed(table), len(slot)))
    if slot.keys() != set(tail) or not table.keys().isdisjoint(slot.values()):
        return {slot.get(i, i): value for i, value in table.items()}
    # New nodes stand last, and take numbers that are free: the others need not be looked at.
    renamed = table.copy()
    for i in reversed(tail):
        renamed[slot[i]] = renamed.pop(i)
    return renamed


def drawn(graph: Graph, differences: Sequence[Difference]) -> Graph:
    """The batch of graphs that differ so from one hard graph, with as many slots as they need and it has."""
    last = [max(change.touched, default=0) for change in differences]
    graph = graph.pad(max(graph.num_slots, max(last, default=0) + 1))
    B, V, A, E = (
        tensor.expand(len(differences), *tensor.shape[1:]).clone() for tensor in (graph.B, graph.V, graph.A, graph.E)
    )
    nodes = [(c, i, change.after) for c, one in enumerate(differences) for i, change in one.nodes.items()]
    edges = [(c, i, j, change.after) for c, one in enumerate(differences) for (i, j), change in one.edges.items()]
    if nodes:
        c, i = torch.tensor([where[:-1] for where in nodes]).T
        V[c, i], B[c, i] = _rows([label for *_, label in nodes], graph.schema.nodes, graph.V)
    if edges:
        c, i, j = torch.tensor([where[:-1] for where in edges]).T
        E[c, i, j], A[c, i, j] = _rows([label for *_, label in edges], graph.schema.edges, graph.E)
        if not graph.schema.directed:
            E[c, j, i], A[c, j, i] = E[c, i, j], A[c, i, j]
    return Graph.trusted(B, V, A, E, graph.schema)


def _rows(labels: list[Attributes | None], columns: tuple[Column, ...], like: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of V or E that labels stand for, and whether they stand for anything."""
    known = {label: _row(label, columns) for label in set(labels)}
    rows = like.new_tensor([known[label] for label in labels]).reshape(len(labels), like.shape[-1])
    return rows, like.new_tensor([float(label is not None) for label in labels])


def _row(label: Attributes | None, columns: tuple[Column, ...]) -> list[float]:
    if label is None:
        return [0.0] * sum(column.width for column in columns)
    row: list[float] = []
    for column, value in zip(columns, label, strict=True):
        one_hot = isinstance(column, Categories)
        row += [float(value == name) for name in column.values] if one_hot else [float(value)]
    return row
