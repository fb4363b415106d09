"""Remarks: what a model does not see of a molecule, and what became of it, in plain words."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...chemistry import OTHER
from .counterions import part_name
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
        names = Counter(part_name(mol, part) for part in left_out(mol))
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
