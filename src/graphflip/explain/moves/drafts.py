"""Drafts: single moves of a sketch, and what each makes of it before hydrogens are filled in and nodes have slots."""

from collections.abc import Callable, Container, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

from ...schema import Schema
from .atoms.bonds import KnownBonds
from .atoms.choice import rules_of
from .atoms.rules import AbstractMoleculeRules, AbstractRules
from .attributes import Attributes, fresh_attributes, other_attributes
from .connectivity import bridges
from .fragments import Fragment, groups
from .rings.drafts import RingDrafts, RingMove
from .sketch import Bond, Pair, Sketch

MoveKind = (
    Literal[
        "change node", "change edge", "remove edge", "add edge", "add group", "remove group", "replace group",
        "remove part",
    ]
    | RingMove
)  # fmt: skip
"""Kinds of move; those of whole rings are for molecules."""


Built = tuple[Sketch, set[int]]
"""A sketch after a move, and the heavy nodes that the move changed, added or removed."""


class Draft(NamedTuple):
    """A move of a sketch that has not been made yet.

    Args:
        kind: Kind of the move.
        place: Nodes that the move acts on; of a group, the node that it is attached to, then its root.
        brings: Attributes or group that come there; None if something only goes.
        takes: Attributes of what is changed or goes there; None if something only comes.
        build: Makes the move: new nodes have negative numbers, hydrogens are not filled in.
    """

    kind: MoveKind
    place: tuple[int, ...]
    brings: Hashable
    takes: Hashable
    build: Callable[[], Built]


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

    def of(self, state: Sketch, fragments: list[Fragment], branches: float = 0.0) -> Iterator[Draft]:
        """Yield the drafts of a sketch.

        `fragments` are the groups to add; `branches` is the share of the heavy nodes that a branch may have which goes.
        """
        heavy = self.rules.heavy(state)
        room = {i: self._room(state, i) for i in heavy}
        yield from self._change_nodes(state, heavy, room)
        yield from self._change_edges(state, heavy, room)
        yield from self._add_edges(state, heavy, room)
        yield from self._change_rings(state)
        if self.schema.directed:
            yield from self._change_directed_leaves(state, fragments)
            return
        yield from self._add_groups(state, heavy, room, fragments)
        yield from self._change_groups(state, heavy, room, fragments, branches)

    @cached_property
    def rules(self) -> AbstractRules:
        """Rules of the schema for nodes and edges."""
        return rules_of(self.schema)

    def _change_rings(self, state: Sketch) -> Iterator[Draft]:
        if self._rings is not None:
            for kind, draft, changed in self._rings.of(state):
                place = tuple(sorted(i for i in changed if i >= 0))
                gone = tuple(sorted(state.nodes[i] for i in place if i not in draft.nodes))
                come = tuple(sorted(draft.nodes[i] for i in changed if i < 0))
                yield Draft(kind, place, come, gone, partial(_as_built, draft, changed))

    @cached_property
    def _rings(self) -> RingDrafts | None:
        """Changes of whole rings, in molecules."""
        return RingDrafts(self.schema, self.rules) if isinstance(self.rules, AbstractMoleculeRules) else None

    def _aromatic(self, state: Sketch) -> frozenset[Pair]:
        """Bonds that only change together with their ring."""
        return frozenset() if self._rings is None else self._rings.fixed_bonds(state)

    def _room(self, state: Sketch, i: int) -> int:
        """Sum of the orders of further edges that a node may get, such that aromatic rings stay aromatic."""
        room = self.rules.room(state, i)
        return room if self._rings is None else min(room, self._rings.room(state, i))

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
                    yield Draft(
                        "change node", (i,), attributes, state.nodes[i], partial(with_node, state, i, attributes)
                    )

    def _joins(self, node: Attributes, edge: Attributes, neighbor: Attributes) -> bool:
        """True if two nodes may be neighbors on such an edge."""
        return self.bonds is None or self._known[node, edge, neighbor]

    @cached_property
    def _known(self) -> KnownBonds:
        return KnownBonds(self.bonds or frozenset(), self.rules)

    def _change_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Draft]:
        inside, held, aromatic = set(heavy), bridges(state), self._aromatic(state)
        for i, j, attributes in state.edges():
            if not {i, j} <= inside or (i, j) in aromatic:
                continue
            for other in other_attributes(attributes, self.schema.edges):
                fits = self._joins(state.nodes[i], other, state.nodes[j])
                if fits and self.rules.order(other) - self.rules.order(attributes) <= min(room[i], room[j]):
                    yield Draft("change edge", (i, j), other, attributes, partial(joined, state, i, j, other))
            if self._can_cut(state, i, j, held):
                yield Draft("remove edge", (i, j), None, attributes, partial(cut, state, i, j))

    def _can_cut(self, state: Sketch, i: int, j: int, held: set[Pair]) -> bool:
        """True if the graph stays connected without an edge; in molecules, if it also is part of a ring of three."""
        if self._rings is not None:
            return any({i, j} <= set(ring) for ring in self._rings.rings(state).all if len(ring) == 3)
        return (state.directed and i in state.near[j]) or (i, j) not in held

    def _add_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Draft]:
        choices = fresh_attributes(self.schema.edges, (attributes for *_, attributes in state.edges()))
        for i, others in self.rules.partners(state, heavy).items():
            for j in others:
                if j in state.near[i] or i == j or (i > j and not state.directed):
                    continue
                for attributes in choices:
                    fits = self._joins(state.nodes[i], attributes, state.nodes[j])
                    if fits and self.rules.order(attributes) <= min(room[i], room[j]):
                        yield Draft("add edge", (i, j), attributes, None, partial(joined, state, i, j, attributes))

    def _add_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment]
    ) -> Iterator[Draft]:
        for i in heavy:
            for fragment in fragments:
                if self._can_hang(state, i, fragment, room[i]):
                    yield Draft("add group", (i,), fragment, None, partial(with_group, state, i, fragment))

    def _change_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment], branches: float
    ) -> Iterator[Draft]:
        for anchor, root, members in groups(state, heavy, max(self.max_nodes, int(branches * len(heavy)))):
            place, link = (anchor, root), state.near[anchor][root]
            gone = (link, tuple(sorted(state.nodes[i] for i in members)))
            bare = Once(partial(self._without, state, members))
            fixed = place in self._aromatic(state)
            if not fixed:
                yield Draft("remove group", place, None, gone, partial(copy_of, bare, {anchor, *members}))
            if len(members) > self.max_nodes:
                continue
            free = room[anchor] + self.rules.order(link)
            for fragment in fragments:
                if len(members) == len(fragment.nodes) == 1 and fragment.link == link:
                    continue  # the same as other attributes for the node
                if fixed and fragment.link != link:
                    continue
                if self._can_hang(state, anchor, fragment, free):
                    build = partial(with_other_group, bare, anchor, members, fragment)
                    yield Draft("replace group", place, fragment, gone, build)
        for part in self._small_parts(state, heavy):
            build = partial(copy_of, Once(partial(self._without, state, part)), part)
            gone = tuple(sorted(state.nodes[i] for i in part))
            yield Draft("remove part", tuple(sorted(part)), None, gone, build)

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
                bare = Once(partial(self._without, state, {i}))
                yield Draft("remove group", (i,), None, state.nodes[i], partial(copy_of, bare, {i}))
            for fragment in fragments:
                for outwards in (True, False):
                    build = partial(with_leaf, state, i, fragment, outwards)
                    yield Draft("add group", (i,), (fragment, outwards), None, build)

    def _without(self, state: Sketch, members: set[int]) -> Sketch:
        draft = state.copy()
        for i in members:
            self.strip_hydrogens(draft, i)
            draft.remove(i)
        return draft


class Once:
    """A sketch that is made when it is first needed; others are branched off it."""

    def __init__(self, make: Callable[[], Sketch]):
        self.make, self.sketch = make, None

    def branch(self) -> Sketch:
        if self.sketch is None:
            self.sketch = self.make()
        return self.sketch.branch()


def _as_built(draft: Sketch, changed: set[int]) -> Built:
    return draft, changed


def copy_of(bare: Once, changed: set[int]) -> Built:
    """Take a sketch that several drafts share as it is."""
    return bare.branch(), changed


def with_node(state: Sketch, i: int, attributes: Attributes) -> Built:
    """Give a node other attributes."""
    draft = state.copy()
    draft.set_node(i, attributes)
    return draft, {i}


def joined(state: Sketch, i: int, j: int, attributes: Attributes) -> Built:
    """Add an edge, or give one other attributes."""
    draft = state.copy()
    draft.join(i, j, attributes)
    return draft, {i, j}


def cut(state: Sketch, i: int, j: int) -> Built:
    """Remove an edge."""
    draft = state.copy()
    draft.cut(i, j)
    return draft, {i, j}


def with_group(state: Sketch, i: int, fragment: Fragment) -> Built:
    """Hang a group on a node."""
    draft = state.copy()
    return draft, {i, *_hang(draft, i, fragment)}


def with_other_group(bare: Once, anchor: int, members: set[int], fragment: Fragment) -> Built:
    """Hang a group on a node from which another was removed."""
    draft = bare.branch()
    return draft, {anchor, *members, *_hang(draft, anchor, fragment)}


def with_leaf(state: Sketch, i: int, fragment: Fragment, outwards: bool) -> Built:
    """Add a node by a directed edge, from the node i or to it."""
    draft = state.copy()
    new = draft.add(fragment.nodes[0])
    draft.join(*((i, new) if outwards else (new, i)), fragment.link)
    return draft, {i, new}


def _hang(draft: Sketch, anchor: int, fragment: Fragment) -> list[int]:
    """Join a new group to a node, in place, and return the group's nodes."""
    new = [draft.add(attributes) for attributes in fragment.nodes]
    for i, j, attributes in fragment.edges:
        draft.join(new[i], new[j], attributes)
    draft.join(anchor, new[0], fragment.link)
    return new
