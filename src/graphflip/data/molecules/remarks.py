"""Remarks: what a model does not see of a molecule, and what became of it, in plain words."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ...chemistry import OTHER
from ...errors import require
from .building import no_logs, rdkit_chem
from .drawn import SLOT, DrawnMolecule, left_out

if TYPE_CHECKING:
    import rdkit.Chem


def remarks_on(drawn: DrawnMolecule, before: "rdkit.Chem.Mol", after: "rdkit.Chem.Mol | None") -> tuple[str, ...]:
    """Say what was left out of the graph of a drawn molecule; `after` is the molecule with the changes, if any."""
    had, has = _Hidden.of(before), None if after is None else _Hidden.of(after)
    return (
        *_on_parts(drawn, had, has),
        *_on_marks("Stereo marks are", had.stereo, None if has is None else has.stereo, "places"),
        *_on_marks("Isotopes are", had.isotopes, None if has is None else has.isotopes, "atoms"),
        *_on_elements(drawn),
    )


class _Hidden(NamedTuple):
    """Numbers of stereo marks and isotopes of the explained part, and the names of the other parts, counted."""

    stereo: int
    isotopes: int
    parts: Counter[str]

    @classmethod
    def of(cls, mol: "rdkit.Chem.Mol") -> "_Hidden":
        others = {number for part in left_out(mol) for number in part}
        atoms = [atom for atom in mol.GetAtoms() if atom.GetIdx() not in others]
        centers = sum(atom.GetChiralTag().name != "CHI_UNSPECIFIED" for atom in atoms)
        bonds = [bond.GetStereo().name for bond in mol.GetBonds() if bond.GetBeginAtomIdx() not in others]
        sides = sum(name not in ("STEREONONE", "STEREOANY") for name in bonds)
        names = Counter(_part_name(mol, part) for part in left_out(mol))
        return cls(centers + sides, sum(atom.GetIsotope() > 0 for atom in atoms), names)


def _on_parts(drawn: DrawnMolecule, had: _Hidden, has: _Hidden | None) -> Iterator[str]:
    """Say which parts were left out, and if they are in the answer."""
    form = "The neutral form of the largest part was explained" if drawn.neutral else "The largest part was explained"
    lost = Counter() if has is None else had.parts - has.parts
    kept = had.parts - lost
    if kept:
        yield f"{form}; left out and carried along: {_listed(kept)}."
    if lost:
        yield f"{form}; left out, because its charge changes: {_listed(lost)}."
    if drawn.neutral and not had.parts:
        yield "The neutral form was explained; charges are put back where nothing changed."


def _on_marks(what: str, had: int, has: int | None, places: str) -> Iterator[str]:
    """Say how many stereo marks or isotopes are in the answer."""
    if had:
        kept = "" if has is None else f"; kept at {has} of {had} {places}, where nothing changed"
        yield f"{what} not seen by the model{kept}."


def _on_elements(drawn: DrawnMolecule) -> Iterator[str]:
    """Say which atoms are of elements that the schema has no name for."""
    others = [
        f"{atom.GetSymbol()} (atom {atom.GetIntProp(SLOT)})"
        for atom in drawn.mol.GetAtoms()
        if atom.HasProp(SLOT) and dict(drawn.before[atom.GetIntProp(SLOT)].attributes)["type"] == OTHER
    ]
    if others:
        is_ = "is" if len(others) == 1 else "are"
        yield f"{', '.join(others)} {is_} not known to the model, read as '{OTHER}'."


def _listed(parts: Counter[str]) -> str:
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in sorted(parts.items()))


def _part_name(mol: "rdkit.Chem.Mol", part: tuple[int, ...]) -> str:
    """Name a part of a molecule by the numbers of its atoms, "sodium (Na+)"; by its formula if it has no common name.

    Args:
        mol: A molecule of several parts.
        part: Numbers of the atoms of one of them.

    Returns:
        The name with the formula, or the formula alone.
    """
    Chem = rdkit_chem()
    formulas = require("rdkit.Chem.rdMolDescriptors", "mol", "Naming counter-ions")
    written = Chem.MolFragmentToSmiles(mol, part)
    with no_logs():
        alone = Chem.MolFromSmiles(written)
    if alone is None:
        return written
    flat = Chem.MolToSmiles(alone, isomericSmiles=False)
    name, formula = _names().get(written) or _names().get(flat), formulas.CalcMolFormula(alone)
    return formula if name is None else f"{name} ({formula})"


@cache
def _names() -> dict[str, str]:
    """Names by canonical SMILES."""
    return {rdkit_chem().CanonSmiles(smiles): name for name, smiles in _WRITTEN.items()}


_WRITTEN = {
    "sodium": "[Na+]",
    "potassium": "[K+]",
    "lithium": "[Li+]",
    "calcium": "[Ca+2]",
    "magnesium": "[Mg+2]",
    "zinc": "[Zn+2]",
    "aluminium": "[Al+3]",
    "ammonium": "[NH4+]",
    "ammonia": "N",
    "hydroxide": "[OH-]",
    "water": "O",
    "fluoride": "[F-]",
    "chloride": "[Cl-]",
    "bromide": "[Br-]",
    "iodide": "[I-]",
    "hydrogen fluoride": "F",
    "hydrogen chloride": "Cl",
    "hydrogen bromide": "Br",
    "hydrogen iodide": "I",
    "sulfate": "[O-]S(=O)(=O)[O-]",
    "hydrogen sulfate": "OS(=O)(=O)[O-]",
    "sulfuric acid": "OS(=O)(=O)O",
    "nitrate": "[O-][N+](=O)[O-]",
    "nitric acid": "O[N+](=O)[O-]",
    "phosphate": "[O-]P(=O)([O-])[O-]",
    "dihydrogen phosphate": "OP(=O)(O)[O-]",
    "phosphoric acid": "OP(=O)(O)O",
    "perchlorate": "[O-][Cl+3]([O-])([O-])[O-]",
    "perchloric acid": "OCl(=O)(=O)=O",
    "tetrafluoroborate": "F[B-](F)(F)F",
    "hexafluorophosphate": "F[P-](F)(F)(F)(F)F",
    "carbonate": "[O-]C(=O)[O-]",
    "hydrogen carbonate": "OC(=O)[O-]",
    "formate": "[O-]C=O",
    "formic acid": "OC=O",
    "acetate": "CC(=O)[O-]",
    "acetic acid": "CC(=O)O",
    "trifluoroacetate": "[O-]C(=O)C(F)(F)F",
    "trifluoroacetic acid": "OC(=O)C(F)(F)F",
    "oxalate": "[O-]C(=O)C(=O)[O-]",
    "oxalic acid": "OC(=O)C(=O)O",
    "succinate": "[O-]C(=O)CCC(=O)[O-]",
    "succinic acid": "OC(=O)CCC(=O)O",
    "maleate": "[O-]C(=O)/C=C\\C(=O)[O-]",
    "hydrogen maleate": "OC(=O)/C=C\\C(=O)[O-]",
    "maleic acid": "OC(=O)/C=C\\C(=O)O",
    "fumarate": "[O-]C(=O)/C=C/C(=O)[O-]",
    "hydrogen fumarate": "OC(=O)/C=C/C(=O)[O-]",
    "fumaric acid": "OC(=O)/C=C/C(=O)O",
    "maleate or fumarate": "[O-]C(=O)C=CC(=O)[O-]",
    "maleic or fumaric acid": "OC(=O)C=CC(=O)O",
    "malic acid": "OC(=O)CC(O)C(=O)O",
    "tartrate": "[O-]C(=O)C(O)C(O)C(=O)[O-]",
    "tartaric acid": "OC(=O)C(O)C(O)C(=O)O",
    "citrate": "[O-]C(=O)CC(O)(CC(=O)[O-])C(=O)[O-]",
    "citric acid": "OC(=O)CC(O)(CC(=O)O)C(=O)O",
    "lactic acid": "CC(O)C(=O)O",
    "mesylate": "CS(=O)(=O)[O-]",
    "methanesulfonic acid": "CS(=O)(=O)O",
    "besylate": "[O-]S(=O)(=O)c1ccccc1",
    "benzenesulfonic acid": "OS(=O)(=O)c1ccccc1",
    "tosylate": "Cc1ccc(cc1)S(=O)(=O)[O-]",
    "toluenesulfonic acid": "Cc1ccc(cc1)S(=O)(=O)O",
    "picric acid": "Oc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]",
    "benzoic acid": "OC(=O)c1ccccc1",
    "salicylic acid": "OC(=O)c1ccccc1O",
    "meglumine": "CNCC(O)C(O)C(O)C(O)CO",
    "tromethamine": "NC(CO)(CO)CO",
    "choline": "C[N+](C)(C)CCO",
    "methanol": "CO",
    "ethanol": "CCO",
    "isopropanol": "CC(C)O",
    "acetone": "CC(C)=O",
    "acetonitrile": "CC#N",
    "dimethylformamide": "CN(C)C=O",
    "dimethyl sulfoxide": "CS(C)=O",
    "dichloromethane": "ClCCl",
    "chloroform": "ClC(Cl)Cl",
    "dioxane": "C1COCCO1",
    "pyridine": "c1ccncc1",
    "benzene": "c1ccccc1",
    "toluene": "Cc1ccccc1",
}
