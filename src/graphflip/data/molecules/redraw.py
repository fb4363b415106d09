"""A drawn molecule with other atoms and bonds in some slots; everything that does not change stays as it is drawn."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...chemistry import OTHER
from .building import no_logs, rdkit_chem, sanitize_mol
from .drawn import SLOT, AtomState, DrawnMolecule, left_out, slots_of

if TYPE_CHECKING:
    import rdkit.Chem

States = Mapping[int, AtomState]


def redraw(drawn: DrawnMolecule, after: States) -> "rdkit.Chem.Mol | None":
    """Change a drawn molecule to the states that its slots have afterwards; None if RDKit does not accept it.

    Isotopes stay with their atoms, stereo marks where atom, bonds and neighbors stay. Charged parts beside the
    explained one are left out if its net charge changes.
    """
    Chem = rdkit_chem()
    mol, before = Chem.RWMol(drawn.mol), drawn.before
    touched = {slot for slot in before.keys() | after.keys() if before.get(slot) != after.get(slot)}
    redrawn = touched.union(*(unit for unit in drawn.units if unit & touched))
    marks = _take_marks(mol, before, after)
    implied = _implied_hydrogens(mol, before, after)
    heavy = {slot: state for slot, state in after.items() if slot not in implied}
    _set_atoms(mol, heavy, redrawn, implied)
    _set_bonds(mol, heavy, redrawn)
    _give_marks(mol, marks)
    _remove_atoms(mol, [number for slot, number in slots_of(mol).items() if slot not in heavy])
    if _net_charge(mol) != _net_charge(drawn.mol):
        _remove_atoms(mol, [number for part in left_out(mol) if _charge(mol, part) for number in part])
    if mol.GetNumAtoms() == 0 or sanitize_mol(mol):
        return None
    with no_logs():
        Chem.SetDoubleBondNeighborDirections(mol)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    return mol.GetMol()


class _Mark(NamedTuple):
    """Stereo of a double bond: its two atoms, a neighbor of each, and the side on which these are."""

    ends: tuple[int, int]
    neighbors: tuple[int, int]
    stereo: Any


def _take_marks(mol: "rdkit.Chem.RWMol", before: States, after: States) -> list[_Mark]:
    """Remove all stereo marks of double bonds, and those of centers that change; returns the marks to give again."""
    Chem = rdkit_chem()
    sides = {name: Chem.BondStereo.names[f"STEREO{side}"] for name, side in _SIDES.items()}
    for atom in mol.GetAtoms():
        if not _stays(atom, before, after):
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    marks = []
    for bond in mol.GetBonds():
        ends, stereo = (bond.GetBeginAtom(), bond.GetEndAtom()), sides.get(bond.GetStereo().name)
        if stereo is not None and all(_stays(atom, before, after) for atom in ends):
            first, second = bond.GetStereoAtoms()
            marks.append(_Mark((ends[0].GetIdx(), ends[1].GetIdx()), (first, second), stereo))
    for bond in mol.GetBonds():
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondDir(Chem.BondDir.NONE)
    return marks


_SIDES = {"STEREOE": "TRANS", "STEREOTRANS": "TRANS", "STEREOZ": "CIS", "STEREOCIS": "CIS"}


def _stays(atom: "rdkit.Chem.Atom", before: States, after: States) -> bool:
    """True if an atom, its bonds and its neighbors stay, as those of parts without nodes do."""
    if not atom.HasProp(SLOT):
        return True
    slot = atom.GetIntProp(SLOT)
    return before[slot] == after.get(slot) and all(
        before[neighbor][:2] == after[neighbor][:2] for neighbor, _ in before[slot].bonds
    )


def _give_marks(mol: "rdkit.Chem.RWMol", marks: list[_Mark]) -> None:
    for mark in marks:
        bond = mol.GetBondBetweenAtoms(*mark.ends)
        bond.SetStereoAtoms(*mark.neighbors)
        bond.SetStereo(mark.stereo)


def _implied_hydrogens(mol: "rdkit.Chem.RWMol", before: States, after: States) -> set[int]:
    """Slots of hydrogens that are nodes and are not drawn as atoms."""
    drawn = {slot for slot in slots_of(mol) if _symbol(before[slot]) == "H"}
    return {slot for slot, state in after.items() if _symbol(state) == "H"} - drawn


def _set_atoms(mol: "rdkit.Chem.RWMol", after: States, redrawn: Collection[int], implied: Collection[int]) -> None:
    """Give the redrawn slots their atoms: those that are there another state, new ones to slots that had none."""
    Chem, at = rdkit_chem(), slots_of(mol)
    for slot in sorted(redrawn & after.keys()):
        symbol = _symbol(after[slot])
        if slot not in at:
            at[slot] = mol.AddAtom(Chem.Atom(0 if symbol == OTHER else symbol))
            mol.GetAtomWithIdx(at[slot]).SetIntProp(SLOT, slot)
        atom = mol.GetAtomWithIdx(at[slot])
        if symbol not in (OTHER, atom.GetSymbol()):
            atom.SetAtomicNum(Chem.GetPeriodicTable().GetAtomicNumber(symbol))
            atom.SetIsotope(0)
        atom.SetFormalCharge(after[slot].charge)
        if symbol != OTHER:
            atom.SetNumExplicitHs(sum(neighbor in implied for neighbor, _ in after[slot].bonds))
            atom.SetNoImplicit(False)
    loose = [_hydrogens(mol.GetAtomWithIdx(at[slot])) for slot in redrawn if slot in at]
    _remove_atoms(mol, [number for numbers in loose for number in numbers])


def _set_bonds(mol: "rdkit.Chem.RWMol", after: States, redrawn: Collection[int]) -> None:
    """Give the redrawn slots their bonds."""
    Chem, at = rdkit_chem(), slots_of(mol)
    wanted = {
        (min(i, j), max(i, j)): order
        for i in redrawn & after.keys()
        for j, order in after[i].bonds
        if i in at and j in at
    }
    for bond in list(mol.GetBonds()):
        ends = bond.GetBeginAtom(), bond.GetEndAtom()
        if not all(atom.HasProp(SLOT) for atom in ends):
            continue
        i, j = sorted(atom.GetIntProp(SLOT) for atom in ends)
        if (i, j) in wanted:
            order = wanted.pop((i, j))
            if i in redrawn and j in redrawn:
                bond.SetBondType(Chem.BondType.values[order])
        elif i in redrawn and j in redrawn:
            mol.RemoveBond(at[i], at[j])
    for (i, j), order in wanted.items():
        mol.AddBond(at[i], at[j], Chem.BondType.values[order])


def _hydrogens(atom: "rdkit.Chem.Atom") -> list[int]:
    """Neighbors that are no nodes: hydrogens that are drawn as atoms."""
    return [one.GetIdx() for one in atom.GetNeighbors() if not one.HasProp(SLOT)]


def _remove_atoms(mol: "rdkit.Chem.RWMol", numbers: Collection[int]) -> None:
    mol.BeginBatchEdit()
    for number in numbers:
        mol.RemoveAtom(number)
    mol.CommitBatchEdit()


def _symbol(state: AtomState) -> str:
    return str(dict(state.attributes)["type"])


def _net_charge(mol: "rdkit.Chem.Mol") -> int:
    """Charge of the atoms that are nodes."""
    return _charge(mol, slots_of(mol).values())


def _charge(mol: "rdkit.Chem.Mol", numbers: Collection[int]) -> int:
    return sum(mol.GetAtomWithIdx(number).GetFormalCharge() for number in numbers)
