"""Graphs as molecules: to and from RDKit and SMILES, and whether a graph is a molecule at all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...chemistry import BOND_ORDERS, Bond, Chemistry
from ...errors import DataError, GraphError, GraphflipError, SchemaError, require
from ...graph import Graph
from ...schema import Categories, Schema
from .salts import parent_of

if TYPE_CHECKING:
    import rdkit.Chem


def to_mol(graph: Graph, index: int = 0, sanitize: bool = True) -> "rdkit.Chem.Mol":
    """RDKit molecule of graph `index`, its atoms in the order of the existing slots, charges by the charge rule.

    Hydrogens are atoms where they are nodes; where one is missing RDKit implies it. Raises GraphError if RDKit does not
    accept the molecule; with `sanitize=False` it is returned as it stands, to be drawn.
    """
    mol = _unchecked(graph, index)
    problem = _sanitize(mol) if sanitize else None
    if problem:
        raise GraphError(f"The graph must be a valid molecule; RDKit says: {problem}. Draw it with `sanitize=False`.")
    return mol.GetMol()


def to_smiles(graph: Graph, index: int = 0, kekule: bool = False) -> str | None:
    """Canonical SMILES of graph `index`, or None if it is no molecule (`why_invalid` says why).

    Aromatic SMILES forget which bonds of a ring were the double ones. With `kekule=True` they are written as they
    stand: isomorphic graphs, and only those, share that text, and `from_smiles` gives the same graph back.
    """
    Chem = _chem()
    mol = _unchecked(graph, index)
    if mol.GetNumAtoms() == 0 or _sanitize(mol, aromatic=not kekule):
        return None
    with _no_logs():
        return Chem.MolToSmiles(Chem.RemoveHs(mol, sanitize=False))


def why_invalid(graph: Graph, index: int = 0) -> str | None:
    """What keeps graph `index` from being a molecule, in RDKit's words; None if nothing does."""
    mol = _unchecked(graph, index)
    return _sanitize(mol) if mol.GetNumAtoms() else "It has no atoms"


def from_smiles(smiles: str, schema: Schema, strict: bool = True, parent: bool = False) -> Graph:
    """Graph of a molecule, heavy atoms in the order of the text, then hydrogens where the schema has them as nodes.

    The bonds of aromatic rings become single and double ones: as written if the text has no aromatic (lower-case)
    atoms, else in one way that does not depend on how the molecule is spelled. Stereo marks and isotopes are dropped.
    For `strict` and `parent` see `from_mol`.

    >>> schema = molecule_schema(("C", "O"), max_nodes=9, explicit_hydrogens=False)
    >>> from_smiles("Oc1ccccc1", schema)
    Graph(7 nodes: C 6, O 1; 7 edges)
    """
    Chem = _chem()
    with _no_logs():
        # RDKit passes over a NUL, at which other programs take the text to end.
        mol = None if "\0" in smiles else Chem.MolFromSmiles(smiles, sanitize=False)
        if mol is None or mol.GetNumAtoms() == 0:
            raise DataError(
                f"A molecule must be written as SMILES; got {smiles!r}, which RDKit cannot read. Correct it."
            )
        aromatic = any(atom.GetIsAromatic() for atom in mol.GetAtoms())
        problem = _sanitize(mol, aromatic)
    if problem:
        raise DataError(f"{smiles}: the SMILES must be a valid molecule; RDKit says: {problem}. Correct it.")
    try:
        return from_mol(mol, schema, strict, parent)
    except GraphflipError as error:
        raise type(error)(f"{smiles}: {error}") from error


def from_mol(mol: "rdkit.Chem.Mol", schema: Schema, strict: bool = True, parent: bool = False) -> Graph:
    """Graph of a sanitized RDKit molecule, atoms in its order.

    Graphs carry no charges, so with `strict` each atom's charge and hydrogens must be those that the charge rule gives
    back; a radical or an ion it does not know is a DataError. Without, such atoms are read in the form the rule gives
    them: a carboxylate as its acid. With `parent`, what `parent_of` the molecule gives is read: of a salt, the acid or
    the base.
    """
    _chemistry(schema)
    if not mol.GetNumAtoms():
        raise DataError("A molecule must have at least one atom; this one has none. Leave it out.")
    try:
        return _read(parent_of(mol) if parent else mol, schema, strict)
    except GraphflipError as error:
        advice = _advice(mol, schema) if strict and not parent else ""
        raise type(error)(f"{error}{advice}") from error


def _read(mol: "rdkit.Chem.Mol", schema: Schema, strict: bool) -> Graph:
    chemistry = _chemistry(schema)
    add_hydrogens = _chem().AddHs if chemistry.explicit_hydrogens else _chem().Mol
    with _no_logs():
        plain = _plain(mol)
        found = add_hydrogens(plain)
        problem = _mismatch(found, chemistry)
        if problem and not strict:
            found = add_hydrogens(_settled(plain))
            problem = _mismatch(found, chemistry)
        nodes, edges = _nodes_and_edges(found, schema)
    if problem:
        raise DataError(problem)
    return Graph.build(schema, nodes, edges)


def _advice(mol: "rdkit.Chem.Mol", schema: Schema) -> str:
    """What to give instead of a molecule that cannot be read, where its parent can."""
    try:
        smiles = to_smiles(_read(parent_of(mol), schema, strict=True))
    except GraphflipError:
        return ""
    return f" Its parent can be read: give {smiles}, or `graphflip explain --parent` (in Python, `parent=True`)."


def round_trip(graph: Graph, index: int = 0, kekule: bool = True) -> Graph | None:
    """Graph `index` written as SMILES and read back, hydrogens added where they were missing.

    Bonds are written as they stand, or without `kekule` as a SMILES usually has them: double bonds of aromatic rings
    may then change places.

    None if it is no molecule, or if it no longer fits the schema's size with its hydrogens.
    """
    smiles = to_smiles(graph, index, kekule)
    try:
        return from_smiles(smiles, graph.schema, strict=False) if smiles else None
    except GraphflipError:
        return None


def is_molecule(graph: Graph, max_fragments: int | Int[Tensor, " b"] | None = 1) -> Bool[Tensor, " b"]:
    """Whether RDKit accepts each graph, in at most `max_fragments` parts (None: any number; or one limit per graph)."""
    valid = torch.tensor([why_invalid(graph, k) is None for k in range(len(graph))], dtype=torch.bool)
    return valid if max_fragments is None else valid & (num_fragments(graph) <= max_fragments)


def num_fragments(graph: Graph) -> Int[Tensor, " b"]:
    """Number of connected parts of each graph: 1 for a molecule, 2 for a salt."""
    Chem = _chem()
    counts = [len(Chem.GetMolFrags(_unchecked(graph, k))) for k in range(len(graph))]
    return torch.tensor(counts, dtype=torch.long)


def is_radical_free(graph: Graph) -> Bool[Tensor, " b"]:
    """Whether every atom's valence is filled, hydrogens counted as they stand where they are nodes."""
    chemistry = _chemistry(graph.schema)
    free = [not chemistry.unfilled(*atoms_and_bonds(graph, k)) for k in range(len(graph))]
    return torch.tensor(free, dtype=torch.bool)


def atoms_and_bonds(graph: Graph, index: int = 0) -> tuple[list[str], list[Bond]]:
    """Element symbols of the existing nodes, and bonds between them with their orders: what `Chemistry` works on."""
    _chemistry(graph.schema)
    nodes = graph.nodes(index)
    number = {slot: k for k, slot in enumerate(i for i, node in enumerate(nodes) if node is not None)}
    symbols = [str(node["type"]) for node in nodes if node is not None]
    bonds = [(number[i], number[j], BOND_ORDERS[str(edge["type"])]) for i, j, edge in graph.edges(index)]
    return symbols, bonds


def molecule_schema(elements: Sequence[str], max_nodes: int, explicit_hydrogens: bool) -> Schema:
    """Schema of molecules made of these elements; with explicit hydrogens, `H` must be among them."""
    return Schema(
        nodes=(Categories(name="type", values=tuple(elements)),),
        edges=(Categories(name="type", values=tuple(BOND_ORDERS)),),
        max_nodes=max_nodes,
        chemistry=Chemistry(explicit_hydrogens=explicit_hydrogens),
    )


def _chem():
    return require("rdkit.Chem", "mol", "Reading or writing molecules")


def _no_logs():
    """A context in which RDKit prints nothing: what it has to say is in our messages."""
    return require("rdkit.rdBase", "mol", "Reading or writing molecules").BlockLogs()


def _chemistry(schema: Schema) -> Chemistry:
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


def _unchecked(graph: Graph, index: int) -> "rdkit.Chem.RWMol":
    symbols, bonds = atoms_and_bonds(graph, index)
    return _build(symbols, bonds, _chemistry(graph.schema).formal_charges(symbols, bonds))


def _build(symbols: list[str], bonds: list[Bond], charges: list[int]) -> "rdkit.Chem.RWMol":
    Chem = _chem()
    mol = Chem.RWMol()
    for symbol, charge in zip(symbols, charges, strict=True):
        atom = Chem.Atom(symbol)
        atom.SetFormalCharge(charge)
        mol.AddAtom(atom)
    for i, j, order in bonds:
        mol.AddBond(i, j, Chem.BondType.values[order])
    return mol


def _sanitize(mol: "rdkit.Chem.Mol", aromatic: bool = True) -> str | None:
    """Sanitize in place, marking aromatic rings if `aromatic`; what RDKit objects to, if anything."""
    Chem = _chem()
    every, marking = Chem.SanitizeFlags.SANITIZE_ALL, Chem.SanitizeFlags.SANITIZE_SETAROMATICITY
    with _no_logs():
        try:
            Chem.SanitizeMol(mol, every if aromatic else every ^ marking)
        except Chem.MolSanitizeException as error:
            return str(error).strip()
    return None


def _plain(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """The molecule without isotopes, stereo marks, hydrogen atoms, aromatic bonds; S=O rather than S(+)-O(-)."""
    Chem = _chem()
    mol = Chem.Mol(mol)
    for atom in mol.GetAtoms():
        atom.SetIsotope(0)
    Chem.RemoveStereochemistry(mol)
    mol = Chem.RWMol(Chem.RemoveHs(mol, sanitize=False))
    mol.UpdatePropertyCache(strict=False)
    # RDKit ranks atoms before it chooses the double bonds, so the choice does not depend on their order.
    Chem.Kekulize(mol, clearAromaticFlags=True)
    for bond in mol.GetBonds():
        for center, oxygen in ((bond.GetBeginAtom(), bond.GetEndAtom()), (bond.GetEndAtom(), bond.GetBeginAtom())):
            if center.GetSymbol() in _HYPERVALENT and center.GetFormalCharge() > 0 and _is_oxide(oxygen):
                bond.SetBondType(Chem.BondType.DOUBLE)
                center.SetFormalCharge(center.GetFormalCharge() - 1)
                oxygen.SetFormalCharge(0)
    return mol.GetMol()


_HYPERVALENT = ("P", "S", "Cl", "As", "Se", "Br", "I")


def _is_oxide(atom: "rdkit.Chem.Atom") -> bool:
    return atom.GetSymbol() == "O" and atom.GetFormalCharge() == -1 and atom.GetDegree() == 1


def _mismatch(mol: "rdkit.Chem.Mol", chemistry: Chemistry) -> str | None:
    """The first atom whose charge or hydrogens its bonds do not tell, in words."""
    symbols, bonds = _symbols_and_bonds(mol)
    charges = chemistry.formal_charges(symbols, bonds)
    told = _build(symbols, bonds, charges)
    problem = _sanitize(told)
    if problem:
        return f"The molecule must be valid with charges that its bonds imply; RDKit says: {problem}. Leave it out."
    for atom, charge, like in zip(mol.GetAtoms(), charges, told.GetAtoms(), strict=True):
        if (atom.GetFormalCharge(), atom.GetTotalNumHs()) != (charge, like.GetTotalNumHs()):
            return (
                f"Atom {atom.GetIdx()} ({atom.GetSymbol()}) must have the charge and hydrogens that its bonds imply, "
                f"because graphs carry no charges: {charge:+d} and {like.GetTotalNumHs()}; got "
                f"{atom.GetFormalCharge():+d} and {atom.GetTotalNumHs()}. "
                "Write the neutral form, or read it so with `from_smiles(..., strict=False)`."
            )
    return None


def _symbols_and_bonds(mol: "rdkit.Chem.Mol") -> tuple[list[str], list[Bond]]:
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in mol.GetBonds()]
    return [atom.GetSymbol() for atom in mol.GetAtoms()], bonds


def _nodes_and_edges(mol: "rdkit.Chem.Mol", schema: Schema) -> tuple[list[dict], list[tuple[int, int, dict]]]:
    elements, names = (types.values if types else () for types in (schema.node_type, schema.edge_type))
    nodes, edges = [], []
    for atom in mol.GetAtoms():
        if atom.GetSymbol() not in elements:
            raise SchemaError(
                f"Atom {atom.GetIdx()} must be one of {', '.join(elements)}; got {atom.GetSymbol()}. "
                "Leave the molecule out, or fit a model on data that contains this element."
            )
        nodes.append({"type": atom.GetSymbol()})
    for bond in mol.GetBonds():
        i, j, name = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondType().name.lower()
        if name not in names:
            raise SchemaError(f"The bond of atoms {i} and {j} must be one of {', '.join(names)}; got {name}.")
        edges.append((i, j, {"type": name}))
    return nodes, edges


def _settled(mol: "rdkit.Chem.Mol") -> "rdkit.Chem.Mol":
    """The molecule with charges by the rule and every open valence filled with hydrogens."""
    settled = _chem().Mol(mol)
    charges = Chemistry(explicit_hydrogens=False).formal_charges(*_symbols_and_bonds(mol))
    for atom, charge in zip(settled.GetAtoms(), charges, strict=True):
        atom.SetFormalCharge(charge)
        atom.SetNumExplicitHs(0)
        atom.SetNumRadicalElectrons(0)
        atom.SetNoImplicit(False)
    settled.UpdatePropertyCache(strict=False)
    return settled
