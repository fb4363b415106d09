"""A molecule as its author drew it, over the graph that was read from it: stereo, isotopes, counter-ions, elements."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...chemistry import BOND_ORDERS
from ...errors import GraphflipError
from ...graph import Graph
from .building import formal_charges, no_logs, rdkit_chem, sanitize_mol
from .reading import NodesAndEdges, parse_smiles, read_mol

if TYPE_CHECKING:
    import rdkit.Chem

SLOT = "slot"
"""Property of an atom: the slot of its node."""
_GIVEN = "given"
"""Property of an atom: its number in the molecule that was given."""


class AtomState(NamedTuple):
    """An atom of a graph: its attributes, its charge, and its bonds as pairs of neighbor and order."""

    attributes: tuple[tuple[str, Any], ...]
    charge: int
    bonds: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class DrawnMolecule:
    """A drawn molecule and the graph of its explained part.

    Args:
        mol: The whole molecule; atoms of the explained part have the property `slot`. Bonds are single, double and
            triple as in the graph, hydrogens are atoms only where they are isotopes or carry a stereo mark.
        before: State of each slot of the graph.
        units: Groups of slots that are drawn in another form than the graph has them: S(+)-O(-) rather than S=O, ions
            where the graph is neutral.
        neutral: True if the graph has another net charge than the drawing.
    """

    mol: "rdkit.Chem.Mol"
    before: dict[int, AtomState]
    units: list[set[int]]
    neutral: bool


def write_source(mol: "rdkit.Chem.Mol") -> str:
    """Write a molecule as SMILES that say, as CXSMILES, which atom is which where the order is not that of the text."""
    Chem = rdkit_chem()
    mol = Chem.Mol(mol)
    for atom in mol.GetAtoms():
        for name in atom.GetPropNames():
            atom.ClearProp(name)
        atom.SetAtomMapNum(0)
    with no_logs():
        text = Chem.MolToSmiles(mol, canonical=False)
        order = list(mol.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])
        if order == sorted(order):
            return text
        for atom in mol.GetAtoms():
            atom.SetProp(_GIVEN, str(atom.GetIdx()))
        return Chem.MolToCXSmiles(mol, _parameters(Chem), Chem.CXSmilesFields.CX_ATOM_PROPS)


def draw(source: str, factual: Graph) -> DrawnMolecule | None:
    """Parse a source and lay it over the graph; None if the graph is not what is read from the source."""
    try:
        given = _in_given_order(parse_smiles(source))
    except GraphflipError:
        return None
    for atom in given.GetAtoms():
        atom.SetIntProp(_GIVEN, atom.GetIdx())
    for parent in (True, False):
        try:
            complete, lists = read_mol(given, factual.schema, parent=parent)
        except GraphflipError:
            continue
        if _same(lists, factual):
            slots = {a.GetIntProp(_GIVEN): k for k, a in enumerate(complete.GetAtoms()) if a.HasProp(_GIVEN)}
            return _laid_over(given, slots, factual)
    return None


def atom_states(graph: Graph) -> dict[int, AtomState]:
    """States of the atoms of a hard graph by slot; hydrogens that are nodes count."""
    bonds: dict[int, set[tuple[int, int]]] = {}
    for i, j, edge in graph.edges():
        bonds.setdefault(i, set()).add((j, BOND_ORDERS[str(edge["type"])]))
        bonds.setdefault(j, set()).add((i, BOND_ORDERS[str(edge["type"])]))
    nodes = [(slot, tuple(sorted(node.items()))) for slot, node in enumerate(graph.nodes()) if node is not None]
    return {
        slot: AtomState(attributes, charge, frozenset(bonds.get(slot, ())))
        for (slot, attributes), charge in zip(nodes, formal_charges(graph), strict=True)
    }


def slots_of(mol: "rdkit.Chem.Mol") -> dict[int, int]:
    """Number of the atom of each slot."""
    return {atom.GetIntProp(SLOT): atom.GetIdx() for atom in mol.GetAtoms() if atom.HasProp(SLOT)}


def left_out(mol: "rdkit.Chem.Mol") -> list[tuple[int, ...]]:
    """Atoms of each part that has no node: counter-ions and solvents."""
    parts = rdkit_chem().GetMolFrags(mol)
    return [part for part in parts if not any(mol.GetAtomWithIdx(number).HasProp(SLOT) for number in part)]


def _in_given_order(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """The molecule with its atoms in the order that a text of `write_source` names, if it does."""
    if not all(atom.HasProp(_GIVEN) for atom in mol.GetAtoms()):
        return mol
    order = sorted(range(mol.GetNumAtoms()), key=lambda k: int(mol.GetAtomWithIdx(k).GetProp(_GIVEN)))
    ordered = rdkit_chem().RenumberAtoms(mol, order)
    for atom in ordered.GetAtoms():
        atom.ClearProp(_GIVEN)
    return ordered


def _same(lists: NodesAndEdges, graph: Graph) -> bool:
    """True if the graph has these nodes in its first slots, and these edges."""
    nodes = graph.nodes()
    edges = {(min(i, j), max(i, j), str(edge["type"])) for i, j, edge in lists.edges}
    return (
        nodes[: len(lists.nodes)] == lists.nodes
        and not any(nodes[len(lists.nodes) :])
        and edges == {(i, j, str(edge["type"])) for i, j, edge in graph.edges()}
    )


def _laid_over(given: "rdkit.Chem.Mol", slots: dict[int, int], factual: Graph) -> DrawnMolecule:
    """The drawing with the slots of its atoms, its aromatic bonds as in the graph."""
    Chem = rdkit_chem()
    mol, before = Chem.Mol(given), atom_states(factual)
    sanitize_mol(mol)
    for number, slot in slots.items():
        mol.GetAtomWithIdx(number).SetIntProp(SLOT, slot)
    with no_logs():
        mol = Chem.RemoveHs(mol, sanitize=False)
        mol.UpdatePropertyCache(strict=False)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
        units = _kekulize_as(mol, before)
    charges = sum(state.charge for state in before.values())
    drawn = sum(atom.GetFormalCharge() for atom in mol.GetAtoms() if atom.HasProp(SLOT))
    return DrawnMolecule(mol, before, units, charges != drawn)


def _kekulize_as(mol: "rdkit.Chem.Mol", before: dict[int, AtomState]) -> list[set[int]]:
    """Give aromatic bonds the order that the graph has; returns the units that are drawn in another form."""
    Chem, different = rdkit_chem(), []
    for atom in mol.GetAtoms():
        if atom.HasProp(SLOT) and atom.GetFormalCharge() != before[atom.GetIntProp(SLOT)].charge:
            different.append({atom.GetIntProp(SLOT)})
    aromatic = [bond.GetIsAromatic() for bond in mol.GetBonds()]
    Chem.Kekulize(mol, clearAromaticFlags=True)
    for (i, j), bond in _slot_bonds(mol):
        order = dict(before[i].bonds)[j]
        if aromatic[bond.GetIdx()]:
            bond.SetBondType(Chem.BondType.values[order])
        elif bond.GetBondTypeAsDouble() != order:
            different.append({i, j})
    return _joined(different)


def _slot_bonds(mol: "rdkit.Chem.Mol") -> Iterator[tuple[tuple[int, int], "rdkit.Chem.Bond"]]:
    """Bonds between atoms of nodes, with their slots."""
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtom(), bond.GetEndAtom()
        if all(atom.HasProp(SLOT) for atom in ends):
            yield (ends[0].GetIntProp(SLOT), ends[1].GetIntProp(SLOT)), bond


def _joined(groups: list[set[int]]) -> list[set[int]]:
    """Groups of which those that share a member are one."""
    units: list[set[int]] = []
    for group in groups:
        apart = [unit for unit in units if not unit & group]
        units = [*apart, group.union(*(unit for unit in units if unit & group))]
    return units


def _parameters(Chem: Any) -> Any:
    parameters = Chem.SmilesWriteParams()
    parameters.canonical = False
    return parameters
