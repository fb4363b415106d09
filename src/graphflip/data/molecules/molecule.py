"""Graphs as molecules: to and from RDKit and SMILES."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...chemistry import BOND_ORDERS, OTHER, Chemistry
from ...errors import DataError, GraphError, GraphflipError
from ...graph import Graph
from ...schema import Categories, Schema
from .building import chemistry_of, no_logs, rdkit_chem, sanitize_mol, unchecked_mol
from .reading import parse_smiles, read_mol

if TYPE_CHECKING:
    import rdkit.Chem


def to_mol(graph: Graph, index: int = 0, sanitize: bool = True) -> "rdkit.Chem.Mol":
    """Convert a graph to an RDKit molecule, with formal charges by the charge rule.

    Args:
        graph: Hard graphs whose schema has a chemistry.
        index: Number of the graph in the batch.
        sanitize: False to return a molecule that RDKit does not accept as it stands, to be drawn.

    Returns:
        The molecule, its atoms in the order of the nodes. Hydrogens are atoms where they are nodes; RDKit implies
        those that are missing.

    Raises:
        GraphError: RDKit does not accept the molecule, or the schema has no chemistry.

    Example:
        >>> schema = molecule_schema(("C", "O"), max_nodes=9, explicit_hydrogens=False)
        >>> to_mol(from_smiles("CCO", schema)).GetNumAtoms()
        3
    """
    mol = unchecked_mol(graph, index)
    problem = sanitize_mol(mol) if sanitize else None
    if problem:
        raise GraphError(f"The graph must be a valid molecule; RDKit says: {problem}. Draw it with `sanitize=False`.")
    return mol.GetMol()


def to_smiles(graph: Graph, index: int = 0, kekule: bool = False) -> str | None:
    """Write a graph as canonical SMILES.

    Args:
        graph: Hard graphs whose schema has a chemistry.
        index: Number of the graph in the batch.
        kekule: True to write single and double bonds of aromatic rings as they stand. Then isomorphic graphs, and
            only those, share a text, and `from_smiles` gives the same graph back. Aromatic SMILES, the default,
            forget which bonds were the double ones.

    Returns:
        The SMILES, or None if the graph is no molecule (`molecules.validity.why_invalid` says why).

    Raises:
        GraphError: The schema has no chemistry.

    Example:
        >>> schema = molecule_schema(("C", "O"), max_nodes=9, explicit_hydrogens=False)
        >>> phenol = from_smiles("Oc1ccccc1", schema)
        >>> to_smiles(phenol), to_smiles(phenol, kekule=True)
        ('Oc1ccccc1', 'OC1=CC=CC=C1')
    """
    Chem = rdkit_chem()
    mol = unchecked_mol(graph, index)
    if mol.GetNumAtoms() == 0 or sanitize_mol(mol, aromatic=not kekule):
        return None
    with no_logs():
        return Chem.MolToSmiles(Chem.RemoveHs(mol, sanitize=False))


def from_smiles(smiles: str, schema: Schema, strict: bool = True, parent: bool = False) -> Graph:
    """Read a molecule from SMILES.

    The bonds of aromatic rings become single and double ones: as written if the text has no aromatic (lower-case)
    atoms, else in one way that does not depend on how the molecule is spelled. Stereo marks and isotopes are dropped.

    Args:
        smiles: Text that RDKit can read.
        schema: Elements, bonds, largest size, and a chemistry, which says if hydrogens are nodes.
        strict: False to read ions and radicals in the form that the charge rule gives them, see `from_mol`.
        parent: True to read the largest part alone, see `from_mol`.

    Returns:
        A batch of one graph: heavy atoms in the order of the text, then hydrogens if they are nodes.

    Raises:
        DataError: The text is no valid molecule, or a charge is not the one that the bonds imply.
        SchemaError: An element or bond is not in the schema.
        GraphError: The molecule is too large, or the schema has no chemistry.

    Example:
        >>> schema = molecule_schema(("C", "O"), max_nodes=9, explicit_hydrogens=False)
        >>> from_smiles("Oc1ccccc1", schema)
        Graph(7 nodes: C 6, O 1; 7 edges)
    """
    check_size("SMILES", len(smiles), schema, _SMILES_PER_NODE)
    mol = parse_smiles(smiles)
    try:
        return from_mol(mol, schema, strict, parent)
    except GraphflipError as error:
        raise type(error)(f"{_start(smiles)}: {error}") from error


def _start(smiles: str) -> str:
    """A SMILES text as a message names it."""
    return smiles if len(smiles) <= _SHOWN else f"{smiles[:_SHOWN]}…"


_SHOWN = 100


def check_size(what: str, length: int, schema: Schema, per_node: int) -> None:
    """Raise DataError if a text is so long that its molecule cannot fit, before RDKit spends time on it."""
    most = per_node * max(schema.max_nodes, _LEAST_NODES)
    if length > most:
        raise DataError(
            f"A {what} for graphs of up to {schema.max_nodes} nodes must have at most {most} characters; got {length}. "
            "Leave the molecule out."
        )


_SMILES_PER_NODE = 20
_LEAST_NODES = 100


def from_mol(mol: "rdkit.Chem.Mol", schema: Schema, strict: bool = True, parent: bool = False) -> Graph:
    """Convert an RDKit molecule to a graph.

    Args:
        mol: A sanitized molecule.
        schema: Elements, bonds, largest size, and a chemistry, which says if hydrogens are nodes.
        strict: Graphs carry no charges, so each atom must have the charge and the hydrogens that its bonds imply
            (the charge rule); other ions and radicals are errors. False to read these in the form that the rule
            gives them: a carboxylate as its acid.
        parent: True to read the largest organic part alone, of those of a salt or a mixture. Where graphs store charges
            it is read as it is drawn. Where they do not it is neutralized, unless the molecule is one part that can be
            read: of sodium acetate that is acetic acid.

    Returns:
        A batch of one graph, atoms in the order of the molecule.

    Raises:
        DataError: There are no atoms, or a charge is not the one that the bonds imply.
        SchemaError: An element or bond is not in the schema.
        GraphError: The molecule is too large, or the schema has no chemistry.

    Example:
        >>> from rdkit import Chem
        >>> schema = molecule_schema(("C", "O"), max_nodes=9, explicit_hydrogens=False)
        >>> salt = Chem.MolFromSmiles("CC(=O)[O-].[Na+]")
        >>> to_smiles(from_mol(salt, schema, parent=True))
        'CC(=O)O'
    """
    chemistry_of(schema)
    if not mol.GetNumAtoms():
        raise DataError("A molecule must have at least one atom; this one has none. Leave it out.")
    try:
        return Graph.build(schema, *read_mol(mol, schema, strict, parent)[1])
    except GraphflipError as error:
        advice = _advice(mol, schema) if strict and not parent else ""
        raise type(error)(f"{error}{advice}") from error


def round_trip(graph: Graph, index: int = 0, kekule: bool = True) -> Graph | None:
    """Write graph `index` as SMILES and read it back, which adds missing hydrogens.

    Bonds are written as they stand; without `kekule` as aromatic SMILES, so that double bonds of rings may change
    places. Returns None if the graph is no molecule, or is too large for the schema with its hydrogens.
    """
    smiles = to_smiles(graph, index, kekule)
    try:
        return from_smiles(smiles, graph.schema, strict=False) if smiles else None
    except GraphflipError:
        return None


def molecule_schema(elements: Sequence[str], max_nodes: int, explicit_hydrogens: bool) -> Schema:
    """Make a schema of molecules of these elements; with explicit hydrogens, `H` must be among them."""
    return Schema(
        nodes=(Categories(name="type", values=tuple(elements)),),
        edges=(Categories(name="type", values=tuple(BOND_ORDERS)),),
        max_nodes=max_nodes,
        chemistry=Chemistry(explicit_hydrogens=explicit_hydrogens),
    )


ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "B", "Si", "Se", "Na", "K", OTHER)
"""Elements of `drug_schema`."""
CHARGES = ("0", "+1", "-1", "+2", "-2", "+3")
"""Formal charges of `drug_schema`."""


def drug_schema(max_nodes: int = 100) -> Schema:
    """Make the schema for molecules of any kind: nodes are heavy atoms with element and charge, hydrogens are implied.

    Args:
        max_nodes: Largest number of heavy atoms.

    Returns:
        The schema; elements that it does not name are read as "other".

    Example:
        >>> from_smiles("C[N+](C)(C)CC(=O)[O-]", drug_schema()).nodes()[1]
        {'type': 'N', 'charge': '+1'}
    """
    return Schema(
        nodes=(Categories(name="type", values=ELEMENTS), Categories(name="charge", values=CHARGES)),
        edges=(Categories(name="type", values=tuple(BOND_ORDERS)),),
        max_nodes=max_nodes,
        chemistry=Chemistry(explicit_hydrogens=False, stored_charges=True),
    )


def _advice(mol: "rdkit.Chem.Mol", schema: Schema) -> str:
    """Advice for a molecule that cannot be read as it is but whose largest part can; else empty."""
    try:
        smiles = to_smiles(Graph.build(schema, *read_mol(mol, schema, parent=True)[1]))
    except GraphflipError:
        return ""
    return f" Its largest part can be read: give {smiles}, or leave out `--as-is` (in Python, `parent=True`)."
