"""Measures of a molecule beside the one that it was made from: scaffold, similarity, stereocentres, synthesis."""

from functools import cache
from typing import TYPE_CHECKING, Any

from ..data.ames import murcko_scaffold
from ..data.molecules.building import no_logs, rdkit_chem
from ..errors import require
from .portrait import Portrait
from .synthesis import FragmentScores

if TYPE_CHECKING:
    import rdkit.Chem

_PURPOSE = "Measuring molecules"
_RADIUS, _BITS = 2, 2048
_HALOGENS = (9, 17, 35, 53)


def scaffold_kept(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol") -> bool:
    """True if both molecules have the same Murcko scaffold, or neither has a ring.

    Example:
        >>> from rdkit import Chem
        >>> phenol, pyridinol = Chem.MolFromSmiles("Oc1ccccc1"), Chem.MolFromSmiles("Oc1ccccn1")
        >>> scaffold_kept(phenol, Chem.MolFromSmiles("Clc1ccccc1")), scaffold_kept(phenol, pyridinol)
        (True, False)
    """
    with no_logs():
        first, second = (murcko_scaffold(_plain_smiles(mol)) for mol in (before, after))
    return first == second


def similarity(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol") -> float:
    """Tanimoto similarity, from 0 to 1, of Morgan fingerprints of radius 2 with 2,048 bits, known as ECFP4.

    Example:
        >>> from rdkit import Chem
        >>> round(similarity(Chem.MolFromSmiles("CCO"), Chem.MolFromSmiles("CCN")), 2)
        0.33
    """
    structs = require("rdkit.DataStructs", "mol", _PURPOSE)
    return float(structs.TanimotoSimilarity(*(_generator().GetFingerprint(mol) for mol in (before, after))))


def num_stereocenters(mol: "rdkit.Chem.Mol") -> int:
    """Number of tetrahedral stereocentres, assigned or not.

    Example:
        >>> from rdkit import Chem
        >>> num_stereocenters(Chem.MolFromSmiles("CC(O)C(F)Cl"))
        2
    """
    Chem = rdkit_chem()
    found = Chem.FindPotentialStereo(Chem.Mol(mol))
    return sum(one.type == Chem.StereoType.Atom_Tetrahedral for one in found)


def new_stereocenters(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol") -> int:
    """Number of stereocentres that `after` has more than `before`, at least 0; those of double bonds do not count."""
    return max(num_stereocenters(after) - num_stereocenters(before), 0)


def halogens_added(before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol") -> int:
    """Number of halogen atoms that `after` has more than `before`, at least 0."""
    counts = [sum(atom.GetAtomicNum() in _HALOGENS for atom in mol.GetAtoms()) for mol in (before, after)]
    return max(counts[1] - counts[0], 0)


def synthetic_accessibility(mol: "rdkit.Chem.Mol") -> float:
    """Score of how hard a molecule is to make, from 1 (easy) to 10: Ertl and Schuffenhauer, J. Cheminf. 1:8 (2009).

    Args:
        mol: A sanitized molecule with at least one atom.

    Returns:
        The score, as the program of its authors that comes with RDKit gives it.

    Example:
        >>> from rdkit import Chem
        >>> round(synthetic_accessibility(Chem.MolFromSmiles("CC(=O)Nc1ccc(O)cc1")), 1)
        1.4
    """
    return Portrait(mol).synthetic_accessibility(FragmentScores.packaged())


def _plain_smiles(mol: "rdkit.Chem.Mol") -> str:
    return rdkit_chem().MolToSmiles(mol, isomericSmiles=False)


@cache
def _generator() -> Any:
    generators = require("rdkit.Chem.rdFingerprintGenerator", "mol", _PURPOSE)
    return generators.GetMorganGenerator(radius=_RADIUS, fpSize=_BITS)
