"""Molecules as SVG, with what an explanation changes marked the same way in both pictures."""

from collections.abc import Sequence

from ..edits import Edit
from ..errors import require
from ..graph import Graph

# Told apart by shade as well as by hue: dark for what goes, middle for what comes, light for what changes.
REMOVED, ADDED, CHANGED = (0.84, 0.37, 0.0), (0.0, 0.62, 0.45), (0.94, 0.89, 0.26)


def draw_pair(
    factual: Graph, counterfactual: Graph, edits: Sequence[Edit], size: tuple[int, int] = (320, 260)
) -> tuple[str, str]:
    """SVG of both molecules: removed parts marked in the first, added ones in the second, changed ones in both.

    Both share one layout where they share nodes. Hydrogens that are nodes are drawn only where an edit touches them.
    """
    nodes_before, edges_before, nodes_after, edges_after = _marks(edits)
    layout = _layout(factual)
    before = _draw(factual, nodes_before, edges_before, layout, size)
    return before, _draw(counterfactual, nodes_after, edges_after, layout, size)


def _marks(edits: Sequence[Edit]) -> tuple[dict, dict, dict, dict]:
    """Colors of nodes and edges in the picture before and in the one after."""
    marks: tuple[dict, dict, dict, dict] = ({}, {}, {}, {})
    for edit in edits:
        kind = 0 if edit.is_node else 1
        at = edit.at[0] if edit.is_node else tuple(sorted(edit.at))
        if edit.op.startswith("remove"):
            marks[kind][at] = REMOVED
        elif edit.op.startswith("add"):
            marks[kind + 2][at] = ADDED
        else:
            marks[kind][at] = marks[kind + 2][at] = CHANGED
    return marks


def _layout(factual: Graph) -> dict[int, tuple[float, float]]:
    """Coordinates of the factual's atoms by slot."""
    from ..data.molecule import to_mol

    chem = require("rdkit.Chem.AllChem", "mol", "Drawing molecules")
    mol = to_mol(factual, sanitize=False)
    mol.UpdatePropertyCache(strict=False)
    chem.Compute2DCoords(mol)
    slots = [i for i, node in enumerate(factual.nodes()) if node is not None]
    conformer = mol.GetConformer()
    places = [conformer.GetAtomPosition(k) for k in range(mol.GetNumAtoms())]
    return {slot: (place.x, place.y) for slot, place in zip(slots, places, strict=True)}


def _draw(graph: Graph, node_colors: dict, edge_colors: dict, layout: dict, size: tuple[int, int]) -> str:
    from ..data.molecule import to_mol

    chem = require("rdkit.Chem.AllChem", "mol", "Drawing molecules")
    drawing = require("rdkit.Chem.Draw.rdMolDraw2D", "mol", "Drawing molecules")
    geometry = require("rdkit.Geometry", "mol", "Drawing molecules")
    mol = to_mol(graph, sanitize=False)
    mol.UpdatePropertyCache(strict=False)
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    fixed = {k: geometry.Point2D(*layout[slot]) for k, slot in enumerate(slots) if slot in layout}
    if mol.GetNumAtoms():
        chem.Compute2DCoords(mol, coordMap=fixed)
    keep = _hidden_hydrogens(mol, slots, node_colors, edge_colors)
    mol, slots = _without(mol, slots, keep)
    number = {slot: k for k, slot in enumerate(slots)}
    atoms = {number[slot]: color for slot, color in node_colors.items() if slot in number}
    bonds = {}
    for (i, j), color in edge_colors.items():
        bond = mol.GetBondBetweenAtoms(number[i], number[j]) if i in number and j in number else None
        if bond is not None:
            bonds[bond.GetIdx()] = color
    canvas = drawing.MolDraw2DSVG(*size)
    options = canvas.drawOptions()
    options.prepareMolsBeforeDrawing, options.clearBackground = False, False
    canvas.DrawMolecule(
        mol,
        highlightAtoms=list(atoms),
        highlightAtomColors=atoms,
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    canvas.FinishDrawing()
    return canvas.GetDrawingText().split("?>", 1)[-1].strip()


def _hidden_hydrogens(mol, slots: list[int], node_colors: dict, edge_colors: dict) -> set[int]:
    """Numbers of hydrogen atoms that no edit touches."""
    touched = set(node_colors) | {i for edge in edge_colors for i in edge}
    return {
        atom.GetIdx()
        for atom in mol.GetAtoms()
        if atom.GetSymbol() == "H" and atom.GetDegree() == 1 and slots[atom.GetIdx()] not in touched
    }


def _without(mol, slots: list[int], drop: set[int]):
    chem = require("rdkit.Chem", "mol", "Drawing molecules")
    smaller = chem.RWMol(mol)
    for k in sorted(drop, reverse=True):
        neighbor = smaller.GetAtomWithIdx(k).GetNeighbors()[0]
        if neighbor.GetNoImplicit():
            neighbor.SetNumExplicitHs(neighbor.GetNumExplicitHs() + 1)
        smaller.RemoveAtom(k)
    smaller.UpdatePropertyCache(strict=False)
    return smaller.GetMol(), [slot for k, slot in enumerate(slots) if k not in drop]
