"""Atoms of a molecule with their charges and hydrogens, in any representation."""

from typing import NamedTuple

from ..chemistry import Chemistry
from ..graph import Graph


class Atom(NamedTuple):
    """An atom, its formal charge, and its hydrogens that are no nodes; None if the graph does not tell them."""

    symbol: str
    charge: int
    filling: int | None


def atoms_of(graph: Graph) -> dict[int, Atom]:
    """List the atoms of a molecule by slot.

    Where hydrogens are nodes, nothing else fills valences. Where charges are stored, hydrogens follow from them.
    """
    from ..data.molecules.building import atoms_and_bonds, chemistry_of, formal_charges

    chemistry, charges = chemistry_of(graph.schema), formal_charges(graph)
    symbols, bonds = atoms_and_bonds(graph)
    valences = [0] * len(symbols)
    for i, j, order in bonds:
        valences[i] += order
        valences[j] += order
    atoms = [
        Atom(symbol, charge, _filling(chemistry, symbol, charge, valence))
        for symbol, charge, valence in zip(symbols, charges, valences, strict=True)
    ]
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    return dict(zip(slots, atoms, strict=True))


def _filling(chemistry: Chemistry, symbol: str, charge: int, valence: int) -> int | None:
    if chemistry.stored_charges:
        return chemistry.num_hydrogens(symbol, charge, valence) or 0
    return 0 if chemistry.explicit_hydrogens else None
