"""Nitro groups on rings, the best-known cause of mutagenicity: good explanations of mutagens should touch them."""

from ..data.molecules.molecule import to_mol
from ..edits import Edit
from ..errors import GraphError, require
from ..graph import Graph

_NITRO_ON_RING = "[R]-[N+](=O)-[O-]"


def nitro_groups(graph: Graph) -> list[set[int]]:
    """Find the nodes (N, O, O) of each nitro group on a ring."""
    if graph.schema.chemistry is None:
        return []
    Chem = require("rdkit.Chem", "mol", "Looking for nitro groups")
    try:
        mol = to_mol(graph)
    except GraphError:
        return []
    slots = graph.B[0].nonzero()[:, 0].tolist()
    return [{slots[i] for i in match[1:]} for match in mol.GetSubstructMatches(Chem.MolFromSmarts(_NITRO_ON_RING))]


def touches_nitro(factual: Graph, edits: list[Edit]) -> bool | None:
    """True if an edit is at a nitro group on a ring or at its bond to the ring; None if there is no such group."""
    groups = nitro_groups(factual)
    return any(group & set(edit.at) for group in groups for edit in edits) if groups else None
