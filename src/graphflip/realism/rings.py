"""Ring systems of a molecule as text, and the aromatic rings that a change keeps whole."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    rings = [set(ring) for ring in before.GetRingInfo().AtomRings()]
    alone = [ring - set().union(*(other for other in rings if other is not ring)) for ring in rings]
    aromatic = [is_aromatic for _, is_aromatic in _rings(before)]
    return all(
        _is_whole(before, after, ring, own, kept_atoms)
        for ring, own, is_aromatic in zip(rings, alone, aromatic, strict=True)
        if is_aromatic
    )


def has_aromatic_ring(mol: "rdkit.Chem.Mol") -> bool:
    """True if all bonds of one of the smallest rings are aromatic."""
    return any(is_aromatic for _, is_aromatic in _rings(mol))


def _is_whole(
    before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol", ring: set[int], own: set[int], kept_atoms: Mapping[int, int]
) -> bool:
    """True if an aromatic ring is aromatic, saturated or gone after a change; `own` are its atoms in no other ring."""
    stay = {kept_atoms[atom] for atom in ring if atom in kept_atoms}
    if len(stay) < len(ring) and len(own & kept_atoms.keys()) <= 1:
        return True
    homes = [(bonds, is_aromatic) for bonds, is_aromatic in _rings(after) if stay <= _atoms(after, bonds)]
    if any(is_aromatic for _, is_aromatic in homes):
        return True
    return _bonds_stay(before, after, ring, kept_atoms) and any(_is_saturated(after, bonds) for bonds, _ in homes)


def _bonds_stay(
    before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol", ring: set[int], kept_atoms: Mapping[int, int]
) -> bool:
    """True if all bonds between atoms of a ring that stay are there after the change."""
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in before.GetBonds()]
    pairs = [{kept_atoms[i], kept_atoms[j]} for i, j in ends if {i, j} <= ring & kept_atoms.keys()]
    there = [{bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()} for bond in after.GetBonds()]
    return all(pair in there for pair in pairs)


def _is_saturated(mol: "rdkit.Chem.Mol", ring: tuple[int, ...]) -> bool:
    """True if all bonds of a ring are single, but for those that are in an aromatic ring too."""
    aromatic = {bond for bonds, is_aromatic in _rings(mol) if is_aromatic for bond in bonds}
    return all(mol.GetBondWithIdx(bond).GetBondTypeAsDouble() == 1 for bond in ring if bond not in aromatic)


def _rings(mol: "rdkit.Chem.Mol") -> Iterator[tuple[tuple[int, ...], bool]]:
    """Bonds of each of the smallest rings, and True if all of them are aromatic."""
    for bonds in mol.GetRingInfo().BondRings():
        yield bonds, all(mol.GetBondWithIdx(bond).GetIsAromatic() for bond in bonds)


def _atoms(mol: "rdkit.Chem.Mol", bonds: tuple[int, ...]) -> set[int]:
    return {
        end for k in bonds for end in (mol.GetBondWithIdx(k).GetBeginAtomIdx(), mol.GetBondWithIdx(k).GetEndAtomIdx())
    }


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


def _cut_out(mol: "rdkit.Chem.Mol", atoms: set[int]) -> str:
    """Write some atoms of a molecule without aromatic bonds as a molecule of their own."""
    Chem = rdkit_chem()
    part, number = Chem.RWMol(), {}
    for index in sorted(atoms):
        number[index] = part.AddAtom(_capped(Chem, mol.GetAtomWithIdx(index), atoms))
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        if set(ends) <= atoms:
            part.AddBond(number[ends[0]], number[ends[1]], bond.GetBondType())
    with no_logs():
        try:
            Chem.SanitizeMol(part)
        except Chem.MolSanitizeException as error:
            raise GraphError(f"Ring systems must be those of a sanitized molecule; RDKit says: {error}.") from error
        return Chem.MolToSmiles(part, isomericSmiles=False)


def _capped(Chem: Any, atom: "rdkit.Chem.Atom", atoms: set[int]) -> "rdkit.Chem.Atom":
    """An atom with hydrogens in place of neighbors that are not among `atoms`; protons leave with their charge."""
    cut = [bond for bond in atom.GetBonds() if bond.GetOtherAtomIdx(atom.GetIdx()) not in atoms]
    hydrogens = atom.GetTotalNumHs() + sum(int(bond.GetBondTypeAsDouble()) for bond in cut)
    charge = atom.GetFormalCharge()
    protons = min(hydrogens, charge) if charge > 0 else charge
    capped = Chem.Atom(atom.GetAtomicNum())
    capped.SetFormalCharge(charge - protons)
    capped.SetNumExplicitHs(hydrogens - protons)
    capped.SetNoImplicit(True)
    capped.SetNumRadicalElectrons(atom.GetNumRadicalElectrons())
    return capped
