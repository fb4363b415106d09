"""Parts of molecules that stay as they are because a SMARTS pattern matches them."""

import dataclasses
from collections.abc import Collection, Sequence

from ...errors import ConfigError, GraphError, require
from ...graph import Graph
from .search import EditSearch


def keep_matches(search: EditSearch, graph: Graph, patterns: Sequence[str]) -> EditSearch:
    """The search that keeps all atoms of a molecule which match one of the patterns, beside what it keeps already.

    Raises ConfigError if a pattern cannot be read, or the graph is no molecule.
    """
    if not patterns:
        return search
    nodes = {*search.constraints.freeze_nodes, *matching_nodes(graph, patterns)}
    return dataclasses.replace(search, constraints=dataclasses.replace(search.constraints, freeze_nodes=nodes))


def matching_nodes(graph: Graph, patterns: Collection[str]) -> set[int]:
    """Numbers of the atoms of a single graph that match one of the SMARTS patterns."""
    from ...data.molecules.molecule import to_mol

    if graph.schema.chemistry is None:
        raise ConfigError("`freeze_smarts` must be left out, because these graphs are no molecules.")
    chem = require("rdkit.Chem", "mol", "Matching SMARTS patterns")
    with require("rdkit.rdBase", "mol", "Matching SMARTS patterns").BlockLogs():
        queries = {pattern: chem.MolFromSmarts(pattern) for pattern in patterns}
    unread = next((pattern for pattern, query in queries.items() if query is None), None)
    if unread is not None:
        raise ConfigError(f"`freeze_smarts` must be SMARTS patterns, such as c1ccccc1 or [N+](=O)[O-]; got {unread!r}.")
    try:
        mol = to_mol(graph)
    except GraphError:  # what RDKit does not accept has no aromatic atoms, but its atoms and bonds can be matched
        mol = to_mol(graph, sanitize=False)
        mol.UpdatePropertyCache(strict=False)
        chem.FastFindRings(mol)
    slots = [i for i, node in enumerate(graph.nodes()) if node is not None]
    found = (match for query in queries.values() for match in mol.GetSubstructMatches(query))
    return {slots[k] for match in found for k in match}
