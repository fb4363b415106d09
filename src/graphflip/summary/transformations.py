"""Transformation: a change read off the edits of one answer, in a form that can be made in any graph.

It is a rule of graph rewriting: a small pattern of nodes and edges before, and the same nodes and edges after. A node
that the pattern only leans on (the atom that a group hangs on) is the same on both sides.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod
from typing import Any, NamedTuple

from ..explain.moves.attributes import Attributes
from ..explain.moves.moves import Moves
from ..explain.moves.sketch import Pair, Sketch
from ..schema import Column

_MAX_NODES = 12
_MAX_ORDERS = 5040

Wildcards = tuple[str | float | None, ...]
"""Attributes in which None stands for any value (before), or for the value that is there (after)."""


class PatternNode(NamedTuple):
    """A node of a transformation.

    Args:
        before: Its attributes before the change; None if it is new.
        after: Its attributes after the change; None if it is removed.
        closed: True if it may have no neighbors but those of the pattern.
    """

    before: Wildcards | None
    after: Wildcards | None
    closed: bool = False


class PatternEdge(NamedTuple):
    """An edge between two nodes of a transformation, by their places in it; None where it does not exist."""

    i: int
    j: int
    before: Wildcards | None
    after: Wildcards | None


@dataclass(frozen=True)
class Transformation:
    """A change of a few nodes and edges; equal changes are equal values, in whatever graph they were seen.

    Args:
        nodes: Nodes before and after, in canonical order.
        edges: Edges between them.

    Example:
        >>> grow = Transformation((PatternNode(("C",), ("C",)), PatternNode(None, ("O",))),
        ...                       (PatternEdge(0, 1, None, ("single",)),))
        >>> grow.num_edits, Transformation.from_json(grow.to_json()) == grow
        (2, True)
    """

    nodes: tuple[PatternNode, ...]
    edges: tuple[PatternEdge, ...]

    @property
    def num_edits(self) -> int:
        """Number of nodes and edges that change, hydrogens not counted."""
        return sum(one.before != one.after for one in (*self.nodes, *self.edges))

    @property
    def key(self) -> str:
        """Short text that is equal for equal transformations, in every process."""
        return hashlib.blake2b(json.dumps(self.to_json()).encode(), digest_size=8).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Convert to a dict that can be written as JSON; `from_json` reads it back."""
        return {"nodes": [list(node) for node in self.nodes], "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Transformation":
        """Read what `to_json` wrote."""
        nodes = (PatternNode(_tuple(before), _tuple(after), closed) for before, after, closed in stored["nodes"])
        edges = (PatternEdge(i, j, _tuple(before), _tuple(after)) for i, j, before, after in stored["edges"])
        return cls(tuple(nodes), tuple(edges))


def transformations_between(before: Sketch, after: Sketch, moves: Moves) -> list[Transformation]:
    """Read the transformations off two aligned graphs: one for each place that changes, then all of them as one.

    Args:
        before: The graph that was explained.
        after: Its counterfactual; slot i is the same node in both.
        moves: Moves of the schema; hydrogens and charges that follow from other changes are not part of a pattern.

    Returns:
        Transformations without those of more than 12 nodes; none if nothing changes.
    """
    seen = _Change(before, after, moves)
    parts = seen.parts()
    whole = [sorted(set().union(*parts))] if len(parts) > 1 else []
    found = [seen.pattern(part) for part in (*parts, *whole)]
    return list(dict.fromkeys(one for one in found if one is not None))


class _Change:
    """Two aligned graphs without hydrogens that fill valences; nodes and edges that differ."""

    def __init__(self, before: Sketch, after: Sketch, moves: Moves):
        self.moves, self.schema = moves, moves.schema
        self.sides = before, after
        self.heavy = tuple(set(moves.heavy(side)) for side in self.sides)
        both = self.heavy[0] | self.heavy[1]
        self.nodes = {i for i in both if self._bare(0, i) != self._bare(1, i)}
        self.pairs = {pair for pair in self._pairs(0) | self._pairs(1) if self._edge(0, pair) != self._edge(1, pair)}
        self.core = self.nodes | {i for pair in self.pairs for i in pair}

    def parts(self) -> list[list[int]]:
        """Changed nodes and ends of changed edges, by connected places, each with the rest of its group."""
        links = {pair for side in (0, 1) for pair in self._pairs(side) if self.core.issuperset(pair)}
        groups: list[set[int]] = []
        for i in sorted(self.core):
            joined = [group for group in groups if any((i, j) in links or (j, i) in links for j in group)]
            groups = [group for group in groups if group not in joined] + [{i}.union(*joined)]
        return sorted(sorted(self._with_group(group)) for group in groups)

    def pattern(self, nodes: Sequence[int]) -> Transformation | None:
        """The transformation of some nodes; None if they are too many."""
        if len(nodes) > _MAX_NODES:
            return None
        number = {i: k for k, i in enumerate(nodes)}
        listed = [PatternNode(*self._sides(i), closed=self._is_closed(i, number)) for i in nodes]
        pairs = sorted(pair for pair in self._pairs(0) | self._pairs(1) if number.keys() >= set(pair))
        edges = [PatternEdge(number[i], number[j], self._edge(0, (i, j)), self._edge(1, (i, j))) for i, j in pairs]
        return canonical(listed, edges, self.schema.directed)

    def _with_group(self, group: set[int]) -> set[int]:
        """In molecules, the changed atoms of a side chain with its other atoms, and the atom that it hangs on.

        The oxygens belong to a nitro group whose nitrogen changes, and the carbon that it is on says where.
        """
        if self.schema.chemistry is None:
            return group
        near, whole = self.sides[0].near, set(group)
        for i in sorted(group & self.nodes & self.heavy[0]):
            whole |= {j for j in near[i] if j in self.heavy[0] and len(self._around(j)) == 1}
        outside = {j for i in group & self.nodes & self.heavy[0] for j in self._around(i)} - whole
        return whole | outside if len(outside) == 1 else whole

    def _around(self, i: int) -> set[int]:
        return {j for j in self.sides[0].around(i) if j in self.heavy[0]}

    def _is_closed(self, i: int, number: dict[int, int]) -> bool:
        """True for removed nodes, and in molecules for atoms of the pattern that have no neighbors outside of it."""
        if i not in self.heavy[0]:
            return False
        removed = i not in self.heavy[1]
        return removed or (self.schema.chemistry is not None and len(number) > 1 and self._around(i) <= number.keys())

    def _sides(self, i: int) -> tuple[Wildcards | None, Wildcards | None]:
        """Attributes of a node before and after; of one that only changes with others, those before."""
        was, now = (self.sides[k].nodes[i] if i in self.heavy[k] else None for k in (0, 1))
        if i not in self.nodes and was is not None:
            return masked(was, None, self.schema.nodes), masked(was, None, self.schema.nodes)
        new = None if now is None else self.moves.rules.bare(now)
        return (
            None if was is None else masked(was, None, self.schema.nodes),
            None if new is None else masked(new, was, self.schema.nodes),
        )

    def _edge(self, side: int, pair: Pair) -> Wildcards | None:
        i, j = pair
        if not {i, j} <= self.heavy[side] or j not in self.sides[side].near[i]:
            return None
        other = self.sides[1 - side].near.get(i, {}).get(j) if {i, j} <= self.heavy[1 - side] else None
        there = self.sides[side].near[i][j]
        return (
            masked(there, other if side else None, self.schema.edges)
            if side
            else masked(there, None, self.schema.edges)
        )

    def _bare(self, side: int, i: int) -> Attributes | None:
        return self.moves.rules.bare(self.sides[side].nodes[i]) if i in self.heavy[side] else None

    def _pairs(self, side: int) -> set[Pair]:
        heavy = self.heavy[side]
        return {(i, j) for i, j, _ in self.sides[side].edges() if i in heavy and j in heavy}


def masked(attributes: Attributes, was: Attributes | None, columns: Sequence[Column]) -> Wildcards:
    """Attributes with numbers coarse enough to be common to many graphs.

    Without `was` they are those before a change, where numbers may be any. With it, a number that stays is left as it
    is; one that changes, or is new, is rounded to half of its column's scale.
    """
    values = []
    for at, (column, value) in enumerate(zip(columns, attributes, strict=True)):
        if not column.is_continuous:
            values.append(value)
        elif was is None or was[at] == value:
            values.append(None)
        else:
            values.append(
                round(column.mean + round((float(value) - column.mean) / column.scale * 2) / 2 * column.scale, 6)
            )
    return tuple(values)


def canonical(nodes: Sequence[PatternNode], edges: Iterable[PatternEdge], directed: bool = False) -> Transformation:
    """The transformation with its nodes in an order that does not depend on the one given."""
    near: dict[int, list[tuple[str, int]]] = {i: [] for i in range(len(nodes))}
    edges = list(edges)
    for i, j, *sides in edges:
        near[i].append((repr(("out" if directed else "", *sides)), j))
        near[j].append((repr(("in" if directed else "", *sides)), i))
    colors = [_hash(repr(node)) for node in nodes]
    for _ in nodes:
        colors = [_hash(repr((colors[i], sorted((edge, colors[j]) for edge, j in near[i])))) for i in near]
    classes = [[i for i in near if colors[i] == color] for color in sorted(set(colors))]
    if prod(factorial(len(members)) for members in classes) > _MAX_ORDERS:
        orders: Iterable = [classes]
    else:
        orders = product(*(permutations(members) for members in classes))
    forms = []
    for order in orders:
        flat = [i for members in order for i in members]
        number = {i: k for k, i in enumerate(flat)}
        renamed = [PatternEdge(number[i], number[j], *sides) for i, j, *sides in edges]
        if not directed:
            renamed = [edge if edge.i < edge.j else edge._replace(i=edge.j, j=edge.i) for edge in renamed]
        forms.append(Transformation(tuple(nodes[i] for i in flat), tuple(sorted(renamed, key=repr))))
    return min(forms, key=lambda form: repr(form.edges))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _tuple(values: Sequence[str | float | None] | None) -> Wildcards | None:
    return None if values is None else tuple(values)
