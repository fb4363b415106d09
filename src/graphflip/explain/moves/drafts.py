"""Drafts: what single moves make of a sketch, before hydrogens are filled in and new nodes have slots."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from ...schema import Schema
from .atoms.choice import rules_of
from .atoms.rules import AbstractRules
from .attributes import Attributes, fresh_attributes, other_attributes
from .connectivity import bridges
from .fragments import Fragment, groups
from .sketch import Bond, Sketch

MoveKind = Literal[
    "change node", "change edge", "remove edge", "add edge", "add group", "remove group", "replace group", "remove part"
]
"""Kinds of move."""


class Draft(NamedTuple):
    """A sketch that a move leads to.

    Args:
        kind: Kind of the move.
        sketch: The graph after the move; new nodes have negative numbers, hydrogens are not filled in.
        changed: Heavy nodes that the move changed, added or removed.
    """

    kind: MoveKind
    sketch: Sketch
    changed: set[int]


@dataclass(frozen=True)
class Drafts:
    """Lists the drafts of all moves of a sketch.

    Args:
        schema: Schema of the graphs.
        max_nodes: Heavy nodes of the largest group that a move removes or replaces.
        bonds: Attributes of two neighbors and of the edge between them that moves may create; None allows all.
    """

    schema: Schema
    max_nodes: int = 1
    bonds: frozenset[Bond] | None = None

    def of(self, state: Sketch, fragments: list[Fragment], branches: bool = False) -> Iterator[Draft]:
        """Yield the drafts of a sketch; `fragments` are the groups to add, with `branches` any branch is removed."""
        heavy = self.rules.heavy(state)
        room = {i: self.rules.room(state, i) for i in heavy}
        yield from self._change_nodes(state, heavy, room)
        yield from self._change_edges(state, heavy, room)
        yield from self._add_edges(state, heavy, room)
        if self.schema.directed:
            yield from self._change_directed_leaves(state, fragments)
            return
        yield from self._add_groups(state, heavy, room, fragments)
        yield from self._change_groups(state, heavy, room, fragments, branches)

    @cached_property
    def rules(self) -> AbstractRules:
        """Rules of the schema for nodes and edges."""
        return rules_of(self.schema)

    def strip_hydrogens(self, draft: Sketch, i: int, keep: Container[int] = ()) -> None:
        """Remove the hydrogens that fill a node's valence, in place, but for those to keep."""
        for j in list(draft.near[i]):
            if j not in keep and self.rules.is_hydrogen(draft, j):
                draft.remove(j)

    def _change_nodes(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Draft]:
        inside = set(heavy)
        for i in heavy:
            near = [(edge, state.nodes[j]) for j, edge in state.near[i].items() if j in inside]
            for attributes in self.rules.alternatives(state, i, room[i]):
                if all(self._joins(attributes, edge, neighbor) for edge, neighbor in near):
                    draft = state.copy()
                    draft.set_node(i, attributes)
                    yield Draft("change node", draft, {i})

    def _joins(self, node: Attributes, edge: Attributes, neighbor: Attributes) -> bool:
        """True if two nodes may be neighbors on such an edge."""
        return self.bonds is None or self._known[node, edge, neighbor]

    @cached_property
    def _known(self) -> "_KnownBonds":
        return _KnownBonds(self.bonds or frozenset(), self.rules)

    def _change_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Draft]:
        inside, held = set(heavy), bridges(state)
        for i, j, attributes in state.edges():
            if not {i, j} <= inside:
                continue
            for other in other_attributes(attributes, self.schema.edges):
                fits = self._joins(state.nodes[i], other, state.nodes[j])
                if fits and self.rules.order(other) - self.rules.order(attributes) <= min(room[i], room[j]):
                    yield Draft("change edge", _joined(state, i, j, other), {i, j})
            if (state.directed and i in state.near[j]) or (i, j) not in held:
                draft = state.copy()
                draft.cut(i, j)
                yield Draft("remove edge", draft, {i, j})

    def _add_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Draft]:
        choices = fresh_attributes(self.schema.edges, (attributes for *_, attributes in state.edges()))
        for i, others in self.rules.partners(state, heavy).items():
            for j in others:
                if j in state.near[i] or i == j or (i > j and not state.directed):
                    continue
                for attributes in choices:
                    fits = self._joins(state.nodes[i], attributes, state.nodes[j])
                    if fits and self.rules.order(attributes) <= min(room[i], room[j]):
                        yield Draft("add edge", _joined(state, i, j, attributes), {i, j})

    def _add_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment]
    ) -> Iterator[Draft]:
        for i in heavy:
            for fragment in fragments:
                if self._can_hang(state, i, fragment, room[i]):
                    draft = state.copy()
                    yield Draft("add group", draft, {i, *_hang(draft, i, fragment)})

    def _change_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment], branches: bool
    ) -> Iterator[Draft]:
        for anchor, root, members in groups(state, heavy, len(heavy) if branches else self.max_nodes):
            bare = self._without(state, members)
            yield Draft("remove group", bare, {anchor, *members})
            if len(members) > self.max_nodes:
                continue
            link = state.near[anchor][root]
            free = room[anchor] + self.rules.order(link)
            for fragment in fragments:
                if len(members) == len(fragment.nodes) == 1 and fragment.link == link:
                    continue  # the same as other attributes for the node
                if self._can_hang(state, anchor, fragment, free):
                    draft = bare.branch()
                    yield Draft("replace group", draft, {anchor, *members, *_hang(draft, anchor, fragment)})
        for part in self._small_parts(state, heavy):
            yield Draft("remove part", self._without(state, part), part)

    def _can_hang(self, state: Sketch, anchor: int, fragment: Fragment, room: int) -> bool:
        """True if a node has room for the link of a group and may be a neighbor of the group's root."""
        fits = self._joins(state.nodes[anchor], fragment.link, fragment.nodes[0])
        return fits and self.rules.order(fragment.link) <= room

    def _small_parts(self, state: Sketch, heavy: list[int]) -> list[set[int]]:
        """Connected components that a move may remove; none if the graph is connected."""
        parts = [part & set(heavy) for part in state.parts()]
        return [part for part in parts if len(parts) > 1 and 0 < len(part) <= self.max_nodes]

    def _change_directed_leaves(self, state: Sketch, fragments: list[Fragment]) -> Iterator[Draft]:
        for i in state.nodes:
            if len(state.around(i)) <= 1 and (state.around(i) or len(state.nodes) > 1):
                yield Draft("remove group", self._without(state, {i}), {i})
            for fragment in fragments:
                for outwards in (True, False):
                    draft = state.copy()
                    new = draft.add(fragment.nodes[0])
                    draft.join(*((i, new) if outwards else (new, i)), fragment.link)
                    yield Draft("add group", draft, {i, new})

    def _without(self, state: Sketch, members: set[int]) -> Sketch:
        draft = state.copy()
        for i in members:
            self.strip_hydrogens(draft, i)
            draft.remove(i)
        return draft


class _KnownBonds(dict[Bond, bool]):
    """True for two nodes and an edge that may be neighbors; charges, which follow from bonds, are left aside."""

    def __init__(self, bonds: frozenset[Bond], rules: AbstractRules):
        super().__init__()
        self.bare = rules.bare
        self.bonds = {(self.bare(node), edge, self.bare(neighbor)) for node, edge, neighbor in bonds}

    def __missing__(self, bond: Bond) -> bool:
        node, edge, neighbor = self.bare(bond[0]), bond[1], self.bare(bond[2])
        known = self[bond] = (node, edge, neighbor) in self.bonds or (neighbor, edge, node) in self.bonds
        return known


def _joined(state: Sketch, i: int, j: int, attributes: Attributes) -> Sketch:
    draft = state.copy()
    draft.join(i, j, attributes)
    return draft


def _hang(draft: Sketch, anchor: int, fragment: Fragment) -> list[int]:
    """Join a new group to a node, in place, and return the group's nodes."""
    new = [draft.add(attributes) for attributes in fragment.nodes]
    for i, j, attributes in fragment.edges:
        draft.join(new[i], new[j], attributes)
    draft.join(anchor, new[0], fragment.link)
    return new
