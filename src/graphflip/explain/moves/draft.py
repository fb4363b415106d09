"""Draft and Family: moves that have not been made yet, and the ways of making them.

A draft is one move; a family holds those of a kind at a place that differ only in what they bring, so that thousands of
moves are listed, and looked up in tables, at little cost.
"""

from collections.abc import Callable, Collection, Hashable, Iterator
from functools import partial
from typing import Literal, NamedTuple

from .attributes import Attributes
from .fragments import Fragment
from .rings.drafts import RingMove
from .sketch import Sketch

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
        build: Makes the move, or returns None if it cannot be made: new nodes have negative numbers, hydrogens are not
            filled in.
    """

    kind: MoveKind
    place: tuple[int, ...]
    brings: Hashable
    takes: Hashable
    build: Callable[[], Built | None]


class Variants:
    """Values that the moves of a family bring, one for each; its hash is computed once, so that it is a quick key."""

    __slots__ = ("_hash", "values")

    def __init__(self, values: tuple[Hashable, ...]):
        self.values, self._hash = values, hash(values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Variants) and self.values == other.values)

    def __len__(self) -> int:
        return len(self.values)


NOTHING = Variants((None,))
"""Of a family of one move that brings nothing."""


class Family(NamedTuple):
    """Moves of one kind at one place that differ in what they bring.

    Args:
        kind: Kind of the moves.
        place: Nodes that they act on, as in `Draft`.
        choices: What each of them brings.
        takes: What goes there, as in `Draft`.
        make: Makes the move that brings a value.
        gone: Nodes that go, explicit hydrogens aside.
    """

    kind: MoveKind
    place: tuple[int, ...]
    choices: Variants
    takes: Hashable
    make: Callable[..., Built | None]
    gone: Collection[int] = ()

    def draft(self, k: int) -> Draft:
        """The move with number `k`."""
        brings = self.choices.values[k]
        return Draft(self.kind, self.place, brings, self.takes, partial(self.make, brings))

    def drafts(self) -> Iterator[Draft]:
        """All of the moves."""
        return map(self.draft, range(len(self.choices)))


def family_of(draft: Draft) -> Family:
    """A family of one move."""
    return Family(draft.kind, draft.place, Variants((draft.brings,)), draft.takes, lambda _: draft.build())


class Once:
    """A sketch that is made when it is first needed; others are branched off it."""

    def __init__(self, make: Callable[[], Sketch]):
        self.make, self.sketch = make, None

    def branch(self) -> Sketch:
        if self.sketch is None:
            self.sketch = self.make()
        return self.sketch.branch()


def with_rings(make: Callable[[], Built | None], _: Hashable = None) -> Built | None:
    """A change of a whole ring."""
    return make()


def copy_of(bare: Once, changed: set[int], _: Hashable = None) -> Built:
    """A move that only takes nodes away."""
    return bare.branch(), changed


def with_node(state: Sketch, i: int, attributes: Attributes) -> Built:
    """A node with other attributes."""
    draft = state.copy()
    draft.set_node(i, attributes)
    return draft, {i}


def joined(state: Sketch, i: int, j: int, attributes: Attributes) -> Built:
    """Two nodes with an edge between them."""
    draft = state.copy()
    draft.join(i, j, attributes)
    return draft, {i, j}


def cut(state: Sketch, i: int, j: int, _: Hashable = None) -> Built:
    """Two nodes without the edge between them."""
    draft = state.copy()
    draft.cut(i, j)
    return draft, {i, j}


def with_group(state: Sketch, i: int, fragment: Fragment) -> Built:
    """A node with one more group."""
    draft = state.copy()
    return draft, {i, *_hang(draft, i, fragment)}


def with_other_group(bare: Once, anchor: int, members: set[int], fragment: Fragment) -> Built:
    """A node with another group in the place of the one that was there."""
    draft = bare.branch()
    return draft, {anchor, *members, *_hang(draft, anchor, fragment)}


def with_leaf(state: Sketch, i: int, leaf: tuple[Fragment, bool]) -> Built:
    """A node of a directed graph with one more neighbor; True if the new edge leads to it."""
    fragment, outwards = leaf
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
