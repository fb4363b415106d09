"""Graphs and molecules: reading and writing are inverse, independent of order, and honest about what does not fit."""

from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.chemistry import Chemistry
from graphflip.data.molecules.building import atoms_and_bonds
from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.molecules.molecule import from_mol, from_smiles, molecule_schema, round_trip, to_mol, to_smiles
from graphflip.data.molecules.validity import is_molecule, is_radical_free, num_fragments, why_invalid
from graphflip.data.tables import read_smiles
from graphflip.errors import DataError, GraphError, GraphflipError, SchemaError
from graphflip.graph import Graph
from graphflip.schema import Categories, Schema

Chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra `mol`: pip install 'graphflip[mol]'")

IMPLICIT = molecule_schema(("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Na"), 60, explicit_hydrogens=False)
EXPLICIT = molecule_schema((*IMPLICIT.nodes[0].values, "H"), 120, explicit_hydrogens=True)
SCHEMAS = pytest.mark.parametrize("schema", [IMPLICIT, EXPLICIT], ids=["implicit", "explicit"])


@cache
def real_smiles() -> list[str]:
    """Every 50th of RDKit's molecules that fits both schemas."""
    from rdkit import RDConfig

    fitting = []
    for row in list(read_smiles(Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"))[::50]:
        with suppress(GraphflipError):
            from_smiles(row.smiles, IMPLICIT)
            from_smiles(row.smiles, EXPLICIT)
            fitting.append(row.smiles)
    return fitting


def shuffled(graph: Graph, seed: int) -> Graph:
    return graph.permute(torch.randperm(graph.num_slots, generator=torch.Generator().manual_seed(seed)))


molecules = st.deferred(lambda: st.sampled_from(real_smiles()))
seeds = st.integers(0, 2**16)


def test_most_real_molecules_fit():
    assert len(real_smiles()) > 80


@SCHEMAS
@settings(deadline=None, max_examples=25)
@given(smiles=molecules, seed=seeds)
def test_round_trip_gives_the_same_graph(schema, smiles, seed):
    graph = shuffled(from_smiles(smiles, schema), seed)
    assert round_trip(graph) == graph
    assert bool(is_molecule(graph, None))
    assert bool(is_radical_free(graph))
    assert why_invalid(graph) is None


@SCHEMAS
@settings(deadline=None, max_examples=25)
@given(smiles=molecules, seed=seeds)
def test_order_of_nodes_does_not_matter(schema, smiles, seed):
    graph = from_smiles(smiles, schema).pad(schema.max_nodes)
    other = shuffled(graph, seed)
    for kekule in (False, True):
        assert to_smiles(graph, kekule=kekule) == to_smiles(other, kekule=kekule)
    symbols, bonds = atoms_and_bonds(graph)
    charges = sorted(zip(symbols, schema.chemistry.formal_charges(symbols, bonds), strict=True))
    symbols, bonds = atoms_and_bonds(other)
    assert charges == sorted(zip(symbols, schema.chemistry.formal_charges(symbols, bonds), strict=True))


@SCHEMAS
@settings(deadline=None, max_examples=25)
@given(smiles=molecules, seed=seeds)
def test_spelling_does_not_matter(schema, smiles, seed):
    mol = Chem.MolFromSmiles(smiles)  # marks aromatic rings, so their double bonds are chosen anew
    order = torch.randperm(mol.GetNumAtoms(), generator=torch.Generator().manual_seed(seed)).tolist()
    other = Chem.RenumberAtoms(mol, order)
    assert from_mol(mol, schema) == from_mol(other, schema)
    assert to_smiles(from_mol(other, schema)) == Chem.CanonSmiles(smiles, useChiral=0)


def test_stereo_marks_do_not_matter():
    for schema in (IMPLICIT, EXPLICIT):
        assert from_smiles("C[C@H](O)c1ccccc1C", schema) == from_smiles("C[C@@H](O)c1ccccc1C", schema)
        assert from_smiles("C/C=C/c1ccccc1C", schema) == from_smiles("CC=Cc1ccccc1C", schema)


@settings(deadline=None, max_examples=30)
@given(smiles=molecules)
def test_heavy_atoms_keep_their_order(smiles):
    mol = Chem.MolFromSmiles(smiles)
    expected = [atom.GetSymbol() for atom in mol.GetAtoms()]
    for schema in (IMPLICIT, EXPLICIT):
        symbols, bonds = atoms_and_bonds(from_mol(mol, schema))
        assert symbols[: len(expected)] == expected
        assert set(symbols[len(expected) :]) <= {"H"}
        heavy = {(i, j) for i, j, _ in bonds if "H" not in (symbols[i], symbols[j])}
        assert heavy == {tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))) for b in mol.GetBonds()}


@SCHEMAS
def test_every_spelling_of_charges_that_the_rule_knows_is_read(schema):
    for smiles in ("C[N+](=O)[O-]", "CN=[N+]=[N-]", "[C-]#[N+]C", "C[S+](C)C", "C[P+](C)(C)C", "C[N+](C)(C)C.[Na+]"):
        assert to_smiles(from_smiles(smiles, schema)) == Chem.CanonSmiles(smiles)
    assert from_smiles("C[S+](C)[O-]", schema) == from_smiles("CS(C)=O", schema)
    assert from_smiles("CN(=O)=O", schema) == from_smiles("C[N+](=O)[O-]", schema)
    perchloric = from_smiles("O[Cl](=O)(=O)=O", schema)
    assert round_trip(perchloric) == perchloric
    assert bool(is_radical_free(perchloric))


@pytest.mark.parametrize("smiles", ["CC(=O)[O-]", "C[CH2]", "[NH2]", "C[C+](C)C", "C[O-].[Na+]"])
@SCHEMAS
def test_what_the_rule_cannot_give_back_is_refused_unless_allowed(schema, smiles):
    with pytest.raises(DataError, match=r"Atom \d+ \(\w+\) must have the charge"):
        from_smiles(smiles, schema)
    graph = from_smiles(smiles, schema, strict=False)
    assert bool(is_molecule(graph, None))
    assert bool(is_radical_free(graph))
    assert round_trip(graph) == graph


def test_acid_and_carboxylate_are_one_graph_without_strict():
    for schema in (IMPLICIT, EXPLICIT):
        assert from_smiles("CC(=O)[O-]", schema, strict=False) == from_smiles("CC(=O)O", schema)


def test_isotopes_and_written_hydrogens_are_plain_hydrogens():
    for schema in (IMPLICIT, EXPLICIT):
        assert from_smiles("[2H]C([H])([H])O", schema) == from_smiles("CO", schema)


def ethane(hydrogens: int) -> Graph:
    """Two carbons, of which the second lacks some of its three hydrogens."""
    nodes = [{"type": "C"}] * 2 + [{"type": "H"}] * (3 + hydrogens)
    edges = [(0, 1), *((0, 2 + k) for k in range(3)), *((1, 5 + k) for k in range(hydrogens))]
    return Graph.build(EXPLICIT, nodes, [(i, j, {"type": "single"}) for i, j in edges])


def test_a_missing_hydrogen_is_a_radical_and_the_round_trip_adds_it():
    assert is_radical_free(Graph.cat([ethane(3), ethane(2), ethane(0)])).tolist() == [True, False, False]
    assert bool(is_molecule(ethane(2)))
    assert round_trip(ethane(2)) == ethane(3) != ethane(2)


def star(center: str, leaves: int) -> Graph:
    nodes = [{"type": center}] + [{"type": "C"}] * leaves
    return Graph.build(IMPLICIT, nodes, [(0, k + 1, {"type": "single"}) for k in range(leaves)])


def test_invalid_graphs_are_named_as_such():
    graph = star("C", 5)
    assert not bool(is_molecule(graph))
    assert "C, 5, is greater than permitted" in str(why_invalid(graph))
    assert to_smiles(graph) is None
    assert round_trip(graph) is None
    assert not bool(is_radical_free(graph))
    with pytest.raises(GraphError, match="valence"):
        to_mol(graph)
    assert to_mol(graph, sanitize=False).GetNumAtoms() == 6


def test_an_empty_graph_is_no_molecule():
    empty = Graph.build(IMPLICIT, [], [])
    assert is_molecule(empty, None).tolist() == [False]
    assert why_invalid(empty) == "It has no atoms"
    assert to_smiles(empty) is None


def test_fragments_are_counted_against_the_limit():
    graph = Graph.cat([from_smiles(smiles, IMPLICIT) for smiles in ("CCO", "CCO.Cl", "C.C.C")])
    assert num_fragments(graph).tolist() == [1, 2, 3]
    assert is_molecule(graph).tolist() == [True, False, False]
    assert is_molecule(graph, 2).tolist() == [True, True, False]
    assert is_molecule(graph, torch.tensor([1, 1, 3])).tolist() == [True, False, True]
    assert is_molecule(graph, None).all()


def test_index_chooses_the_graph():
    graph = Graph.cat([from_smiles(smiles, IMPLICIT) for smiles in ("CCO", "c1ccccc1")])
    assert [to_smiles(graph, k) for k in range(2)] == ["CCO", "c1ccccc1"]
    assert to_smiles(graph, 1, kekule=True) == "C1=CC=CC=C1"


@pytest.mark.parametrize("smiles", ["", "not a molecule", "C1CC", "c1cccc1", "C(C)(C)(C)(C)C"])
def test_unreadable_smiles(smiles, capfd):
    with pytest.raises(DataError, match="RDKit"):
        from_smiles(smiles, IMPLICIT)
    assert capfd.readouterr() == ("", "")


def test_a_molecule_without_atoms_is_none():
    from rdkit import Chem

    with pytest.raises(DataError, match="at least one atom"):
        from_mol(Chem.Mol(), IMPLICIT)


def test_what_does_not_fit_the_schema_is_named():
    with pytest.raises(SchemaError, match=r"CC\[Si\]C: Atom 2 must be one of C, N, .*got Si"):
        from_smiles("CC[Si]C", IMPLICIT)
    with pytest.raises(SchemaError, match=r"got \*"):
        from_smiles("CC*", IMPLICIT)
    with pytest.raises(
        SchemaError, match=r"bond of atoms 0 and 1 must be one of single, double, triple; got quadruple"
    ):
        from_smiles("C$C", molecule_schema(("C",), 5, explicit_hydrogens=False), strict=False)
    with pytest.raises(GraphError, match="at most 60 nodes; got 61"):
        from_smiles("C" * 61, IMPLICIT)


def test_schemas_that_are_no_molecules_are_refused():
    atoms, bonds = IMPLICIT.nodes, IMPLICIT.edges
    plain = Schema(nodes=atoms, edges=bonds, max_nodes=5)
    untyped = Schema(nodes=atoms, max_nodes=5, chemistry=Chemistry(explicit_hydrogens=False))
    strange = untyped.model_copy(update={"edges": (Categories(name="type", values=("strong",)),)})
    for schema, problem in ((plain, "chemistry"), (untyped, "edge categories"), (strange, "edge categories")):
        with pytest.raises(GraphError, match=problem):
            from_smiles("C", schema)


def test_famous_molecules_fit_the_schema_of_mutagenicity():
    schema = molecule_schema(["C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "Na"], 50, explicit_hydrogens=True)
    famous = famous_molecules()
    assert len({molecule.name for molecule in famous}) == len(famous) >= 12
    assert {molecule.mutagen for molecule in famous} == {True, False}
    graph = Graph.cat([from_smiles(molecule.smiles, schema) for molecule in famous])
    assert is_molecule(graph).all()
    assert is_radical_free(graph).all()


@pytest.mark.parametrize("name", ["aids", "mutagenicity"])
def test_real_graphs_are_molecules(name, data_folder):
    from graphflip.data import load_paper_dataset

    dataset = load_paper_dataset(name)
    graph = dataset.graphs(range(0, len(dataset), 10))
    assert is_molecule(graph, None).all()
    assert is_radical_free(graph).double().mean() > 0.995
    assert all(round_trip(graph, k) == graph[k] for k in range(0, len(graph), 8))
