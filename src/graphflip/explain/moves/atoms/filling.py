"""Filling: the hydrogens that a change adds or removes, worked out on numbers of bonds before any is touched."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..attributes import Attributes
from ..sketch import Sketch
from .orders import BondOrders
from .shells import Shells

_FULL = 4
"""Bonds of a nitrogen that is a cation."""


class Bonds(NamedTuple):
    """Bonds of an atom, and the hydrogens that fill its valence; these are not among the bonds.

    Args:
        symbol: Its element.
        valence: Sum of the orders of its bonds.
        degree: Number of its bonds.
        hydrogens: Its hydrogens, in the order of its neighbors.
    """

    symbol: str
    valence: int
    degree: int
    hydrogens: list[int]

    @property
    def is_cation(self) -> bool:
        """True for a nitrogen with four bonds."""
        return self.symbol == "N" and self.valence + len(self.hydrogens) == _FULL


@dataclass(eq=False)
class Census:
    """Atoms of a molecule at a glance.

    Args:
        cations: Nitrogens with four bonds.
        charges: Formal charges of the atoms that have one.
        total: Their sum.
        bonds: Bonds of atoms, those that were asked for.
    """

    cations: frozenset[int]
    charges: dict[int, int]
    total: int
    bonds: dict[int, Bonds] = field(default_factory=dict)


class Filled(NamedTuple):
    """An atom with the number of hydrogens that it gets.

    Args:
        at: Number of the atom.
        bonds: Its bonds before.
        wanted: Hydrogens that it gets.
    """

    at: int
    bonds: Bonds
    wanted: int


@dataclass(frozen=True)
class Filling:
    """Works out the hydrogens of changed atoms, where no nitrogen that was a cation before has changed.

    Args:
        shells: Look-ups of the chemistry.
        orders: Orders of bonds.
        at: Index of the element among the attributes of an atom.
        hydrogen: Attributes of a hydrogen.
        bond: Attributes of its bond.
    """

    shells: Shells
    orders: BondOrders
    at: int
    hydrogen: Attributes
    bond: Attributes

    def bonds(self, sketch: Sketch, i: int) -> Bonds:
        """Bonds of an atom."""
        nodes, near, at, orders = sketch.nodes, sketch.near, self.at, self.orders
        symbol, valence, hydrogens = str(nodes[i][at]), 0, []
        for j, bond in near[i].items():
            valence += orders[bond]
            if nodes[j][at] == "H" and len(near[j]) == 1 and symbol != "H":
                hydrogens.append(j)
        return Bonds(symbol, valence - len(hydrogens), len(near[i]) - len(hydrogens), hydrogens)

    def of(
        self, before: Sketch, census: Census, after: Sketch, changed: set[int]
    ) -> list[Filled] | Literal[False] | None:
        """Hydrogens of the changed atoms, in the order in which they are filled.

        Returns:
            The atoms; False if no number of hydrogens makes the graph valid, or the sum of charges moves away from
            zero; None if that depends on more than these atoms.
        """
        touched = changed | after.touched
        if not after.nodes.keys().isdisjoint(after.touched - changed) or not census.cations.isdisjoint(touched):
            return None
        atoms = {i: self.bonds(after, i) for i in changed & after.nodes.keys()}
        symbols = {bonds.symbol for bonds in atoms.values()}
        if "H" in symbols:
            return None
        if "N" not in symbols and not census.cations:
            return self._one_by_one(census, touched, atoms)
        filled = self._in_turn(after, census, atoms)
        if filled is None:
            return False
        fresh = {i for i, bonds, wanted in filled if bonds.symbol == "N" and bonds.valence + wanted == _FULL}
        if fresh and not self._are_filled(before, census, {j for i in fresh for j in after.near[i]} - atoms.keys()):
            return None
        cations, charge = census.cations | fresh, -sum(census.charges.get(i, 0) for i in touched)
        for i, (symbol, valence, degree, _), wanted in filled:
            case = symbol, valence + wanted, degree + wanted, not cations.isdisjoint(after.near[i])
            if not self.shells.is_filled(*case):
                return False
            charge += self.shells.charge(*case)
        return filled if not charge or abs(census.total + charge) <= abs(census.total) else False

    def _one_by_one(self, census: Census, touched: set[int], atoms: dict[int, Bonds]) -> list[Filled] | Literal[False]:
        """The same where no nitrogen is or becomes a cation, so that no atom depends on another one."""
        filled, charge = [], -sum(census.charges.get(i, 0) for i in touched) if census.charges else 0
        for i in sorted(atoms):
            symbol, valence, degree, _ = bonds = atoms[i]
            wanted = self.shells.wanted(symbol, valence, degree, False)
            if wanted is None:
                return False
            charge += self.shells.charge(symbol, valence + wanted, degree + wanted, False)
            filled.append(Filled(i, bonds, wanted))
        return filled if not charge or abs(census.total + charge) <= abs(census.total) else False

    def _in_turn(self, after: Sketch, census: Census, atoms: dict[int, Bonds]) -> list[Filled] | None:
        """The atoms with their hydrogens, one filled after the other; None if one of them cannot be filled.

        Nitrogens without room come first, as their charge decides about neighbors.
        """
        cations = census.cations | {i for i, bonds in atoms.items() if bonds.is_cation}
        order = sorted(atoms, key=lambda i: (atoms[i].symbol != "N" or atoms[i].valence < _FULL, i))
        filled = []
        for i in order:
            symbol, valence, degree, _ = atoms[i]
            beside = bool(cations) and not cations.isdisjoint(after.near[i])
            wanted = self.shells.wanted(symbol, valence, degree, beside)
            if wanted is None:
                return None
            if symbol == "N":
                cations = cations | {i} if valence + wanted == _FULL else cations - {i}
            filled.append(Filled(i, atoms[i], wanted))
        return filled

    def _are_filled(self, sketch: Sketch, census: Census, atoms: set[int]) -> bool:
        """True if atoms of a sketch, hydrogens aside, are filled; then a cation that comes beside them changes none."""
        for i in atoms & sketch.nodes.keys():
            symbol, valence, degree, hydrogens = self.known(sketch, census, i)
            case = symbol, valence + len(hydrogens), degree + len(hydrogens), self.is_beside(sketch, census, i)
            if not self.shells.is_filled(*case):
                return False
        return True

    def known(self, sketch: Sketch, census: Census, i: int) -> Bonds:
        """Bonds of an atom of a sketch with a census, worked out once."""
        bonds = census.bonds.get(i)
        if bonds is None:
            bonds = census.bonds[i] = self.bonds(sketch, i)
        return bonds

    def is_beside(self, sketch: Sketch, census: Census, i: int) -> bool:
        """True if a neighbor is a nitrogen with four bonds."""
        return bool(census.cations) and not census.cations.isdisjoint(sketch.near[i])

    def write(self, after: Sketch, filled: list[Filled]) -> None:
        """Give atoms their hydrogens, in place."""
        for i, bonds, wanted in filled:
            for j in bonds.hydrogens[wanted:]:
                after.remove(j)
            if wanted > len(bonds.hydrogens):
                after.hang(i, self.hydrogen, self.bond, wanted - len(bonds.hydrogens))
