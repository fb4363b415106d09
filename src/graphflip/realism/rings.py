"""Ring systems of a molecule as text, and the aromatic rings that a change keeps whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.molecules.building import no_logs, rdkit_chem
from ..errors import GraphError

if TYPE_CHECKING:
    import rdkit.Chem


@dataclass(frozen=True)
class RingSystem:
    """Rings that share atoms, fused or spiro, with the atoms that hang on them by double bonds.

    Args:
        smiles: Canonical SMILES without stereo marks; hydrogens stand where substituents were cut off, and no charge is
            left that a proton accounts for. Equal for every molecule that contains the system.
        atoms: Indices of its atoms in the molecule, sorted.
    """

    smiles: str
    atoms: tuple[int, ...]


def ring_systems(mol: "rdkit.Chem.Mol") -> list[RingSystem]:
    """List the ring systems of a molecule.

    Args:
        mol: A sanitized molecule of heavy atoms.

    Returns:
        Each system once, in the order of their first atoms.

    Example:
        >>> from rdkit import Chem
        >>> [system.smiles for system in ring_systems(Chem.MolFromSmiles("O=C1CCCC1Cc1ccc2[nH]ccc2c1"))]
        ['O=C1CCCC1', 'c1ccc2[nH]ccc2c1']
    """
    kekule = rdkit_chem().Mol(mol)
    rdkit_chem().Kekulize(kekule, clearAromaticFlags=True)
    return [RingSystem(_cut_out(kekule, atoms), tuple(sorted(atoms))) for atoms in _systems(kekule)]


def aromatic_kept(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol", kept_atoms: Mapping[int, int]) -> bool:
    """True if a change breaks no aromatic ring: each is kept, or changed as a whole.

    An aromatic ring is one of the smallest rings, all of whose bonds are aromatic. It may have other atoms or other
    substituents, become another aromatic ring, lose all of its double bonds that are not part of another aromatic ring
    (naphthalene to tetralin), or be taken away with all atoms that are in no other ring, of which one may stay as a
    part of something else. A ring that is cut open, partly hydrogenated, or quinoid is broken.

    Args:
        before: The molecule before the change, sanitized, of heavy atoms.
        after: The molecule after the change.
        kept_atoms: Index after the change of each atom that stays, by its index before; the element may be another.

    Returns:
        True if no aromatic ring of `before` is broken in `after`.

    Example:
        >>> from rdkit import Chem
        >>> benzene, same = Chem.MolFromSmiles("c1ccccc1"), {k: k for k in range(6)}
        >>> [aromatic_kept(benzene, Chem.MolFromSmiles(text), same) for text in ("c1ccccn1", "C1CCCCC1", "C1CC=CC=C1")]
        [True, True, False]
    """
    rings, afterwards = _rings(before), _rings(after)
    return all(_is_whole(ring, rings, before, afterwards, after, kept_atoms) for ring in rings if ring.is_aromatic)


def has_aromatic_ring(mol: "rdkit.Chem.Mol") -> bool:
    """True if all bonds of one of the smallest rings are aromatic."""
    return any(ring.is_aromatic for ring in _rings(mol))


class _Ring(NamedTuple):
    """One of the smallest rings: its atoms, its bonds, and True if all of these are aromatic."""

    atoms: frozenset[int]
    bonds: tuple[int, ...]
    is_aromatic: bool


def _rings(mol: "rdkit.Chem.Mol") -> list[_Ring]:
    info = mol.GetRingInfo()
    aromatic = [all(mol.GetBondWithIdx(bond).GetIsAromatic() for bond in bonds) for bonds in info.BondRings()]
    return [
        _Ring(frozenset(atoms), bonds, is_aromatic)
        for atoms, bonds, is_aromatic in zip(info.AtomRings(), info.BondRings(), aromatic, strict=True)
    ]


def _is_whole(
    ring: _Ring,
    rings: list[_Ring],
    before: "rdkit.Chem.Mol",
    afterwards: list[_Ring],
    after: "rdkit.Chem.Mol",
    kept_atoms: Mapping[int, int],
) -> bool:
    """True if an aromatic ring is aromatic, saturated or gone after a change; `afterwards` are the rings then."""
    stay = {kept_atoms[atom] for atom in ring.atoms if atom in kept_atoms}
    if len(stay) < len(ring.atoms):
        own = ring.atoms.difference(*(other.atoms for other in rings if other is not ring))
        if len(own & kept_atoms.keys()) <= 1:
            return True
    homes = [home for home in afterwards if stay <= home.atoms]
    if any(home.is_aromatic for home in homes):
        return True
    if not _bonds_stay(ring, before, after, kept_atoms):
        return False
    aromatic = {bond for other in afterwards if other.is_aromatic for bond in other.bonds}
    return any(_is_saturated(after, set(home.bonds) - aromatic) for home in homes)


def _bonds_stay(ring: _Ring, before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol", kept_atoms: Mapping[int, int]) -> bool:
    """True if all bonds between atoms of a ring that stay are there after the change."""
    bonds = map(before.GetBondWithIdx, ring.bonds)
    ends = [(kept_atoms.get(bond.GetBeginAtomIdx()), kept_atoms.get(bond.GetEndAtomIdx())) for bond in bonds]
    return all(after.GetBondBetweenAtoms(i, j) for i, j in ends if i is not None and j is not None)


def _is_saturated(mol: "rdkit.Chem.Mol", bonds: set[int]) -> bool:
    """True if all of the bonds are single."""
    return all(mol.GetBondWithIdx(bond).GetBondTypeAsDouble() == 1 for bond in bonds)


def _systems(mol: "rdkit.Chem.Mol") -> list[set[int]]:
    """Atoms of each ring system of a molecule without aromatic bonds, with those on double bonds."""
    systems: list[set[int]] = []
    for ring in map(set, mol.GetRingInfo().AtomRings()):
        joined = [system for system in systems if system & ring]
        systems = [system for system in systems if not system & ring] + [ring.union(*joined)]
    for system in systems:
        bonds = [bond for atom in list(system) for bond in mol.GetAtomWithIdx(atom).GetBonds()]
        for bond in bonds:
            if bond.GetBondTypeAsDouble() == 2:
                system |= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
    return sorted(systems, key=min)


class _Atom(NamedTuple):
    """An atom of a ring system that stands for itself, with hydrogens in place of what was cut off."""

    number: int
    charge: int
    hydrogens: int
    radicals: int


_Joint = tuple[int, int, Any]
"""A bond: positions of its ends, and its type."""


def _cut_out(mol: "rdkit.Chem.Mol", atoms: set[int]) -> str:
    """Write some atoms of a molecule without aromatic bonds as a molecule of their own."""
    place = {index: k for k, index in enumerate(sorted(atoms))}
    bonds = ((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond) for bond in mol.GetBonds())
    joints = tuple((place[i], place[j], bond.GetBondType()) for i, j, bond in bonds if i in place and j in place)
    return _written(tuple(_capped(mol.GetAtomWithIdx(index), atoms) for index in place), joints)


@lru_cache(maxsize=2**12)  # the same few ring systems are in most of the molecules that one search looks at
def _written(atoms: tuple[_Atom, ...], joints: tuple[_Joint, ...]) -> str:
    """SMILES of a ring system without stereo marks."""
    Chem = rdkit_chem()
    part = Chem.RWMol()
    for one in atoms:
        atom = Chem.Atom(one.number)
        atom.SetFormalCharge(one.charge)
        atom.SetNumExplicitHs(one.hydrogens)
        atom.SetNoImplicit(True)
        atom.SetNumRadicalElectrons(one.radicals)
        part.AddAtom(atom)
    for joint in joints:
        part.AddBond(*joint)
    with no_logs():
        try:
            Chem.SanitizeMol(part)
        except Chem.MolSanitizeException as error:
            raise GraphError(f"Ring systems must be those of a sanitized molecule; RDKit says: {error}.") from error
        return Chem.MolToSmiles(part, isomericSmiles=False)


def _capped(atom: "rdkit.Chem.Atom", atoms: set[int]) -> _Atom:
    """An atom with hydrogens in place of neighbors that are not among `atoms`; protons leave with their charge."""
    cut = [bond for bond in atom.GetBonds() if bond.GetOtherAtomIdx(atom.GetIdx()) not in atoms]
    hydrogens = atom.GetTotalNumHs() + sum(int(bond.GetBondTypeAsDouble()) for bond in cut)
    charge = atom.GetFormalCharge()
    protons = min(hydrogens, charge) if charge > 0 else charge
    return _Atom(atom.GetAtomicNum(), charge - protons, hydrogens - protons, atom.GetNumRadicalElectrons())
