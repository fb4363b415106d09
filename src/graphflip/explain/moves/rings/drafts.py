"""RingDrafts: changes of a ring as a whole, so that an aromatic system is kept aromatic or changed as one."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from ....schema import Schema
from ..atoms.orders import column_index
from ..atoms.rules import AbstractMoleculeRules
from ..attributes import Attributes, attribute_choices
from ..sketch import Pair, Sketch
from .double_bonds import connected_atoms, place_double_bonds
from .perception import Rings

# Heavy atoms that a ring may take along when it is removed: its own, and small substituents.
_LARGEST = 9

_SIX, _FIVE, _THREE = 6, 5, 3
_UNLIMITED = 99
_LONE_PAIRS = ("S", "O", "N")
"""Atoms that stand in an aromatic ring of five in the place of two carbons."""

RingMove = Literal[
    "remove ring", "hydrogenate ring", "aromatize ring", "fuse ring", "exchange ring", "open ring", "close ring"
]
"""Kinds of change of a whole ring."""

RingDraft = tuple[RingMove, Sketch, set[int]]
"""Kind of change, the sketch after it, and the heavy nodes that were changed, added or removed."""


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

    def rings(self, state: Sketch) -> Rings:
        """The rings of a sketch."""
        return Rings.of(state, self.rules)

    def fixed_bonds(self, state: Sketch) -> frozenset[Pair]:
        """Aromatic bonds, and double bonds that hang on aromatic rings: as others, they would end aromaticity."""
        return self.rings(state).fixed

    def room(self, state: Sketch, i: int) -> int:
        """Most orders of further bonds that an atom can have in an aromatic ring; many if it is in none."""
        if i not in self.rings(state).aromatic_atoms:
            return _UNLIMITED
        if self._symbol(state, i) not in _LONE_PAIRS or self._has_double(state, i):
            return 1
        outside = [j for j in state.near[i] if (i, j) not in self.rings(state).bonds]
        return int(self._symbol(state, i) == "N" and all(self.rules.is_hydrogen(state, j) for j in outside))

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
        own, shared = self._own(rings.all, ring)
        if not shared or len(own) < 2:
            return
        gone = self._with_branches(state, own, stay=shared[0])
        if len(gone) > _LARGEST or not gone.isdisjoint(shared):
            return
        draft = state.copy()
        for i in gone:
            self._drop(draft, i)
        rest = [other for other in rings.aromatic if other != ring]
        if self._set_double_bonds(state, draft, rest, rings.bonds, freed=(*shared, *own)):
            yield "remove ring", draft, {*gone, *shared}

    def _hydrogenate(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        draft = state.copy()
        rest = [other for other in rings.aromatic if other != ring]
        if self._set_double_bonds(state, draft, rest, rings.bonds, freed=ring):
            yield "hydrogenate ring", draft, set(ring)

    def _aromatize(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        inside = {i for pair in rings.bonds for i in pair}
        fresh = [i for i in ring if i not in inside]
        lone = [i for i in fresh if len(ring) == _FIVE and self._symbol(state, i) in _LONE_PAIRS]
        able = [i for i in fresh if i not in lone[:1]]
        around = {pair for i, j in self._sides(ring) for pair in ((i, j), (j, i))}
        if len(ring) not in (_FIVE, _SIX) or len(lone) != (len(ring) == _FIVE):
            return
        if not all(self._can_join(state, i, ring) for i in able):
            return
        draft = state.copy()
        for i, j in around:
            if i in able and j in state.near[i]:
                draft.join(i, j, self._bond(state.near[i][j], 1))
        places = place_double_bonds(draft, able, around, ())
        if places is not None:
            self._write(draft, places)
            yield "aromatize ring", draft, set(ring)

    def _fuse(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i, j in self._sides(ring) if len(ring) == _SIX else ():
            if self._is_free(state, rings, i) and self._is_free(state, rings, j):
                draft = state.copy()
                new = [draft.add(self._atom("C")) for _ in range(4)]
                for (a, b), order in zip(pairwise([i, *new, j]), (1, 2, 1, 2, 1), strict=True):
                    draft.join(a, b, self._bond(None, order))
                yield "fuse ring", draft, {i, j, *new}

    def _contract(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i, j in self._sides(ring) if len(ring) == _SIX else ():
            if not (self._is_free(state, rings, i) and self._is_free(state, rings, j)):
                continue
            beyond = next(k for k in state.near[j] if k in ring and k != i)
            for symbol in self._known(_LONE_PAIRS):
                draft = state.copy()
                self._drop(draft, j)
                draft.set_node(i, self._atom(symbol))
                draft.join(i, beyond, self._bond(None, 1))
                if self._set_double_bonds(state, draft, rings.aromatic, rings.bonds, freed=(i, j), fixed=(i,)):
                    yield "exchange ring", draft, {*ring}

    def _expand(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        for i in ring if len(ring) == _FIVE else ():
            heavy = [j for j in state.near[i] if not self.rules.is_hydrogen(state, j)]
            if self._symbol(state, i) not in _LONE_PAIRS or len(heavy) != 2 or self._has_double(state, i):
                continue
            draft = state.copy()
            draft.set_node(i, self._atom("C"))
            new = draft.add(self._atom("C"))
            draft.cut(i, heavy[1])
            for a, b in ((i, new), (new, heavy[1])):
                draft.join(a, b, self._bond(None, 1))
            sides = {*rings.bonds, (i, new), (new, heavy[1])}
            if self._set_double_bonds(state, draft, rings.aromatic, sides, extra=(i, new)):
                yield "exchange ring", draft, {*ring, new}

    def _open(self, state: Sketch, ring: tuple[int, ...]) -> Iterator[RingDraft]:
        hetero = [i for i in ring if self._symbol(state, i) in _LONE_PAIRS]
        if len(ring) != _THREE or len(hetero) != 1:
            return
        stay = [i for i in ring if i != hetero[0]]
        gone = self._with_branches(state, hetero, stay=stay[0])
        if len(gone) > _THREE or not gone.isdisjoint(stay):
            return
        for order in (1, 2):
            draft = state.copy()
            for i in gone:
                self._drop(draft, i)
            draft.join(stay[0], stay[1], self._bond(state.near[stay[0]][stay[1]], order))
            yield "open ring", draft, {*gone, *stay}

    def _close(self, state: Sketch, rings: Rings) -> Iterator[RingDraft]:
        for i, j, bond in list(state.edges()):
            carbons = self._symbol(state, i) == self._symbol(state, j) == "C"
            if carbons and self.rules.order(bond) == 2 and (i, j) not in rings.bonds:
                for symbol in self._known(("O", "N")):
                    draft = state.copy()
                    draft.join(i, j, self._bond(bond, 1))
                    new = draft.add(self._atom(symbol))
                    for end in (i, j):
                        draft.join(end, new, self._bond(None, 1))
                    yield "close ring", draft, {i, j, new}

    def _set_double_bonds(
        self,
        state: Sketch,
        draft: Sketch,
        rings: Iterable[tuple[int, ...]],
        bonds: Collection[Pair],
        freed: Collection[int] = (),
        fixed: Collection[int] = (),
        extra: Collection[int] = (),
    ) -> bool:
        """Give the rings that stay aromatic their double bonds anew, in place; False if that cannot be done.

        Args:
            state: Sketch before the change.
            draft: Sketch after it.
            rings: Rings that stay aromatic, the changed one included.
            bonds: Bonds that are aromatic or shall be.
            freed: Atoms whose double bonds are taken away first.
            fixed: Atoms that need no double bond any more.
            extra: Atoms that need one now.
        """
        stay = {i for ring in rings for i in ring if i in draft.nodes and i not in fixed}
        need = {i for i in stay if any((i, j) in bonds and self._is_double(state, i, j) for j in state.near[i])}
        need |= set(extra)
        doubles = {pair for pair in bonds if pair[0] < pair[1] and pair[1] in draft.near.get(pair[0], ())}
        doubles = {pair for pair in doubles if self._is_double(draft, *pair)}
        # Only systems that the change reaches are written anew.
        reached = connected_atoms(
            need, bonds, {*freed, *extra, *fixed, *(j for i in freed for j in state.near.get(i, ()))}
        )
        for i, j in doubles:
            if i in freed or j in freed:
                draft.join(i, j, self._bond(draft.near[i][j], 1))
        places = place_double_bonds(draft, reached, bonds, doubles)
        if places is None:
            return False
        self._write(draft, places)
        return True

    def _write(self, draft: Sketch, places: dict[Pair, bool]) -> None:
        for (i, j), double in places.items():
            if self._is_double(draft, i, j) != double:
                draft.join(i, j, self._bond(draft.near[i][j], 1 + double))

    def _own(self, rings: Iterable[tuple[int, ...]], ring: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Atoms of a ring that are in no other ring, and those that are."""
        others = {i for other in rings if other != ring for i in other}
        return [i for i in ring if i not in others], [i for i in ring if i in others]

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

    def _drop(self, draft: Sketch, i: int) -> None:
        """Remove a heavy atom with its hydrogens, in place."""
        for j in list(draft.near[i]):
            if self.rules.is_hydrogen(draft, j):
                draft.remove(j)
        draft.remove(i)

    def _is_free(self, state: Sketch, rings: Rings, i: int) -> bool:
        """True if an atom is a carbon of one ring that has a hydrogen and no substituent."""
        heavy = [j for j in state.near[i] if not self.rules.is_hydrogen(state, j)]
        return self._symbol(state, i) == "C" and len(heavy) == 2 and sum(i in ring for ring in rings.all) == 1

    def _can_join(self, state: Sketch, i: int, ring: tuple[int, ...]) -> bool:
        """True if a carbon or nitrogen of a ring can have one double bond in it and none outside."""
        outside = [j for j in state.near[i] if j not in ring and not self.rules.is_hydrogen(state, j)]
        limit = {"C": 1, "N": 0}.get(self._symbol(state, i), -1)
        return len(outside) <= limit and not any(self._is_double(state, i, j) for j in outside)

    def _has_double(self, state: Sketch, i: int) -> bool:
        return any(self._is_double(state, i, j) for j in state.near[i])

    def _is_double(self, sketch: Sketch, i: int, j: int) -> bool:
        return self.rules.order(sketch.near[i][j]) == 2

    def _known(self, symbols: Iterable[str]) -> list[str]:
        """Those of the elements that the schema has."""
        return [symbol for symbol in symbols if symbol in self._atoms]

    def _sides(self, ring: tuple[int, ...]) -> list[Pair]:
        return list(pairwise((*ring, ring[0])))

    def _symbol(self, sketch: Sketch, i: int) -> str:
        return self.rules.symbol(sketch.nodes[i])

    def _atom(self, symbol: str) -> Attributes:
        """Attributes of a new atom of an element."""
        return self._atoms[symbol]

    @cached_property
    def _atoms(self) -> dict[str, Attributes]:
        fresh = self.rules.fresh(attribute_choices(self.schema.nodes))
        return {self.rules.symbol(node): node for node in reversed(fresh)}

    def _bond(self, like: Attributes | None, order: int) -> Attributes:
        """Attributes of a bond of this order, the others as those of `like`."""
        if like is None:
            return self._bonds[order]
        at = column_index(self.schema.edges, "type")
        return (*like[:at], self._bonds[order][at], *like[at + 1 :])

    @cached_property
    def _bonds(self) -> dict[int, Attributes]:
        return {self.rules.order(bond): bond for bond in reversed(attribute_choices(self.schema.edges))}
