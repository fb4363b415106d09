"""Charges and hydrogens of a molecule against those that a graph of it can have."""

from typing import TYPE_CHECKING

from ...chemistry import HYPERVALENT, Bond, Chemistry
from .building import build_mol, rdkit_chem, sanitize_mol

if TYPE_CHECKING:
    import rdkit.Chem


def plain_mol(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """Copy a molecule without isotopes, stereo marks, hydrogen atoms, aromatic bonds; S=O rather than S(+)-O(-)."""
    Chem = rdkit_chem()
    mol = Chem.Mol(mol)
    for atom in mol.GetAtoms():
        atom.SetIsotope(0)
    Chem.RemoveStereochemistry(mol)
    mol = Chem.RWMol(Chem.RemoveHs(mol, sanitize=False))
    mol.UpdatePropertyCache(strict=False)
    # RDKit ranks atoms before it chooses the double bonds, so the choice does not depend on their order.
    Chem.Kekulize(mol, clearAromaticFlags=True)
    for bond in mol.GetBonds():
        for center, oxygen in ((bond.GetBeginAtom(), bond.GetEndAtom()), (bond.GetEndAtom(), bond.GetBeginAtom())):
            if center.GetSymbol() in HYPERVALENT and center.GetFormalCharge() > 0 and _is_oxide(oxygen):
                bond.SetBondType(Chem.BondType.DOUBLE)
                center.SetFormalCharge(center.GetFormalCharge() - 1)
                oxygen.SetFormalCharge(0)
    return mol.GetMol()


def charge_mismatch(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> str | None:
    """Describe the first atom whose charge or hydrogens a graph of this chemistry cannot have; None if all fit."""
    return _hydrogen_mismatch(mol, chemistry) if chemistry.stored_charges else _rule_mismatch(mol, chemistry)


def _hydrogen_mismatch(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> str | None:
    """Describe the first atom whose hydrogens do not follow from its charge and its bonds."""
    for atom in mol.GetAtoms():
        symbol, charge, found = atom.GetSymbol(), atom.GetFormalCharge(), atom.GetTotalNumHs()
        valence = sum(int(bond.GetBondTypeAsDouble()) for bond in atom.GetBonds())
        wanted = chemistry.num_hydrogens(symbol, charge, valence)
        if chemistry.ion_valences(symbol, 0) and wanted != found:
            name = f"{symbol}{charge:+d}" if charge else symbol
            hydrogens = "1 hydrogen" if wanted == 1 else f"{wanted} hydrogens"
            room = "fewer bonds or another charge" if wanted is None else hydrogens
            return (
                f"Atom {atom.GetIdx()} ({name}) must have a filled valence, which takes {room}; got {found} beside "
                f"bonds of order {valence} in all. Radicals, carbenes and oxides of chlorine and bromine cannot be "
                "read: give a molecule whose valences are filled, or leave it out."
            )
    return None


def _rule_mismatch(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> str | None:
    """Describe the first atom whose charge or hydrogens are not those that its bonds imply."""
    symbols, bonds = _symbols_and_bonds(mol)
    charges = chemistry.formal_charges(symbols, bonds)
    told = build_mol(symbols, bonds, charges)
    problem = sanitize_mol(told)
    if problem:
        return f"The molecule must be valid with charges that its bonds imply; RDKit says: {problem}. Leave it out."
    for atom, charge, like in zip(mol.GetAtoms(), charges, told.GetAtoms(), strict=True):
        if (atom.GetFormalCharge(), atom.GetTotalNumHs()) != (charge, like.GetTotalNumHs()):
            return (
                f"Atom {atom.GetIdx()} ({atom.GetSymbol()}) must have the charge and hydrogens that its bonds imply, "
                f"because graphs carry no charges: {charge:+d} and {like.GetTotalNumHs()}; got "
                f"{atom.GetFormalCharge():+d} and {atom.GetTotalNumHs()}. "
                "Write the neutral form, or read it so with `from_smiles(..., strict=False)`."
            )
    return None


def settled_mol(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> "rdkit.Chem.Mol":
    """Copy a molecule with every open valence filled with hydrogens, and charges by the rule where none are stored."""
    settled = rdkit_chem().Mol(mol)
    charges = Chemistry(explicit_hydrogens=False).formal_charges(*_symbols_and_bonds(mol))
    for atom, charge in zip(settled.GetAtoms(), charges, strict=True):
        atom.SetFormalCharge(atom.GetFormalCharge() if chemistry.stored_charges else charge)
        atom.SetNumExplicitHs(0)
        atom.SetNumRadicalElectrons(0)
        atom.SetNoImplicit(False)
    settled.UpdatePropertyCache(strict=False)
    return settled


def _symbols_and_bonds(mol: "rdkit.Chem.Mol") -> tuple[list[str], list[Bond]]:
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in mol.GetBonds()]
    return [atom.GetSymbol() for atom in mol.GetAtoms()], bonds


def _is_oxide(atom: "rdkit.Chem.Atom") -> bool:
    return atom.GetSymbol() == "O" and atom.GetFormalCharge() == -1 and atom.GetDegree() == 1
