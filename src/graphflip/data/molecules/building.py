"""RDKit molecules of graphs, as they stand: atoms, bonds, and charges stored or by the charge rule."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...chemistry import BOND_ORDERS, OTHER, Bond, Chemistry
from ...errors import GraphError, require
from ...graph import Graph
from ...schema import AttributeDict, Schema

if TYPE_CHECKING:
    import rdkit.Chem


def unchecked_mol(graph: Graph, index: int) -> "rdkit.Chem.RWMol":
    """Build the RDKit molecule of graph `index`; RDKit has not looked at it yet."""
    atoms, bonds = _read(graph, index)
    return build_mol(_symbols(atoms), bonds, _charges(graph.schema, atoms, bonds))


def formal_charges(graph: Graph, index: int = 0) -> list[int]:
    """Formal charges of the existing nodes: those stored, or those of the charge rule."""
    return _charges(graph.schema, *_read(graph, index))


def build_mol(symbols: list[str], bonds: list[Bond], charges: list[int]) -> "rdkit.Chem.RWMol":
    """Build an RDKit molecule of these atoms, bonds (first atom, second atom, order) and charges.

    An atom of another element than the schema has is a dummy, written `*`.
    """
    Chem = rdkit_chem()
    mol = Chem.RWMol()
    for symbol, charge in zip(symbols, charges, strict=True):
        mol.AddAtom(_atom(symbol, charge))
    types = Chem.BondType.values
    for i, j, order in bonds:
        mol.AddBond(i, j, types[order])
    return mol


@lru_cache(maxsize=2**10)
def _atom(symbol: str, charge: int) -> "rdkit.Chem.Atom":
    """An atom of which molecules get copies."""
    atom = rdkit_chem().Atom(0 if symbol == OTHER else symbol)
    atom.SetFormalCharge(charge)
    return atom


def sanitize_mol(mol: "rdkit.Chem.Mol", aromatic: bool = True) -> str | None:
    """Sanitize in place, marking aromatic rings if `aromatic`. Returns RDKit's objection, or None."""
    Chem = rdkit_chem()
    every, marking = Chem.SanitizeFlags.SANITIZE_ALL, Chem.SanitizeFlags.SANITIZE_SETAROMATICITY
    with no_logs():
        try:
            Chem.SanitizeMol(mol, every if aromatic else every ^ marking)
        except Chem.MolSanitizeException as error:
            return str(error).strip()
    return None


def atoms_and_bonds(graph: Graph, index: int = 0) -> tuple[list[str], list[Bond]]:
    """Element symbols of the existing nodes, and bonds between them with their orders, as `Chemistry` takes them."""
    atoms, bonds = _read(graph, index)
    return _symbols(atoms), bonds


def _read(graph: Graph, index: int) -> tuple[list[AttributeDict], list[Bond]]:
    """Attributes of the existing nodes, and bonds between them."""
    chemistry_of(graph.schema)
    atoms = {slot: node for slot, node in enumerate(graph.nodes(index)) if node is not None}
    number = {slot: k for k, slot in enumerate(atoms)}
    bonds = [(number[i], number[j], BOND_ORDERS[str(edge["type"])]) for i, j, edge in graph.edges(index)]
    return list(atoms.values()), bonds


def _symbols(atoms: list[AttributeDict]) -> list[str]:
    return [str(atom["type"]) for atom in atoms]


def _charges(schema: Schema, atoms: list[AttributeDict], bonds: list[Bond]) -> list[int]:
    if schema.node_charge is not None:
        return [int(atom["charge"]) for atom in atoms]
    return chemistry_of(schema).formal_charges(_symbols(atoms), bonds)


def rdkit_chem() -> Any:
    """Import `rdkit.Chem`."""
    return require("rdkit.Chem", "mol", "Reading or writing molecules")


def no_logs() -> Any:
    """Context in which RDKit prints nothing: our errors say what it would print."""
    return require("rdkit.rdBase", "mol", "Reading or writing molecules").BlockLogs()


def chemistry_of(schema: Schema) -> Chemistry:
    """Chemistry of a schema; raises GraphError if its nodes are no atoms or its edges no bonds."""
    if schema.chemistry is None:
        raise GraphError(
            "Graphs must have a schema with `chemistry` to be read as molecules; this schema has none: nothing says "
            "which atoms its nodes are. Give graphs as JSON lines (docs/concepts/format.md) or as a TU folder; or, if "
            "nodes are atoms and edges bonds, use a schema with chemistry=Chemistry(explicit_hydrogens=...)."
        )
    for kind, columns, types in (("node", schema.nodes, schema.node_type), ("edge", schema.edges, schema.edge_type)):
        if types is None or (kind == "edge" and set(types.values) - set(BOND_ORDERS)):
            raise GraphError(
                f"A schema of molecules must have {kind} categories named `type` with "
                f"{'element symbols' if kind == 'node' else 'bonds among ' + ', '.join(BOND_ORDERS)} as values; "
                f"got {[column.name for column in columns]}."
            )
    return schema.chemistry
