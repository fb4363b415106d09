"""Names of TU labels: from README files, labels.json and public knowledge; molecules are recognized by them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import to_smiles
from graphflip.data.tu.molecular import kekulized
from graphflip.data.tu.notes import LabelNotes
from graphflip.data.tu.reading import load_tu, write_labels
from graphflip.errors import DataError

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["O=[N+]([O-])c1ccccc1", "Nc1ccc2ccccc2c1", "c1ccncc1C(=O)O", "Oc1ccc(Cl)cc1C#N", "c1cc[nH]c1", "c1ccoc1Br"]
NODES, EDGES = ["C", "N", "O", "F", "I", "Cl", "Br"], ["aromatic", "single", "double", "triple"]


def folder_of(path, name, files=()):
    """A TU folder of the molecules, hydrogens left out, aromatic bonds as such."""
    path = path / name
    path.mkdir()
    edges, owner, atoms, bonds, first = [], [], [], [], 1
    for k, smiles in enumerate(SMILES * 3):
        mol = Chem.MolFromSmiles(smiles)
        owner += [k + 1] * mol.GetNumAtoms()
        atoms += [NODES.index(atom.GetSymbol()) for atom in mol.GetAtoms()]
        for bond in mol.GetBonds():
            i, j = first + bond.GetBeginAtomIdx(), first + bond.GetEndAtomIdx()
            edges += [f"{i}, {j}", f"{j}, {i}"]
            bonds += [EDGES.index(str(bond.GetBondType()).lower())] * 2
        first += mol.GetNumAtoms()
    labels = [1 - 2 * (k % 2) for k in range(len(SMILES) * 3)]
    parts = {"A": edges, "graph_indicator": owner, "node_labels": atoms, "edge_labels": bonds, "graph_labels": labels}
    for suffix, lines in parts.items():
        (path / f"{name}_{suffix}.txt").write_text("".join(f"{line}\n" for line in lines))
    for file, text in dict(files).items():
        (path / file).write_text(text)
    return path


README = "README for dataset X\n\n=== Usage ===\n\n(4) DS_node_labels.txt (n lines)\n\nNode labels:\n\n" + "".join(
    f"  {k}  {name}\n" for k, name in enumerate(NODES)
)
README += (
    "\nEdge labels:\n\n" + "".join(f"  {k}  {name}\n" for k, name in enumerate(EDGES)) + "\n\n=== References ===\n1 x\n"
)
REVERSED = "Node labels were converted to integer values using this map:\n\nComponent 0:\n" + "".join(
    f"{name} {k}\n" for k, name in enumerate(NODES)
)
REVERSED += (
    "\n\nEdge labels were converted to integer values using this map:\n\nComponent 0:\n\t0\t:\n\t1\t-\n\t2\t=\n\t3\t#\n"
)
JSON = json.dumps(
    {"nodes": dict(enumerate(NODES)), "edges": dict(enumerate(EDGES)), "classes": {"1": "bad", "-1": "good"}}
)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("MUTAG", {}),
        ("OTHER", {"README.txt": README}),
        ("OTHER", {"OTHER_label_readme.txt": REVERSED}),
        ("OTHER", {"labels.json": JSON}),
    ],
    ids=["public", "readme", "label readme, reversed", "labels.json"],
)
def test_molecules_are_recognized_by_the_names_of_their_labels(tmp_path, name, files):
    dataset = load_tu(folder_of(tmp_path, name, files))
    assert dataset.schema.chemistry is not None
    assert dataset.schema.edges[0].values == ("single", "double", "triple")
    read = [Chem.CanonSmiles(to_smiles(dataset.graphs([k]))) for k in range(len(SMILES))]
    assert read == [Chem.CanonSmiles(smiles) for smiles in SMILES]


def test_classes_have_names_too(tmp_path):
    assert load_tu(folder_of(tmp_path, "MUTAG")).classes == ("nonmutagen", "mutagen")
    assert load_tu(folder_of(tmp_path, "OTHER", {"labels.json": JSON})).classes == ("good", "bad")


def test_a_labels_file_is_written_to_be_filled_in(tmp_path):
    folder = folder_of(tmp_path, "OTHER")
    assert load_tu(folder).schema.chemistry is None
    path = write_labels(folder)
    stored = json.loads(path.read_text())
    assert set(stored["nodes"]) == {"0", "1", "2", "5", "6"}
    assert load_tu(folder).schema.chemistry is None  # not filled in yet
    stored["nodes"] = {key: NODES[int(key)] for key in stored["nodes"]}
    stored["edges"] = {key: EDGES[int(key)] for key in stored["edges"]}
    path.write_text(json.dumps(stored))
    assert load_tu(folder).schema.chemistry is not None
    path.write_text(json.dumps(stored | {"molecules": False}))
    assert load_tu(folder).schema.chemistry is None
    assert write_labels(folder) is None
    path.write_text('{"nodes": 3}')
    with pytest.raises(DataError, match="names of labels must be given by their integers"):
        load_tu(folder)


def test_names_that_break_the_rules_of_valence_are_no_chemistry(tmp_path):
    wrong = JSON.replace('"0": "C"', '"0": "F"').replace('"3": "F"', '"3": "C"')
    dataset = load_tu(folder_of(tmp_path, "OTHER", {"labels.json": wrong}))
    assert dataset.schema.chemistry is None
    assert "F" in dataset.schema.nodes[0].values


def test_sentences_are_no_maps():
    notes = LabelNotes.parse("Node labels:\n\n 0 C\n 1 N\nThere are 3 of them\n 2 O\n")
    assert notes.maps == {"node labels": [{0: "C", 1: "N"}]}


@given(st.sampled_from(["c1ccccc1", "c1ccc2ccccc2c1", "c1ccc2[nH]ccc2c1", "O=c1cc[nH]cc1", "c1ccc2c(c1)oc1ccccc12"]))
def test_kekulized_rings_have_as_many_double_bonds_as_rdkit_draws(smiles):
    mol = Chem.MolFromSmiles(smiles)
    bonds = {
        (min(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), max(b.GetBeginAtomIdx(), b.GetEndAtomIdx())): str(
            b.GetBondType()
        ).lower()
        for b in mol.GetBonds()
    }
    drawn = kekulized([atom.GetSymbol() for atom in mol.GetAtoms()], bonds)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    assert sum(drawn.values()) == sum(int(b.GetBondTypeAsDouble()) for b in mol.GetBonds())
