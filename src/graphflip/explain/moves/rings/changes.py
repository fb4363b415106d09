"""RingChanges: makes the changes of whole rings that `RingDrafts` lists."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ....schema import Schema
from ..atoms.orders import column_index
from ..atoms.rules import AbstractMoleculeRules
from ..attributes import Attributes, attribute_choices
from ..sketch import Pair, Sketch
from .double_bonds import connected_atoms, place_double_bonds
from .perception import Rings

Changed = tuple[Sketch, set[int]]
"""A sketch after a change, and the heavy nodes that were changed, added or removed."""


@dataclass(frozen=True)
class RingChanges:
    """Makes changes of a ring as a whole; those that leave rings without their double bonds are None.

    Args:
        schema: Schema of the molecules.
        rules: Its rules.
    """

    schema: Schema
    rules: AbstractMoleculeRules

    def without_ring(self, state: Sketch, rings: Rings, ring: tuple[int, ...], gone: set[int]) -> Changed | None:
        """The molecule without the atoms that only this ring has, and what hangs on them."""
        own, shared = self.own(rings.all, ring)
        draft = state.copy()
        for i in gone:
            self._drop(draft, i)
        rest = [other for other in rings.aromatic if other != ring]
        done = self._set_double_bonds(state, draft, rest, rings.bonds, freed=(*shared, *own))
        return (draft, {*gone, *shared}) if done else None

    def hydrogenated(self, state: Sketch, rings: Rings, ring: tuple[int, ...]) -> Changed | None:
        """The molecule with all double bonds of an aromatic ring gone."""
        draft = state.copy()
        rest = [other for other in rings.aromatic if other != ring]
        return (draft, set(ring)) if self._set_double_bonds(state, draft, rest, rings.bonds, freed=ring) else None

    def with_aromatic(self, state: Sketch, ring: tuple[int, ...], able: list[int]) -> Changed | None:
        """The molecule with a ring made aromatic; `able` are the atoms that get a double bond."""
        around = {pair for i, j in self.sides(ring) for pair in ((i, j), (j, i))}
        draft = state.copy()
        for i, j in around:
            if i in able and j in state.near[i]:
                draft.join(i, j, self._bond(state.near[i][j], 1))
        places = place_double_bonds(draft, able, around, ())
        if places is None:
            return None
        self._write(draft, places)
        return draft, set(ring)

    def with_benzene(self, state: Sketch, i: int, j: int) -> Changed:
        """The molecule with a benzene ring fused to a bond."""
        draft = state.copy()
        new = [draft.add(self.atom("C")) for _ in range(4)]
        for (a, b), order in zip(pairwise([i, *new, j]), (1, 2, 1, 2, 1), strict=True):
            draft.join(a, b, self._bond(None, order))
        return draft, {i, j, *new}

    def contracted(
        self, state: Sketch, rings: Rings, ring: tuple[int, ...], i: int, j: int, symbol: str
    ) -> Changed | None:
        """The molecule with two CH of a ring of six become one atom of an element."""
        draft = state.copy()
        beyond = next(k for k in state.near[j] if k in ring and k != i)
        self._drop(draft, j)
        draft.set_node(i, self.atom(symbol))
        draft.join(i, beyond, self._bond(None, 1))
        done = self._set_double_bonds(state, draft, rings.aromatic, rings.bonds, freed=(i, j), fixed=(i,))
        return (draft, {*ring}) if done else None

    def expanded(self, state: Sketch, rings: Rings, ring: tuple[int, ...], i: int, beyond: int) -> Changed | None:
        """The molecule with the heteroatom of a ring of five become two CH."""
        draft = state.copy()
        draft.set_node(i, self.atom("C"))
        new = draft.add(self.atom("C"))
        draft.cut(i, beyond)
        for a, b in ((i, new), (new, beyond)):
            draft.join(a, b, self._bond(None, 1))
        sides = {*rings.bonds, (i, new), (new, beyond)}
        done = self._set_double_bonds(state, draft, rings.aromatic, sides, extra=(i, new))
        return (draft, {*ring, new}) if done else None

    def opened(self, state: Sketch, gone: set[int], stay: list[int], order: int) -> Changed:
        """The molecule with a ring of three opened; `order` is that of the bond which stays."""
        draft = state.copy()
        for i in gone:
            self._drop(draft, i)
        draft.join(stay[0], stay[1], self._bond(state.near[stay[0]][stay[1]], order))
        return draft, {*gone, *stay}

    def closed(self, state: Sketch, i: int, j: int, symbol: str) -> Changed:
        """The molecule with an atom over a double bond."""
        draft = state.copy()
        draft.join(i, j, self._bond(state.near[i][j], 1))
        new = draft.add(self.atom(symbol))
        for end in (i, j):
            draft.join(end, new, self._bond(None, 1))
        return draft, {i, j, new}

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
        need = {i for i in stay if any((i, j) in bonds and self.is_double(state, i, j) for j in state.near[i])}
        need |= set(extra)
        doubles = {pair for pair in bonds if pair[0] < pair[1] and pair[1] in draft.near.get(pair[0], ())}
        doubles = {pair for pair in doubles if self.is_double(draft, *pair)}
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
            if self.is_double(draft, i, j) != double:
                draft.join(i, j, self._bond(draft.near[i][j], 1 + double))

    def own(self, rings: Iterable[tuple[int, ...]], ring: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Atoms of a ring that are in no other ring, and those that are."""
        others = {i for other in rings if other != ring for i in other}
        return [i for i in ring if i not in others], [i for i in ring if i in others]

    def _drop(self, draft: Sketch, i: int) -> None:
        """Remove a heavy atom with its hydrogens, in place."""
        for j in list(draft.near[i]):
            if self.rules.is_hydrogen(draft, j):
                draft.remove(j)
        draft.remove(i)

    def is_double(self, sketch: Sketch, i: int, j: int) -> bool:
        return self.rules.order(sketch.near[i][j]) == 2

    def sides(self, ring: tuple[int, ...]) -> list[Pair]:
        return list(pairwise((*ring, ring[0])))

    def symbol(self, sketch: Sketch, i: int) -> str:
        return self.rules.symbol(sketch.nodes[i])

    def atom(self, symbol: str) -> Attributes:
        """Attributes of a new atom of an element."""
        return self.atoms[symbol]

    @cached_property
    def atoms(self) -> dict[str, Attributes]:
        """Attributes of a new atom of each element that the schema has."""
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
