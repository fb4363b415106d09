"""RingDrafts: changes of a ring as a whole, so that an aromatic system is kept aromatic or changed as one."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

from ....schema import Schema
from ..atoms.rules import AbstractMoleculeRules
from ..sketch import Pair, Sketch
from .changes import Changed, RingChanges
from .perception import Rings

# Heavy atoms that a ring may take along when it is removed: its own, and small substituents.
_LARGEST = 9

_SIX, _FIVE, _THREE = 6, 5, 3
_LONE_PAIRS = ("S", "O", "N")
"""Atoms that stand in an aromatic ring of five in the place of two carbons."""

RingMove = Literal[
    "remove ring", "hydrogenate ring", "aromatize ring", "fuse ring", "exchange ring", "open ring", "close ring"
]
"""Kinds of change of a whole ring."""


class RingDraft(NamedTuple):
    """A change of a ring that has not been made yet.

    Args:
        kind: Kind of change.
        place: Atoms of the molecule that are changed or removed.
        gone: Those of them that are removed.
        come: Elements of new atoms.
        make: Makes the change; None if the rings that stay aromatic cannot have their double bonds any more.
    """

    kind: RingMove
    place: Collection[int]
    gone: Collection[int]
    come: Collection[str]
    make: Callable[[], Changed | None]


@dataclass(frozen=True)
class RingDrafts:
    """Lists the changes of whole rings of a molecule.

    - remove ring: atoms that only one ring of a system has go, with small substituents; naphthalene becomes benzene.
    - hydrogenate ring: all double bonds of an aromatic ring go; naphthalene becomes tetralin.
    - aromatize ring: a ring of five or six becomes aromatic; tetralin becomes naphthalene.
    - fuse ring: a benzene ring is fused to an aromatic bond with two hydrogens.
    - exchange ring: two CH of an aromatic ring of six become one S, O or NH, or the other way round.
    - open ring, close ring: the heteroatom of a ring of three goes, or comes over a double bond.

    Args:
        schema: Schema of the molecules.
        rules: Its rules.
    """

    schema: Schema
    rules: AbstractMoleculeRules

    @cached_property
    def changes(self) -> RingChanges:
        """The changes themselves."""
        return RingChanges(self.schema, self.rules)

    def rings(self, state: Sketch) -> Rings:
        """The rings of a sketch."""
        return Rings.of(state, self.rules)

    def fixed_bonds(self, state: Sketch) -> frozenset[Pair]:
        """Aromatic bonds, and double bonds that hang on aromatic rings: as others, they would end aromaticity."""
        return self.rings(state).fixed

    def room(self, state: Sketch, i: int) -> int:
        """Most orders of further bonds that an atom of an aromatic ring can have."""
        if self.changes.symbol(state, i) not in _LONE_PAIRS or self._has_double(state, i):
            return 1
        outside = [j for j in state.near[i] if (i, j) not in self.rings(state).bonds]
        return int(self.changes.symbol(state, i) == "N" and all(self.rules.is_hydrogen(state, j) for j in outside))

    def of(self, state: Sketch) -> Iterator[RingDraft]:
        """Yield the changes of a sketch."""
        rings = self.rings(state)
        for ring in rings.all:
            yield from self._remove(state, rings, ring)
            yield from self._open(state, ring)
        for ring in rings.aromatic:
            yield from self._hydrogenate(state, rings, ring)
            yield from self._fuse(state, rings, ring)
            yield from self._contract(state, rings, ring)
            yield from self._expand(state, rings, ring)
        for ring in set(rings.all) - set(rings.aromatic):
            yield from self._aromatize(state, rings, ring)
        yield from self._close(state, rings)

    def _remove(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        own, shared = self.changes.own(rings.all, ring)
        if not shared or len(own) < 2:
            return
        gone = self._with_branches(state, own, stay=shared[0])
        if len(gone) <= _LARGEST and gone.isdisjoint(shared):
            make = partial(self.changes.without_ring, state, rings, ring, gone)
            yield RingDraft("remove ring", {*gone, *shared}, gone, (), make)

    def _hydrogenate(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        make = partial(self.changes.hydrogenated, state, rings, ring)
        yield RingDraft("hydrogenate ring", ring, (), (), make)

    def _aromatize(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        inside = {i for pair in rings.bonds for i in pair}
        fresh = [i for i in ring if i not in inside]
        lone = [i for i in fresh if len(ring) == _FIVE and self.changes.symbol(state, i) in _LONE_PAIRS]
        able = [i for i in fresh if i not in lone[:1]]
        if len(ring) not in (_FIVE, _SIX) or len(lone) != (len(ring) == _FIVE):
            return
        if all(self._can_join(state, i, ring) for i in able):
            yield RingDraft("aromatize ring", ring, (), (), partial(self.changes.with_aromatic, state, ring, able))

    def _fuse(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i, j in self.changes.sides(ring) if len(ring) == _SIX else ():
            if self._is_free(state, rings, i) and self._is_free(state, rings, j):
                yield RingDraft("fuse ring", (i, j), (), "CCCC", partial(self.changes.with_benzene, state, i, j))

    def _contract(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i, j in self.changes.sides(ring) if len(ring) == _SIX else ():
            if self._is_free(state, rings, i) and self._is_free(state, rings, j):
                for symbol in self._known(_LONE_PAIRS):
                    make = partial(self.changes.contracted, state, rings, ring, i, j, symbol)
                    yield RingDraft("exchange ring", ring, (j,), (), make)

    def _expand(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i in ring if len(ring) == _FIVE else ():
            heavy = [j for j in state.near[i] if not self.rules.is_hydrogen(state, j)]
            if self.changes.symbol(state, i) in _LONE_PAIRS and len(heavy) == 2 and not self._has_double(state, i):
                make = partial(self.changes.expanded, state, rings, ring, i, heavy[1])
                yield RingDraft("exchange ring", ring, (), "C", make)

    def _open(self, state: Sketch, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        hetero = [i for i in ring if self.changes.symbol(state, i) in _LONE_PAIRS]
        if len(ring) != _THREE or len(hetero) != 1:
            return
        stay = [i for i in ring if i != hetero[0]]
        gone = self._with_branches(state, hetero, stay=stay[0])
        if len(gone) > _THREE or not gone.isdisjoint(stay):
            return
        for order in (1, 2):
            yield RingDraft(
                "open ring", {*gone, *stay}, gone, (), partial(self.changes.opened, state, gone, stay, order)
            )

    def _close(self, state: Sketch, rings: Rings) -> Iterator[RingDraft]:
        for i, j, bond in list(state.edges()):
            carbons = self.changes.symbol(state, i) == self.changes.symbol(state, j) == "C"
            if carbons and self.rules.order(bond) == 2 and (i, j) not in rings.bonds:
                for symbol in self._known(("O", "N")):
                    yield RingDraft(
                        "close ring", (i, j), (), (symbol,), partial(self.changes.closed, state, i, j, symbol)
                    )

    def _with_branches(self, state: Sketch, atoms: Collection[int], stay: int) -> set[int]:
        """The atoms with all heavy atoms that would be cut off from `stay` without them."""
        seen, todo = {stay, *atoms}, [stay]
        while todo:
            i = todo.pop()
            fresh = [j for j in state.near[i] if j not in seen]
            seen.update(fresh)
            todo += fresh
        cut_off = state.reach(stay) - seen
        return {*atoms, *(i for i in cut_off if not self.rules.is_hydrogen(state, i))}

    def _is_free(self, state: Sketch, rings: Rings, i: int) -> bool:
        """True if an atom is a carbon of one ring that has a hydrogen and no substituent."""
        heavy = [j for j in state.near[i] if not self.rules.is_hydrogen(state, j)]
        return self.changes.symbol(state, i) == "C" and len(heavy) == 2 and sum(i in ring for ring in rings.all) == 1

    def _can_join(self, state: Sketch, i: int, ring: tuple[int, ...]) -> bool:
        """True if a carbon or nitrogen of a ring can have one double bond in it and none outside."""
        outside = [j for j in state.near[i] if j not in ring and not self.rules.is_hydrogen(state, j)]
        limit = {"C": 1, "N": 0}.get(self.changes.symbol(state, i), -1)
        return len(outside) <= limit and not any(self.changes.is_double(state, i, j) for j in outside)

    def _has_double(self, state: Sketch, i: int) -> bool:
        return any(self.changes.is_double(state, i, j) for j in state.near[i])

    def _known(self, symbols: Iterable[str]) -> list[str]:
        """Those of the elements that the schema has."""
        return [symbol for symbol in symbols if symbol in self.changes.atoms]
