"""What a job may be given: every row of it is read, whatever its neighbors are."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from graphflip.data import source as sources
from graphflip.data.functions import call_function
from graphflip.data.inputs import InputRow
from graphflip.data.molecules.molecule import from_smiles
from graphflip.data.molecules.sdf import from_molblock, read_sdf
from graphflip.data.planted.motif import planted
from graphflip.data.source import of_graphs, open_source
from graphflip.data.tu.reading import load_tu
from graphflip.errors import ConfigError, DataError, GraphflipError
from graphflip.jobs.folder import digest_of
from graphflip.jsongraph import graph_from_json, graph_to_json

from .conftest import small_kit

GOLDEN = Path(__file__).parents[1] / "golden"
SCHEMA = small_kit.SCHEMA
in_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def rows_of(path: Path) -> list[InputRow]:
    return list(open_source(str(path)).rows())


def readable(row: InputRow) -> bool:
    try:
        row.graph(SCHEMA)
    except GraphflipError:
        return False
    return True


@pytest.mark.parametrize("text", ["CCO", "C" * 5000, "C/C=C/C"])
def test_a_text_that_names_nothing_else_is_a_smiles(text):
    assert list(open_source(text).rows()) == [InputRow(1, text, "smiles", text)]


def test_tables_give_ids_lines_and_smiles(tmp_path):
    (tmp_path / "a.csv").write_text("name,SMILES\nethanol,CCO\n\n,CC\n")
    (tmp_path / "a.tsv").write_text("smiles\tid\nCCO\tx\n")
    (tmp_path / "a.smi").write_text("CCO ethanol\nCC\n")
    assert rows_of(tmp_path / "a.csv") == [InputRow(2, "ethanol", "smiles", "CCO"), InputRow(4, "a/4", "smiles", "CC")]
    assert rows_of(tmp_path / "a.tsv") == [InputRow(2, "x", "smiles", "CCO")]
    assert rows_of(tmp_path / "a.smi") == [InputRow(1, "ethanol", "smiles", "CCO"), InputRow(2, "a/2", "smiles", "CC")]


def test_a_row_that_cannot_be_read_does_not_hide_the_next(tmp_path):
    odd = [b"b,C\xff\xfeC", b"c,\0CC", b"d," + b"C" * 2_000_000, b'e,"' + b"C" * 140_000]
    (tmp_path / "a.csv").write_bytes(b"\n".join([b"id,smiles", b"a,CC", *odd, b"f,CO"]))
    found = {row.id: readable(row) for row in rows_of(tmp_path / "a.csv")}
    assert found.pop("a")
    assert found.pop("f")
    assert found.pop("b") is False
    assert not any(found.values())
    assert {"a/5", "a/6"} <= found.keys()  # too long to say who they are
    (tmp_path / "a.smi").write_bytes(b"CC x\n\xff\xfe y\n" + b"C" * 3_000_000 + b"\nCO z\n")
    assert [readable(row) for row in rows_of(tmp_path / "a.smi")] == [True, False, False, True]


def test_the_largest_part_of_molecules_is_read_and_graphs_as_they_are():
    salt = InputRow(1, "a", "smiles", "CC(=O)[O-].[Na+]")
    assert salt.graph(SCHEMA) == from_smiles("CC(=O)O", SCHEMA)
    with pytest.raises(GraphflipError, match="leave out `--as-is`"):
        salt.graph(SCHEMA, parent=False)
    mixture = from_smiles("CCO.O", SCHEMA)
    assert InputRow(1, "a", "graph", json.dumps(graph_to_json(mixture))).graph(SCHEMA) == mixture


def test_records_of_sd_files(tmp_path):
    from rdkit import Chem

    writer = Chem.SDWriter(str(tmp_path / "a.sdf"))
    for text, name in (("CCO", "ethanol"), ("c1ccccc1O", ""), ("CC(=O)N", "amide")):
        mol = Chem.MolFromSmiles(text)
        mol.SetProp("_Name", name)
        mol.SetProp("activity", "1")
        writer.write(mol)
    writer.close()
    whole = (tmp_path / "a.sdf").read_text()
    broken = whole.replace("  3  2  0", "  9  2  0", 1)
    for text, good in ((whole, [True, True, True]), (broken, [False, True, True]), (whole[:-5], [True, True, True])):
        (tmp_path / "a.sdf").write_text(text)
        rows = rows_of(tmp_path / "a.sdf")
        assert [row.id for row in rows] == ["ethanol", "a/2", "amide"]
        assert [readable(row) for row in rows] == good
    first = next(read_sdf(tmp_path / "a.sdf"))
    assert from_molblock(first.block, SCHEMA) == from_smiles("CCO", SCHEMA)


def test_json_lines_are_graphs_or_explanations(tmp_path, undisturbed):
    graph = {"nodes": [{"type": "C"}, {"type": "O"}], "edges": [[0, 1, {"type": "single"}]]}
    lines = [graph, {"id": "x", "graph": graph}, {"id": 7, "factual": graph, "counterfactual": None}, [1]]
    (tmp_path / "a.jsonl").write_text("\n".join([*map(json.dumps, lines), "{", "", "[" * 9000]))
    rows = rows_of(tmp_path / "a.jsonl")
    assert [row.id for row in rows] == ["a/1", "x", "7", "a/4", "a/5", "a/7"]
    assert [readable(row) for row in rows] == [True, True, True, False, False, False]
    again = rows_of(undisturbed / "counterfactuals.jsonl")
    assert all(map(readable, again))


def test_a_tu_folder_is_read_by_the_names_of_its_types():
    rows = rows_of(GOLDEN / "toy")
    assert rows
    assert [row.id for row in rows] == [f"toy/{k}" for k in range(len(rows))]
    whole = load_tu(GOLDEN / "toy")
    assert all(row.graph(whole.schema) == whole.graphs([k]) for k, row in enumerate(rows))


def test_a_tu_folder_may_have_attributes_that_a_model_does_not_know():
    """AIDS comes with charges and coordinates, of which models of its types know nothing."""
    whole = load_tu(GOLDEN / "toy")
    few = whole.schema.model_copy(update={"nodes": whole.schema.nodes[:1], "edges": ()})
    for k, row in enumerate(rows_of(GOLDEN / "toy")):
        graph = row.graph(few)
        assert graph.nodes() == [{"color": node["color"]} for node in whole.graphs([k]).nodes()]
        assert [edge[:2] for edge in graph.edges()] == [edge[:2] for edge in whole.graphs([k]).edges()]
    with pytest.raises(DataError, match=r"attributes that the model knows \(\w+\); got .* Leave the others out"):
        rows_of(GOLDEN / "toy")[0].graph(SCHEMA)


def test_a_part_of_a_known_set(monkeypatch):
    monkeypatch.setattr(sources, "_load_set", lambda name: planted(20, seed=1))
    rows = list(open_source("planted:test").rows())
    assert 0 < len(rows) < len(list(open_source("planted").rows())) == 20


@given(seeds=st.lists(st.integers(0, 50), max_size=4))
def test_graphs_come_back(seeds):
    graphs = [from_smiles(small_kit.molecule(seed + 1), SCHEMA) for seed in seeds]
    rows = list(of_graphs(graphs).rows())
    assert [graph_from_json(json.loads(row.text), SCHEMA) for row in rows] == graphs
    assert [graph_to_json(graph) for graph in graphs] == [json.loads(row.text) for row in rows]


@pytest.fixture
def own_graphs(tmp_path, monkeypatch):
    """A module of a user's own in the current folder: PyG graphs without labels, some of which are none."""
    (tmp_path / "own_graphs.py").write_text(
        "import torch\n"
        "from torch_geometric.data import Data\n"
        "from graphflip.data.planted.motif import planted\n"
        "edges = torch.tensor([[0, 1], [1, 0]])\n"
        "def graphs():\n"
        "    yield Data(x=torch.eye(3)[[0, 2]], edge_index=edges, edge_attr=torch.tensor([1, 1]))\n"
        "    yield Data(x=torch.tensor([[0], [2]]), edge_index=edges, edge_attr=torch.eye(3)[[1, 1]])\n"
        "    yield Data(x=torch.tensor([1]), edge_index=torch.empty(2, 0, dtype=torch.long))\n"
        "    yield Data(x=torch.tensor([7, 0]), edge_index=edges, edge_attr=torch.tensor([1, 1]))\n"
        "    yield Data(x=torch.eye(3)[[0] * 13], edge_index=edges, edge_attr=torch.tensor([1, 1]))\n"
        "    yield Data(x=torch.eye(2), edge_index=edges)\n"
        "    yield 'CCO'\n"
        "def dataset():\n"
        "    return planted(5, seed=1)\n"
        "def none():\n"
        "    return []\n"
        "def broken():\n"
        "    yield 1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("own_graphs", None)


def test_a_function_gives_pyg_graphs(own_graphs):
    rows = list(open_source("own_graphs:graphs", function=True).rows())
    assert [row.id for row in rows] == [f"graphs/{k}" for k in range(7)]
    assert [readable(row) for row in rows] == [True, True, True, False, False, False, False]
    first, second, single = (row.graph(SCHEMA) for row in rows[:3])
    assert first == second == from_smiles("C=O", SCHEMA)
    assert single == from_smiles("N", SCHEMA)
    assert list(open_source("own_graphs:dataset", function=True).rows()) == list(_planted_rows(5))


def test_a_file_gives_pyg_graphs(own_graphs, tmp_path):
    made = call_function("own_graphs:graphs")[:6]
    made += [Data(x="red", edge_index=made[0].edge_index), Data(x=made[0].x, edge_index=torch.zeros(3, 1))]
    made += [Data(x=made[0].x.to_sparse(), edge_index=made[0].edge_index)]
    torch.save(made, tmp_path / "mine.pt")
    rows = list(open_source(str(tmp_path / "mine.pt")).rows())
    assert [row.id for row in rows] == [f"mine/{k}" for k in range(9)]
    assert [readable(row) for row in rows] == [True, True, True, *6 * [False]]
    by_function = list(open_source("own_graphs:graphs", function=True).rows())
    assert [row.text for row in rows[:6]] == [row.text for row in by_function[:6]]


def _planted_rows(count: int) -> Iterator[InputRow]:
    dataset = planted(count, seed=1)
    for k, name in enumerate(dataset.ids):
        yield InputRow(k, name, "graph", json.dumps(graph_to_json(dataset.graphs([k]))))


@pytest.mark.parametrize(
    ("spec", "says"),
    [("own_graphs:broken", "it raised ZeroDivisionError"), ("own_graphs:moon", "must be a function of own_graphs")],
)
def test_a_function_that_gives_none(own_graphs, spec, says):
    with pytest.raises(ConfigError, match=says):
        open_source(spec, function=True)


def test_an_input_without_rows_is_said(own_graphs, tmp_path):
    (tmp_path / "empty.smi").write_text("\n")
    (tmp_path / "header.csv").write_text("smiles\n")
    for spec in ("empty.smi", "header.csv", "own_graphs:none"):
        with pytest.raises(DataError, match="at least one row"):
            list(open_source(spec, function=":" in spec).nonempty())


@pytest.mark.parametrize("spec", ["nowhere.csv", " ", "", "nowhere/x.sdf"])
def test_what_is_no_input_is_said(spec):
    with pytest.raises(DataError, match="SMILES"):
        open_source(spec)


def test_a_part_that_a_set_does_not_have_is_named():
    with pytest.raises(DataError, match="A part of planted must be one of train, validation, test; got 'moon'"):
        open_source("planted:moon")


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "mine.docx").write_text("CCO")
    with pytest.raises(DataError, match=r"mine.docx: a file to read must end in .csv, .*; got '.docx'"):
        open_source(str(tmp_path / "mine.docx"))


def test_of_a_module_with_many_functions_a_few_are_named():
    with pytest.raises(ConfigError, match=r"which has (\w+, ){9}\w+ and \d+ more\."):
        open_source("os:path", function=True)


def test_the_digest_sees_every_change():
    row = InputRow(1, "a", "smiles", "CC")
    others = [row._replace(number=2), row._replace(id="b"), row._replace(form="graph"), row._replace(text="CO")]
    digests = [digest_of(rows)[0] for rows in ([row], *([one] for one in others), [row, row], [])]
    assert len(set(digests)) == len(digests)


files = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", errors="replace")),
    st.text(alphabet='CNO()=#[]1%+-@,\t\n\r"smilesid{}:$ >', max_size=200).map(str.encode),
    st.lists(st.sampled_from(["CCO", "id", "smiles", ",", "\n", '"', "M  END", "$$$$", "  3  2  0", "V2000", "{", "]"]))
    .map("".join)
    .map(str.encode),
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".smi", ".sdf", ".jsonl", ".zip"])
@given(content=files)
@in_folder
def test_no_file_is_more_than_a_complaint(suffix, content, tmp_path):
    path = tmp_path / f"fuzz{suffix}"
    path.write_bytes(b"smiles,id\n" + content if suffix == ".csv" else content)
    try:
        rows = rows_of(path)
    except GraphflipError:
        return
    for row in rows:
        readable(row)
    assert digest_of(rows) == digest_of(rows_of(path))
