"""The parent of a salt or an ion: the molecule that a chemist means by it."""

from typing import TYPE_CHECKING

from ...errors import require

if TYPE_CHECKING:
    import rdkit.Chem


def parent_of(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """Take the largest part of a molecule, with carbon if any part has it, neutralized where protons can do so.

    Of sodium acetate that is acetic acid, of methylammonium chloride methylamine. Atoms stay in their order, bonds as
    they are written. Permanent charges (a quaternary ammonium, a nitro group) stay, and so do radicals.
    """
    standardize = require("rdkit.Chem.MolStandardize.rdMolStandardize", "mol", "Reading salts")
    with require("rdkit.rdBase", "mol", "Reading molecules").BlockLogs():
        return standardize.Uncharger().uncharge(largest_part(mol))


def largest_part(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """Take the largest part of a molecule as it is drawn, with carbon if any part has it; atoms stay in their order."""
    Chem = require("rdkit.Chem", "mol", "Reading molecules")
    with require("rdkit.rdBase", "mol", "Reading molecules").BlockLogs():
        parts = Chem.GetMolFrags(Chem.RemoveHs(mol, sanitize=False), asMols=True, sanitizeFrags=False)
        largest = max(parts, key=_size)
        largest.UpdatePropertyCache(strict=False)
        Chem.GetSymmSSSR(largest)
        return largest


def num_parts(mol: "rdkit.Chem.Mol") -> int:
    """Count the connected parts of a molecule."""
    return len(require("rdkit.Chem", "mol", "Reading molecules").GetMolFrags(mol))


def _size(part: "rdkit.Chem.Mol") -> tuple[bool, int, float, str]:
    """Sort key of the parts; its last entry keeps the choice from depending on how the molecule is spelled."""
    Chem = require("rdkit.Chem", "mol", "Reading molecules")
    atoms = part.GetAtoms()
    has_carbon = any(atom.GetAtomicNum() == 6 for atom in atoms)
    return has_carbon, part.GetNumHeavyAtoms(), sum(atom.GetMass() for atom in atoms), Chem.MolToSmiles(part)
