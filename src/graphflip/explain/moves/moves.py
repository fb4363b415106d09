"""Moves: every valid single step away from a hard graph, as a chemist or the schema would have it."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...edits import Edit
from ...errors import SchemaError
from ...graph import Graph
from ...jsongraph import single_hard
from ...schema import Schema
from .alignment import align
from .attributes import Attributes, fresh_labels, has_many_labels, other_labels
from .connectivity import bridges, partners
from .difference import Difference
from .fragments import Fragment, FragmentVocabulary, groups
from .sketch import Bond, Sketch
from .valence import Valence


@dataclass(frozen=True)
class Move:
    """What is done in words ("change node"), what comes out, and the edits that lead there."""

    kind: str
    after: Sketch
    edits: list[Edit]


Step = tuple[str, Sketch]
"""A kind of move and what it leads to."""

_Draft = tuple[str, Sketch, set[int]]
"""A kind of move, the sketch after it (hydrogens not yet settled), and the heavy nodes it changed or removed."""


@dataclass(frozen=True)
class Moves:
    """The moves of a schema's graphs: another label for a node or an edge; an edge more, in graphs of more than
    41 nodes between nodes that are near each other; an edge less, if in a ring; a group that hangs on one edge removed,
    added or replaced by one of the vocabulary.

    A move never splits a graph. In molecules every atom that it reaches has its valence filled afterwards, by adding or
    removing hydrogens where they are nodes, and the sum of charges does not move away from zero. With `bonds`, no move
    joins two nodes in a way that is not among them, hydrogens aside.
    """

    schema: Schema
    vocabulary: FragmentVocabulary = field(default_factory=FragmentVocabulary)
    bonds: frozenset[Bond] | None = None

    def __post_init__(self) -> None:
        if self.schema.directed and self.vocabulary.max_nodes > 1:
            raise SchemaError("Groups are for undirected graphs; this schema is directed. Leave the vocabulary out.")

    def valid(self, graph: Graph) -> list[Move]:
        """The moves of one hard graph, each once."""
        before = Sketch.of(single_hard(graph))
        found: dict[tuple[Edit, ...], Move] = {}
        for kind, after in self.steps(before, before):
            edits = Difference.between(before, after).edits(self.schema)
            if edits:
                found.setdefault(tuple(edits), Move(kind, after, edits))
        return list(found.values())

    def steps(
        self,
        state: Sketch,
        factual: Sketch,
        admits: Callable[[Sketch, Sketch], bool] = lambda before, after: True,
        largest: int | None = None,
        branches: bool = False,
    ) -> Iterator[Step]:
        """Every move of a state that is admitted; new nodes take slots so that few edits lead there from the factual.

        Two ways to the same graph are two steps, and a group replaced by its like is a step that changes nothing.
        `admits` sees the state and what came of it, where new nodes still have numbers below zero. `largest` is the
        number of nodes of the largest group to add, hydrogens not counted; with `branches`, whatever hangs on one edge
        may be removed, however large.
        """
        fragments = [one for one in self._fragments(factual) if largest is None or len(one.nodes) <= largest]
        for kind, draft, changed in self._drafts(state, fragments, branches):
            after = self.settled(state, draft, changed, factual, admits)
            if after is not None:
                yield kind, after

    def settled(
        self,
        before: Sketch,
        draft: Sketch,
        changed: set[int],
        factual: Sketch,
        admits: Callable[[Sketch, Sketch], bool] = lambda before, after: True,
    ) -> Sketch | None:
        """The draft with hydrogens filled in and slots for new nodes; None if it is not valid or not admitted."""
        if not draft.nodes or (self._valence is not None and not self._valence.settle(before, draft, changed)):
            return None
        return align(factual, draft, self.schema.max_nodes) if admits(before, draft) else None

    def has_larger(self, largest: int) -> bool:
        """Whether there are groups of more nodes to add."""
        return any(len(one.nodes) > largest for one in self.vocabulary.fragments)

    def heavy(self, sketch: Sketch) -> list[int]:
        """Nodes that moves are about: all, or all but hydrogens that fill valences."""
        return list(sketch.nodes) if self._valence is None else self._valence.heavy(sketch)

    def strip_hydrogens(self, draft: Sketch, i: int, keep: Container[int] = ()) -> None:
        """Take away the hydrogens that fill a node's valence, in place."""
        for j in list(draft.near[i]):
            if j not in keep and self._fills(draft, j):
                draft.remove(j)

    @cached_property
    def _valence(self) -> Valence | None:
        return None if self.schema.chemistry is None else Valence(self.schema, self.schema.chemistry)

    def _fragments(self, factual: Sketch) -> list[Fragment]:
        """The groups that may be added."""
        many = has_many_labels(self.schema.nodes) or has_many_labels(self.schema.edges)
        return self._with_single_nodes(factual) if many else self._usual_fragments

    @cached_property
    def _usual_fragments(self) -> list[Fragment]:
        return self._with_single_nodes(Sketch({}, {}))

    def _with_single_nodes(self, like: Sketch) -> list[Fragment]:
        single = FragmentVocabulary.of_single_nodes(self.schema, like).fragments
        known = {(one.nodes, one.edges, one.link): one for one in (*self.vocabulary.fragments, *single)}
        return list(known.values())

    def _drafts(self, state: Sketch, fragments: list[Fragment], branches: bool) -> Iterator[_Draft]:
        heavy = self.heavy(state)
        room = {i: self._room(state, i) for i in heavy}
        yield from self._relabel_nodes(state, heavy, room)
        yield from self._relabel_edges(state, heavy, room)
        yield from self._add_edges(state, heavy, room)
        if self.schema.directed:
            yield from self._change_directed_leaves(state, fragments)
            return
        yield from self._add_groups(state, heavy, room, fragments)
        yield from self._change_groups(state, heavy, room, fragments, branches)

    def _room(self, state: Sketch, i: int) -> int:
        return 99 if self._valence is None else self._valence.room(state, i)

    def _order(self, label: Attributes) -> int:
        return 1 if self._valence is None else self._valence.order(label)

    def _relabel_nodes(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[_Draft]:
        inside = set(heavy)
        for i in heavy:
            for label in other_labels(state.nodes[i], self.schema.nodes):
                fits = all(self._joins(label, edge, state.nodes[j]) for j, edge in state.near[i].items() if j in inside)
                if fits and self._can_be(label, state.nodes[i], room[i]):
                    draft = state.copy()
                    draft.set_node(i, label)
                    yield "change node", draft, {i}

    def _can_be(self, label: Attributes, was: Attributes, room: int) -> bool:
        """Whether an atom of this label has room for its bonds, and is no hydrogen."""
        if self._valence is None:
            return True
        element, old = self._valence.symbol(label), self._valence.symbol(was)
        limit = self._valence.chemistry.max_valence
        return element != "H" and room + limit(element) - limit(old) >= 0

    def _joins(self, one: Attributes, edge: Attributes, other: Attributes) -> bool:
        """Whether two nodes may be neighbors."""
        return self.bonds is None or (one, edge, other) in self.bonds or (other, edge, one) in self.bonds

    def _relabel_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[_Draft]:
        inside, held = set(heavy), bridges(state)
        for i, j, label in state.edges():
            if not {i, j} <= inside:
                continue
            for other in other_labels(label, self.schema.edges):
                fits = self._joins(state.nodes[i], other, state.nodes[j])
                if fits and self._order(other) - self._order(label) <= min(room[i], room[j]):
                    yield "change edge", _joined(state, i, j, other), {i, j}
            if (state.directed and i in state.near[j]) or (i, j) not in held:
                draft = state.copy()
                draft.cut(i, j)
                yield "remove edge", draft, {i, j}

    def _add_edges(self, state: Sketch, heavy: list[int], room: dict[int, int]) -> Iterator[_Draft]:
        labels = fresh_labels(self.schema.edges, (label for *_, label in state.edges()))
        for i, others in partners(state, heavy).items():
            for j in others:
                if j in state.near[i] or i == j or (i > j and not state.directed):
                    continue
                for label in labels:
                    fits = self._joins(state.nodes[i], label, state.nodes[j])
                    if fits and self._order(label) <= min(room[i], room[j]):
                        yield "add edge", _joined(state, i, j, label), {i, j}

    def _add_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment]
    ) -> Iterator[_Draft]:
        for i in heavy:
            for fragment in fragments:
                fits = self._joins(state.nodes[i], fragment.link, fragment.nodes[0])
                if fits and self._order(fragment.link) <= room[i]:
                    draft = state.copy()
                    yield "add group", draft, {i, *_hang(draft, i, fragment)}

    def _change_groups(
        self, state: Sketch, heavy: list[int], room: dict[int, int], fragments: list[Fragment], branches: bool
    ) -> Iterator[_Draft]:
        limit = self.vocabulary.max_nodes
        for anchor, root, members in groups(state, heavy, len(heavy) if branches else limit):
            bare = self._without(state, members)
            yield "remove group", bare, {anchor, *members}
            if len(members) > limit:
                continue
            link = state.near[anchor][root]
            free = room[anchor] + self._order(link)
            for fragment in fragments:
                if len(members) == len(fragment.nodes) == 1 and fragment.link == link:
                    continue  # that is another label for the node
                fits = self._joins(state.nodes[anchor], fragment.link, fragment.nodes[0])
                if fits and self._order(fragment.link) <= free:
                    draft = bare.branch()
                    yield "replace group", draft, {anchor, *members, *_hang(draft, anchor, fragment)}
        for part in self._small_parts(state, heavy):
            yield "remove part", self._without(state, part), part

    def _small_parts(self, state: Sketch, heavy: list[int]) -> list[set[int]]:
        """Connected parts that a move may take away, where others remain."""
        parts = [part & set(heavy) for part in state.parts()]
        return [part for part in parts if len(parts) > 1 and 0 < len(part) <= self.vocabulary.max_nodes]

    def _change_directed_leaves(self, state: Sketch, fragments: list[Fragment]) -> Iterator[_Draft]:
        for i in state.nodes:
            if len(state.around(i)) <= 1 and (state.around(i) or len(state.nodes) > 1):
                yield "remove group", self._without(state, {i}), {i}
            for fragment in fragments:
                for outwards in (True, False):
                    draft = state.copy()
                    new = draft.add(fragment.nodes[0])
                    draft.join(*((i, new) if outwards else (new, i)), fragment.link)
                    yield "add group", draft, {i, new}

    def _without(self, state: Sketch, members: set[int]) -> Sketch:
        draft = state.copy()
        for i in members:
            self.strip_hydrogens(draft, i)
            draft.remove(i)
        return draft

    def _fills(self, state: Sketch, i: int) -> bool:
        return self._valence is not None and self._valence.is_hydrogen(state, i)


def _joined(state: Sketch, i: int, j: int, label: Attributes) -> Sketch:
    draft = state.copy()
    draft.join(i, j, label)
    return draft


def _hang(draft: Sketch, anchor: int, fragment: Fragment) -> list[int]:
    """Join a new group to a node; returns the group's nodes."""
    new = [draft.add(label) for label in fragment.nodes]
    for i, j, label in fragment.edges:
        draft.join(new[i], new[j], label)
    draft.join(anchor, new[0], fragment.link)
    return new
