"""Charges and hydrogens of a molecule against those that its bonds imply: graphs carry no charges."""

from typing import TYPE_CHECKING

from ...chemistry import Bond, Chemistry
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
            if center.GetSymbol() in _HYPERVALENT and center.GetFormalCharge() > 0 and _is_oxide(oxygen):
                bond.SetBondType(Chem.BondType.DOUBLE)
                center.SetFormalCharge(center.GetFormalCharge() - 1)
                oxygen.SetFormalCharge(0)
    return mol.GetMol()


def charge_mismatch(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> str | None:
    """Describe the first atom whose charge or hydrogens are not those that its bonds imply; None if there is none."""
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


def settled_mol(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """Copy a molecule with charges by the charge rule and every open valence filled with hydrogens."""
    settled = rdkit_chem().Mol(mol)
    charges = Chemistry(explicit_hydrogens=False).formal_charges(*_symbols_and_bonds(mol))
    for atom, charge in zip(settled.GetAtoms(), charges, strict=True):
        atom.SetFormalCharge(charge)
        atom.SetNumExplicitHs(0)
        atom.SetNumRadicalElectrons(0)
        atom.SetNoImplicit(False)
    settled.UpdatePropertyCache(strict=False)
    return settled


def _symbols_and_bonds(mol: "rdkit.Chem.Mol") -> tuple[list[str], list[Bond]]:
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in mol.GetBonds()]
    return [atom.GetSymbol() for atom in mol.GetAtoms()], bonds


_HYPERVALENT = ("P", "S", "Cl", "As", "Se", "Br", "I")


def _is_oxide(atom: "rdkit.Chem.Atom") -> bool:
    return atom.GetSymbol() == "O" and atom.GetFormalCharge() == -1 and atom.GetDegree() == 1
