"""Rings: the rings of a molecule, and those of its bonds that are aromatic, as RDKit sees them."""

from typing import TYPE_CHECKING, NamedTuple

from ....data.molecules.building import build_mol, sanitize_mol
from ..atoms.rules import AbstractMoleculeRules
from ..sketch import Pair, Sketch

if TYPE_CHECKING:
    import rdkit.Chem


_AROMATIC = 1.5  # order of an aromatic bond, for RDKit


class HeavyAtoms(NamedTuple):
    """The heavy atoms of a sketch as an RDKit molecule.

    Args:
        mol: The sanitized molecule; hydrogens are implied.
        slots: Node of the sketch for each atom.
    """

    mol: "rdkit.Chem.Mol"
    slots: list[int]

    @classmethod
    def of(cls, sketch: Sketch, rules: AbstractMoleculeRules) -> "HeavyAtoms | None":
        """Build the molecule, and keep it with the sketch; None if RDKit does not accept it."""
        if sketch.atoms is None:
            sketch.atoms = (cls._built(sketch, rules),)
        return sketch.atoms[0]

    @classmethod
    def _built(cls, sketch: Sketch, rules: AbstractMoleculeRules) -> "HeavyAtoms | None":
        slots = rules.heavy(sketch)
        number, order = {i: k for k, i in enumerate(slots)}, rules.order
        bonds = [
            (number[i], number[j], order(bond))
            for i, near in sketch.near.items()
            if i in number
            for j, bond in near.items()
            if i < j and j in number
        ]
        charges = rules.charges(sketch)
        mol = build_mol([rules.symbol(sketch.nodes[i]) for i in slots], bonds, [charges.get(i, 0) for i in slots])
        return None if sanitize_mol(mol) else cls(mol, slots)


class Rings(NamedTuple):
    """Smallest rings of a molecule.

    Args:
        all: Nodes of each ring, in order around it.
        aromatic: Those of the rings that are aromatic.
        bonds: Aromatic bonds, in both directions.
        fixed: The same, and double bonds that hang on aromatic rings.
        aromatic_atoms: Nodes in aromatic rings.
    """

    all: tuple[tuple[int, ...], ...] = ()
    aromatic: tuple[tuple[int, ...], ...] = ()
    bonds: frozenset[Pair] = frozenset()
    fixed: frozenset[Pair] = frozenset()
    aromatic_atoms: frozenset[int] = frozenset()

    @classmethod
    def of(cls, sketch: Sketch, rules: AbstractMoleculeRules) -> "Rings":
        """Find the rings of a sketch, and keep them with it; none if RDKit does not accept the molecule."""
        if sketch.rings is None:
            atoms = HeavyAtoms.of(sketch, rules)
            sketch.rings = cls() if atoms is None else cls._found(atoms)
        return sketch.rings

    @classmethod
    def _found(cls, atoms: HeavyAtoms) -> "Rings":
        mol, slots = atoms
        info = mol.GetRingInfo()
        rings = tuple(tuple(slots[k] for k in ring) for ring in info.AtomRings())
        is_aromatic = [all(mol.GetBondWithIdx(k).GetIsAromatic() for k in ring) for ring in info.BondRings()]
        inside = frozenset(slots[atom.GetIdx()] for atom in mol.GetAtoms() if atom.GetIsAromatic())
        ends = [
            ((slots[b.GetBeginAtomIdx()], slots[b.GetEndAtomIdx()]), b.GetBondTypeAsDouble()) for b in mol.GetBonds()
        ]
        bonds = [pair for pair, order in ends if order == _AROMATIC]
        hanging = [pair for pair, order in ends if order == 2 and not inside.isdisjoint(pair)]
        aromatic = tuple(ring for ring, yes in zip(rings, is_aromatic, strict=True) if yes)
        return cls(rings, aromatic, _both_ways(bonds), _both_ways([*bonds, *hanging]), inside)


def _both_ways(pairs: list[Pair]) -> frozenset[Pair]:
    return frozenset([*pairs, *((j, i) for i, j in pairs)])
