"""Chemical validity of graphs: accepted by RDKit, connected, without radicals."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...chemistry import OTHER, surroundings
from ...graph import Graph
from .building import atoms_and_bonds, chemistry_of, formal_charges, rdkit_chem, sanitize_mol, unchecked_mol


def is_molecule(graph: Graph, max_fragments: int | Int[Tensor, " b"] | None = 1) -> Bool[Tensor, " b"]:
    """Check each graph with RDKit.

    Args:
        graph: Hard graphs whose schema has a chemistry.
        max_fragments: Largest number of connected parts, one for all graphs or one for each; None for any number.

    Returns:
        True where RDKit accepts the graph as a molecule of at most so many parts.

    Example:
        >>> from graphflip.data.molecules.molecule import from_smiles, molecule_schema
        >>> schema = molecule_schema(("C", "O", "Na"), max_nodes=9, explicit_hydrogens=False)
        >>> is_molecule(from_smiles("CCO.O", schema)), is_molecule(from_smiles("CCO.O", schema), max_fragments=2)
        (tensor([False]), tensor([True]))
    """
    valid = torch.tensor([why_invalid(graph, k) is None for k in range(len(graph))], dtype=torch.bool)
    return valid if max_fragments is None else valid & (num_fragments(graph) <= max_fragments)


def num_fragments(graph: Graph) -> Int[Tensor, " b"]:
    """Count the connected parts of each graph: 1 for a molecule, 2 for a salt."""
    Chem = rdkit_chem()
    counts = [len(Chem.GetMolFrags(unchecked_mol(graph, k))) for k in range(len(graph))]
    return torch.tensor(counts, dtype=torch.long)


def is_radical_free(graph: Graph) -> Bool[Tensor, " b"]:
    """True where the valence of every atom is filled; hydrogens that are nodes count as they stand."""
    unfilled = _unfilled if graph.schema.node_charge is None else _unfilled_ions
    return torch.tensor([not unfilled(graph, k) for k in range(len(graph))], dtype=torch.bool)


def why_invalid(graph: Graph, index: int = 0) -> str | None:
    """Reason why graph `index` is no molecule, in RDKit's words; None if it is one."""
    mol = unchecked_mol(graph, index)
    return sanitize_mol(mol) if mol.GetNumAtoms() else "It has no atoms"


def _unfilled(graph: Graph, index: int) -> list[int]:
    """Atoms with an open valence or too many bonds, by the charge rule."""
    return chemistry_of(graph.schema).unfilled(*atoms_and_bonds(graph, index))


def _unfilled_ions(graph: Graph, index: int) -> list[int]:
    """Atoms that have no valence with their stored charge and so many bonds; atoms without a name have any."""
    chemistry, charges = chemistry_of(graph.schema), formal_charges(graph, index)
    atoms = zip(surroundings(*atoms_and_bonds(graph, index)), charges, strict=True)
    return [
        k
        for k, ((symbol, valence, *_), charge) in enumerate(atoms)
        if symbol != OTHER and chemistry.num_hydrogens(symbol, charge, valence) is None
    ]
