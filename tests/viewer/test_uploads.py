"""Uploads: files of every kind become entries, and no file breaks the reader."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.errors import DataError, GraphflipError
from graphflip.viewer.work import tasks
from graphflip.viewer.work.uploads import read_rows


def test_files_of_every_kind(explainer, answer):
    schema = explainer.kit.schema
    rows = read_rows("my.smi", "CO methanol\nCN\n", schema, 10)
    assert [(row.id, row.input) for row in rows.rows] == [("methanol", {"smiles": "CO"}), ("row 2", {"smiles": "CN"})]
    assert read_rows("C:\\x\\my.CSV", "name,smiles\na,CO\n", schema, 10).rows[0].id == "a"
    lines = f"{json.dumps(answer['record'])}\n[1]\n\nnot json\n{json.dumps({'id': 'g', 'graph': {'nodes': []}})}\n"
    records = read_rows("counterfactuals.jsonl", lines, schema, 10).rows
    assert [row.record is not None for row in records] == [True, False, False, False]
    assert [row.problem is not None for row in records] == [False, True, True, False]
    shown = tasks.show_file(
        explainer, {"name": "x.smi", "text": "CO\n((\n", "max_rows": 5, "max_smiles": 9}, lambda _: None
    )
    assert shown["rows"][0]["prediction"] == explainer.predict("CO")
    assert shown["rows"][1]["problem"]


def test_molecules_of_sd_files(explainer):
    from rdkit import Chem

    block = Chem.MolToMolBlock(Chem.MolFromSmiles("OCc1ccccc1"))
    text = f"{block}$$$$\nbroken\n$$$$\n"
    rows = read_rows("my.sdf", text, explainer.kit.schema, 10).rows
    assert explainer.read(rows[0].input["smiles"]) == explainer.read("OCc1ccccc1")
    assert rows[1].problem


def test_files_are_bounded(explainer):
    rows = read_rows("my.smi", "C\n" * 7, explainer.kit.schema, 5)
    assert (len(rows.rows), rows.left_out) == (5, True)
    assert not read_rows("my.smi", "C\n" * 5, explainer.kit.schema, 5).left_out


def test_a_file_says_nothing_of_where_the_server_put_it(explainer):
    assert [row.id for row in read_rows("my.smi", "CO\nCN amine\n", explainer.kit.schema, 5).rows] == ["row 1", "amine"]
    with pytest.raises(DataError, match=r"^The file: the header must name a column of SMILES"):
        read_rows("my.csv", "a,b\n1,2\n", explainer.kit.schema, 5)


@pytest.mark.parametrize("name", ["x", "x.exe", "../../x.pt", "x.smi/y", ""])
def test_other_files_are_refused(explainer, name):
    with pytest.raises(DataError, match="must end in"):
        read_rows(name, "CO", explainer.kit.schema, 5)


@settings(max_examples=60)
@given(suffix=st.sampled_from([".smi", ".csv", ".tsv", ".sdf", ".jsonl"]), text=st.text(max_size=200))
def test_no_file_breaks_the_reader(explainer, suffix, text):
    try:
        rows = read_rows(f"x{suffix}", text.encode("utf-8", "replace").decode(), explainer.kit.schema, 5).rows
    except GraphflipError:
        return
    for row in rows:
        tasks._row(explainer, row)
