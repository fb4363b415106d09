"""Files of molecules: what is read, what is guessed, what is refused and how it is named."""

import pytest
import torch

from graphflip.data.molecules.molecule import drug_schema, molecule_schema, to_mol, to_smiles
from graphflip.data.molecules.smiles import load_rdkit_molecules, load_smiles_csv, write_smiles_csv
from graphflip.data.tables import count_rows, has_usual_label, read_smiles
from graphflip.errors import ConfigError, DataError

pytest.importorskip("rdkit", reason="molecules need the extra `mol`: pip install 'graphflip[mol]'")

SCHEMA = molecule_schema(("C", "N", "O"), 6, explicit_hydrogens=False)


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "set.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_columns_are_guessed_and_named(write):
    path = write("Name,SMILES,Y\nethanol,CCO,1\nmethane,C,0\n\nbenzene,c1ccccc1,1\n")
    assert [row.row for row in read_smiles(path)] == [2, 3, 5]
    dataset = load_smiles_csv(path)
    assert dataset.ids == ("ethanol", "methane", "benzene")
    assert dataset.labels.tolist() == [1, 0, 1]
    assert dataset.classes == ("0", "1")
    assert dataset.schema == drug_schema(6)
    other = write("a,b,c\n0,C,CCO\n1,N,CC\n")
    named = load_smiles_csv(other, smiles_column="c", label_column="a")
    assert named.schema == drug_schema(3)
    assert named.ids == ("set/2", "set/3")


def test_smi_and_tsv_are_read(write):
    smi = load_smiles_csv(write("CCO ethanol yes\nCC ethane no\n", "a.smi"))
    tsv = load_smiles_csv(write("smiles\tid\tlabel\nCCO\tethanol\tyes\nCC\tethane\tno\n", "a.tsv"))
    assert smi.ids == tsv.ids == ("ethanol", "ethane")
    assert smi.classes == tsv.classes == ("no", "yes")
    assert smi.labels.tolist() == tsv.labels.tolist() == [1, 0]
    assert smi.graphs() == tsv.graphs()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_are_separated_as_the_header_says(write, name, mark):
    """Spreadsheets write semicolons in many countries, and put a mark before the first column."""
    path = write("\ufeffname,smiles,label\nethanol,CCO,a\nethane,CC,b\n".replace(",", mark), name)
    dataset = load_smiles_csv(path)
    assert (dataset.ids, dataset.classes) == (("ethanol", "ethane"), ("a", "b"))
    assert [row.row for row in read_smiles(path)] == [2, 3]


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        (("10", "9", "10"), ("9", "10"), [1, 0, 1]),
        (("1.0", "0.0", "1.0"), ("0.0", "1.0"), [1, 0, 1]),
        (("b", "a", "b"), ("a", "b"), [1, 0, 1]),
        (("0.5", "-1", "2e1"), (), [0.5, -1.0, 20.0]),
    ],
)
def test_kinds_of_labels(write, labels, classes, numbers):
    path = write("smiles,label\n" + "".join(f"{'C' * (k + 1)},{label}\n" for k, label in enumerate(labels)))
    dataset = load_smiles_csv(path)
    assert dataset.classes == classes
    assert dataset.labels.tolist() == numbers


def test_order_of_classes_can_be_given(write):
    path = write("smiles,label\nC,off\nCC,on\nCCC,maybe\n")
    dataset = load_smiles_csv(path, classes=("on", "off"), skip_bad=True)
    assert dataset.classes == ("on", "off")
    assert dataset.labels.tolist() == [1, 0]
    assert dataset.bad[0].row == 4
    assert "on, off; got maybe" in dataset.bad[0].reason


def test_without_labels_there_is_one_class(write):
    dataset = load_smiles_csv(write("smiles\nC\nCC\n"))
    assert dataset.classes == ("unlabeled",)
    assert dataset.labels.tolist() == [0, 0]
    with pytest.raises(DataError, match="at least two classes"):
        dataset.require_classes()


BAD = {
    "unparsable": ("C(C", "RDKit cannot read"),
    "empty": ('""', "RDKit cannot read"),
    "element": ("CCBr", "Atom 2 must be one of C, N, O; got Br"),
    "large": ("CCCCCCC", "at most 6 nodes; got 7"),
    "radical": ("C[CH2]", "charge and hydrogens"),
}


@pytest.mark.parametrize(("smiles", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_or_counted(write, smiles, reason):
    path = write(f"smiles,label\nCCO,1\n{smiles},0\nCC,0\n")
    with pytest.raises(DataError, match=r"set\.csv, row 3: .*" + reason):
        load_smiles_csv(path, schema=SCHEMA)
    dataset = load_smiles_csv(path, schema=SCHEMA, skip_bad=True)
    assert len(dataset) == 2
    assert len(dataset.bad) == 1
    assert (dataset.bad[0].file, dataset.bad[0].row) == (str(path), 3)
    assert reason in dataset.bad[0].reason


def test_all_bad_rows_are_counted_before_any_is_refused(write):
    path = write("smiles,label\nCCO,1\nC(C,0\nCC,0\nC(,1\n")
    with pytest.raises(DataError, match=r"row 3: .* 2 of 4 rows cannot be used; leave them out with --skip-bad"):
        load_smiles_csv(path)


def test_a_missing_label_is_a_bad_row(write):
    path = write("smiles,label\nCCO,1\nCC,\nC\nN,0\n")
    with pytest.raises(DataError, match="row 3: The label must be one of 0, 1; got nothing"):
        load_smiles_csv(path)
    assert [bad.row for bad in load_smiles_csv(path, skip_bad=True).bad] == [3, 4]


def test_max_nodes_limits_an_inferred_schema(write):
    path = write("smiles,label\nCCO,1\nCCCCS,0\nCC,0\n")
    dataset = load_smiles_csv(path, max_nodes=3, skip_bad=True)
    assert dataset.schema == drug_schema(3)
    assert len(dataset.bad) == 1


def test_of_mixtures_the_largest_part_is_read_as_it_is_drawn(write):
    dataset = load_smiles_csv(write("smiles\nCC(=O)[O-].[Na+]\nCCN.Cl.Cl.Cl.Cl.Cl\n"))
    assert [to_smiles(graph) for graph in dataset.graphs()] == ["CC(=O)[O-]", "CCN"]
    assert dataset.schema.max_nodes == 4


def test_explicit_hydrogens_are_nodes(write):
    dataset = load_smiles_csv(write("smiles,label\nCO,1\nC,0\n"), explicit_hydrogens=True)
    assert dataset.num_nodes.tolist() == [6, 5]
    assert dataset.schema.nodes[0].values == ("H", "C", "O")


def test_files_that_cannot_be_used(write, tmp_path):
    for path, problem in (
        (tmp_path / "none.csv", "must be readable"),
        (write("C\n", "set.xyz"), r"end in \.csv, \.tsv or \.smi"),
        (write("", "empty.csv"), "the file is empty"),
        (write("a,b\n1,2\n", "header.csv"), "must name a column of SMILES"),
        (write("smiles,label\n", "rows.csv"), "0 rows, none can"),
    ):
        with pytest.raises(DataError, match=problem):
            load_smiles_csv(path)
    with pytest.raises(DataError, match=r"2 rows, none can\..*row 2"):
        load_smiles_csv(write("smiles\nC(\nC(\n"), skip_bad=True)
    with pytest.raises(DataError, match="must have the column `nope`; got smiles"):
        load_smiles_csv(write("smiles\nC\n"), label_column="nope")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"smiles\n\xff\xfe\n")
    with pytest.raises(DataError, match="UTF-8"):
        load_smiles_csv(binary)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_tables_are_read_as_spreadsheets_write_them(encoding, tmp_path):
    text = "smiles,name,label\r\nCCO,café,a\r\nCCN,thé,b\r\n"
    path = tmp_path / "spreadsheet.csv"
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    path.write_bytes((mark + text).encode(encoding))
    assert [(row.id, row.smiles) for row in read_smiles(path, tolerant=True)] == [("café", "CCO"), ("thé", "CCN")]
    assert count_rows(path) == 2
    assert has_usual_label(path)


@pytest.mark.parametrize("label", ["nitro", "logp"])
def test_rdkit_molecules_survive_a_file(label, tmp_path):
    dataset = load_rdkit_molecules(label, limit=80)
    assert len(dataset) + len(dataset.bad) == 80
    assert set(dataset.split) == {"train", "validation", "test"}
    write_smiles_csv(dataset, tmp_path / "again.csv")
    again = load_smiles_csv(tmp_path / "again.csv", schema=dataset.schema, classes=dataset.classes)
    assert again.graphs() == dataset.graphs()
    assert again.ids == dataset.ids
    assert torch.equal(again.labels, dataset.labels)
    assert again.classes == dataset.classes


def test_nitro_label_is_the_nitro_group_of_the_graph():
    Chem = pytest.importorskip("rdkit.Chem")
    nitro = Chem.MolFromSmarts("[N+](=O)[O-]")
    dataset = load_rdkit_molecules("nitro", limit=80)
    graph = dataset.graphs()
    assert dataset.labels.tolist() == [int(to_mol(graph, k).HasSubstructMatch(nitro)) for k in range(len(graph))]
    assert set(dataset.labels.tolist()) == {0, 1}


def test_unknown_rdkit_label():
    with pytest.raises(ConfigError, match="nitro or logp; got 'mass'"):
        load_rdkit_molecules("mass")
