"""Drafts: lists the moves of a sketch, before they are made."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from ...schema import Schema
from .atoms.bonds import KnownBonds
from .atoms.choice import rules_of
from .atoms.lookups import Lookups
from .atoms.rules import AbstractMoleculeRules, AbstractRules
from .attributes import Attributes, fresh_attributes, other_attributes
from .connectivity import bridges
from .draft import (
    NOTHING,
    Family,
    Once,
    Variants,
    copy_of,
    cut,
    joined,
    with_group,
    with_leaf,
    with_node,
    with_other_group,
    with_rings,
)
from .fragments import Fragment, groups
from .rings.drafts import RingDrafts
from .sketch import Bond, Pair, Sketch


class Vocabulary:
    """Groups that moves may add; those that fit at a node are looked up once for all nodes like it.

    Args:
        fragments: The groups.
    """

    def __init__(self, fragments: list[Fragment]):
        self.fragments = fragments
        self.fitting: dict[tuple[Attributes, int, Attributes | None, Attributes | None], Variants] = {}
        self._variants: dict[Variants, Variants] = {}

    def variants(self, groups: list[Fragment]) -> Variants:
        """Groups as the variants of a family: one object for the same groups, so that keys are compared quickly."""
        new = Variants(tuple(groups))
        return self._variants.setdefault(new, new)


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

    def of(self, state: Sketch, known: Vocabulary, branches: float = 0.0) -> Iterator[Family]:
        """Yield the moves of a sketch.

        `known` are the groups to add; `branches` is the share of the heavy nodes that a branch may have which goes.
        """
        heavy = self.rules.heavy(state)
        room = self._rooms(state, heavy)
        yield from self._change_nodes(state, heavy, room)
        yield from self._change_edges(state, heavy, room)
        yield from self._add_edges(state, heavy, room)
        yield from self._change_rings(state)
        if self.schema.directed:
            yield from self._change_directed_leaves(state, known)
            return
        yield from self._add_groups(state, heavy, room, known)
        yield from self._change_groups(state, heavy, room, known, branches)

    @cached_property
    def rules(self) -> AbstractRules:
        """Rules of the schema for nodes and edges."""
        return rules_of(self.schema)

    def _change_rings(self, state: Sketch) -> Iterator[Family]:
        if self._rings is not None:
            for kind, place, gone, come, make in self._rings.of(state):
                takes = tuple(sorted(state.nodes[i] for i in gone))
                brings = Variants((tuple(sorted(map(self._rings.changes.atom, come))),))
                yield Family(kind, tuple(sorted(place)), brings, takes, partial(with_rings, make), gone)

    @cached_property
    def _rings(self) -> RingDrafts | None:
        """Changes of whole rings, in molecules."""
        return RingDrafts(self.schema, self.rules) if isinstance(self.rules, AbstractMoleculeRules) else None

    def _aromatic(self, state: Sketch) -> frozenset[Pair]:
        """Bonds that only change together with their ring."""
        return frozenset() if self._rings is None else self._rings.fixed_bonds(state)

    def _rooms(self, state: Sketch, heavy: list[int]) -> dict[int, int]:
        """For each node, the sum of the orders of further edges that it may get such that rings stay aromatic."""
        room = {i: self.rules.room(state, i) for i in heavy}
        if self._rings is not None:
            for i in self._rings.rings(state).aromatic_atoms:
                room[i] = min(room[i], self._rings.room(state, i))
        return room

    def strip_hydrogens(self, draft: Sketch, i: int, keep: Container[int] = ()) -> None:
        """Remove the hydrogens that fill a node's valence, in place, but for those to keep."""
        for j in list(draft.near[i]):
            if j not in keep and self.rules.is_hydrogen(draft, j):
                draft.remove(j)

    def _change_nodes(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Family]:
        inside = set(heavy)
        for i in heavy:
            near = frozenset((edge, state.nodes[j]) for j, edge in state.near[i].items() if j in inside)
            fit = self._fitting_nodes[tuple(self.rules.alternatives(state, i, room[i])), near]
            if fit:
                yield Family("change node", (i,), fit, state.nodes[i], partial(with_node, state, i))

    @cached_property
    def _fitting_nodes(self) -> Lookups[Variants]:
        return Lookups(self._nodes_that_fit)

    def _nodes_that_fit(
        self, others: tuple[Attributes, ...], near: frozenset[tuple[Attributes, Attributes]]
    ) -> Variants:
        """Those of the attributes that may stand beside all neighbors on their edges."""
        joins = (all(self._joins(node, edge, neighbor) for edge, neighbor in near) for node in others)
        return Variants(tuple(node for node, joined in zip(others, joins, strict=True) if joined))

    def _joins(self, node: Attributes, edge: Attributes, neighbor: Attributes) -> bool:
        """True if two nodes may be neighbors on such an edge."""
        return self.bonds is None or self._known[node, edge, neighbor]

    @cached_property
    def _known(self) -> KnownBonds:
        return KnownBonds(self.bonds or frozenset(), self.rules)

    def _change_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Family]:
        inside, held, aromatic = set(heavy), bridges(state), self._aromatic(state)
        for i, j, attributes in state.edges():
            if not {i, j} <= inside or (i, j) in aromatic:
                continue
            more = min(room[i], room[j]) + self.rules.order(attributes)
            fit = self._fitting_edges[state.nodes[i], state.nodes[j], attributes, None, more]
            if fit:
                yield Family("change edge", (i, j), fit, attributes, partial(joined, state, i, j))
            if self._can_cut(state, i, j, held):
                yield Family("remove edge", (i, j), NOTHING, attributes, partial(cut, state, i, j))

    @cached_property
    def _fitting_edges(self) -> Lookups[Variants]:
        return Lookups(self._edges_that_fit)

    def _edges_that_fit(
        self,
        node: Attributes,
        neighbor: Attributes,
        instead_of: Attributes | None,
        choices: tuple[Attributes, ...] | None,
        room: int,
    ) -> Variants:
        """Those of the choices, or of the edges other than one, that may join two nodes with room for such an order."""
        edges = choices or (() if instead_of is None else other_attributes(instead_of, self.schema.edges))
        able = (edge for edge in edges if self.rules.order(edge) <= room)
        return Variants(tuple(edge for edge in able if self._joins(node, edge, neighbor)))

    def _can_cut(self, state: Sketch, i: int, j: int, held: set[Pair]) -> bool:
        """True if the graph stays connected without an edge; in molecules, if it also is part of a ring of three."""
        if self._rings is not None:
            return any({i, j} <= set(ring) for ring in self._rings.rings(state).all if len(ring) == 3)
        return (state.directed and i in state.near[j]) or (i, j) not in held

    def _add_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[Family]:
        choices = tuple(fresh_attributes(self.schema.edges, (attributes for *_, attributes in state.edges())))
        for i, others in self.rules.partners(state, heavy).items():
            for j in others:
                if j in state.near[i] or i == j or (i > j and not state.directed):
                    continue
                fit = self._fitting_edges[state.nodes[i], state.nodes[j], None, choices, min(room[i], room[j])]
                if fit:
                    yield Family("add edge", (i, j), fit, None, partial(joined, state, i, j))

    def _add_groups(self, state: Sketch, heavy: list[int], room: dict[int, int], known: Vocabulary) -> Iterator[Family]:
        for i in heavy:
            fit = self._fitting_groups(known, state.nodes[i], room[i])
            if fit:
                yield Family("add group", (i,), fit, None, partial(with_group, state, i))

    def _change_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], known: Vocabulary, branches: float
    ) -> Iterator[Family]:
        for anchor, root, members in groups(state, heavy, max(self.max_nodes, int(branches * len(heavy)))):
            place, link = (anchor, root), state.near[anchor][root]
            gone = (link, tuple(sorted(state.nodes[i] for i in members)))
            bare = Once(partial(self._without, state, members))
            fixed = place in self._aromatic(state)
            if not fixed:
                build = partial(copy_of, bare, {anchor, *members})
                yield Family("remove group", place, NOTHING, gone, build, members)
            if len(members) > self.max_nodes:
                continue
            # Another single node on the same link is the same as other attributes for the node.
            single, only = link if len(members) == 1 else None, link if fixed else None
            free = room[anchor] + self.rules.order(link)
            fit = self._fitting_groups(known, state.nodes[anchor], free, single, only)
            if fit:
                build = partial(with_other_group, bare, anchor, members)
                yield Family("replace group", place, fit, gone, build, members)
        for part in self._small_parts(state, heavy):
            build = partial(copy_of, Once(partial(self._without, state, part)), part)
            gone = tuple(sorted(state.nodes[i] for i in part))
            yield Family("remove part", tuple(sorted(part)), NOTHING, gone, build, part)

    def _fitting_groups(
        self,
        known: Vocabulary,
        anchor: Attributes,
        room: int,
        single: Attributes | None = None,
        only: Attributes | None = None,
    ) -> Variants:
        """Groups that may hang on a node with room for links of such an order.

        Without single nodes on the link `single`, if there is one; on the link `only`, if there is one.
        """
        key = anchor, room, single, only
        if key not in known.fitting:
            fit = [
                group
                for group in known.fragments
                if not (len(group.nodes) == 1 and group.link == single)
                and only in (None, group.link)
                and self.rules.order(group.link) <= room
                and self._joins(anchor, group.link, group.nodes[0])
            ]
            known.fitting[key] = known.variants(fit)
        return known.fitting[key]

    def _small_parts(self, state: Sketch, heavy: list[int]) -> list[set[int]]:
        """Connected components that a move may remove; none if the graph is connected."""
        parts = [part & set(heavy) for part in state.parts()]
        return [part for part in parts if len(parts) > 1 and 0 < len(part) <= self.max_nodes]

    def _change_directed_leaves(self, state: Sketch, known: Vocabulary) -> Iterator[Family]:
        for i in state.nodes:
            if len(state.around(i)) <= 1 and (state.around(i) or len(state.nodes) > 1):
                bare = Once(partial(self._without, state, {i}))
                yield Family("remove group", (i,), NOTHING, state.nodes[i], partial(copy_of, bare, {i}), {i})
            leaves = Variants(tuple((group, outwards) for group in known.fragments for outwards in (True, False)))
            yield Family("add group", (i,), leaves, None, partial(with_leaf, state, i))

    def _without(self, state: Sketch, members: set[int]) -> Sketch:
        draft = state.copy()
        for i in members:
            if i in draft.nodes:  # a member that counts as a hydrogen of another one has gone with it
                self.strip_hydrogens(draft, i)
                draft.remove(i)
        return draft
