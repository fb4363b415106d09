"""Aligned graphs of molecules as a pair of RDKit molecules of heavy atoms, and the chemist's changes between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..data.molecules.building import no_logs, rdkit_chem, sanitize_mol, unchecked_mol
from ..edits import edits_between, heavy_edits
from ..graph import Graph

if TYPE_CHECKING:
    import rdkit.Chem

_SLOT = "slot"


@dataclass(frozen=True)
class MoleculePair:
    """Two molecules of heavy atoms, sanitized, one made from the other.

    Args:
        before: The molecule before the change.
        after: The molecule after the change.
        kept_atoms: Index in `after` of each atom of `before` that stays; its element may be another.
    """

    before: "rdkit.Chem.Mol"
    after: "rdkit.Chem.Mol"
    kept_atoms: dict[int, int]

    @classmethod
    def of(cls, factual: Graph, counterfactual: Graph) -> "MoleculePair | None":
        """Convert single aligned graphs whose schema has a chemistry; None if one of them is no molecule."""
        before, after = heavy_mol(factual), heavy_mol(counterfactual)
        if before is None or after is None:
            return None
        place = {atom.GetIntProp(_SLOT): atom.GetIdx() for atom in after.GetAtoms()}
        slots = {atom.GetIdx(): atom.GetIntProp(_SLOT) for atom in before.GetAtoms()}
        return cls(before, after, {index: place[slot] for index, slot in slots.items() if slot in place})


def heavy_mol(graph: Graph, index: int = 0) -> "rdkit.Chem.Mol | None":
    """Convert a graph to a sanitized molecule without hydrogens as atoms; None if it is no molecule."""
    mol = unchecked_mol(graph, index)
    slots = [slot for slot, node in enumerate(graph.nodes(index)) if node is not None]
    for atom, slot in zip(mol.GetAtoms(), slots, strict=True):
        atom.SetIntProp(_SLOT, slot)
    if not slots or sanitize_mol(mol):
        return None
    with no_logs():
        return rdkit_chem().RemoveHs(mol)


def num_changes(factual: Graph, counterfactual: Graph) -> int:
    """Number of changes as a chemist counts them between two single aligned graphs.

    Edits belong to one change if their atoms are the same, or neighbors before or after it; hydrogens and charges that
    follow from other edits do not count.
    """
    edits = heavy_edits(factual, edits_between(factual, counterfactual))
    near = [{i, j} for graph in (factual, counterfactual) for i, j, _ in graph.edges()]
    near = [pair for pair in near if all(any(i in edit.at for edit in edits) for i in pair)]
    return len(_joined([*(set(edit.at) for edit in edits)], near))


def _joined(groups: Sequence[set[int]], bridges: Sequence[set[int]]) -> list[set[int]]:
    """Join groups that share a member, and those that a bridge leads between."""
    joined: list[set[int]] = []
    for group in [*groups, *bridges]:
        touching = [other for other in joined if other & group]
        joined = [other for other in joined if not other & group] + [group.union(*touching)]
    return joined
