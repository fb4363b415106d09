"""Tables for people and machines: the paper's figures stand beside ours, and every row is whole."""

import csv
import io
import re

import pytest

from graphflip.bench.measure import MEASURES
from graphflip.bench.paper.runs import METHODS, WALK
from graphflip.bench.paper.tables import dataset_table, model_table, published, result_table

SETS = ("aids", "mutagenicity", "nci1")


@pytest.fixture(scope="module")
def tables():
    figures = {name: 0.5 for measure in MEASURES for name in (measure, f"{measure}_spread")} | {"n": 3}
    known = {method.name: figures for method in METHODS} | {"real": {"n": 3, "molecule": None, "nafr": 0.9}}
    known |= {"data": dict(published()["table2"]["aids"], train=8, validation=1, test=1)}
    known |= {"models": published()["table3"]["aids"]}
    results = dict.fromkeys(SETS, known)
    return [result_table(results, METHODS), dataset_table(results), model_table(results)]


def test_the_papers_tables_are_complete():
    tables = published()
    rows = {method.published for method in METHODS} - {None}
    for name in SETS:
        assert set(tables["table1"][name]) == rows
        for row in tables["table1"][name].values():
            means = ("ged", "led", "cosine", "sic")
            assert set(row) == {*means, *(f"{name}_spread" for name in means), "flip_ratio"}
            assert 0 <= row["flip_ratio"] <= 1
            assert -1 <= row["cosine"] <= 1
        parts = tables["table3"][name]
        assert parts["neg_elbo"] == pytest.approx(parts["kl"] + parts["reconstruction"], abs=0.7)


def test_the_walk_has_the_papers_settings():
    assert WALK == {
        "steps": 1000, "step_size": 0.05, "regularization": 1.0, "tau": 1.0,
        "infer": "gumbel", "optimizer": "adam", "anchor": "origin",
    }  # fmt: skip
    assert [m.settings["k"] for m in METHODS if "k" in m.settings] == [10, 10]


def test_the_papers_figures_stand_beside_ours(tables):
    rows = {(row["dataset"], row["method"]): row for row in csv.DictReader(io.StringIO(tables[0].to_csv()))}
    assert rows["AIDS", "CGCF"]["paper_ged"] == "35.79"
    assert rows["NCI1", "CGCF"]["paper_flip_ratio"] == "1.0"
    assert rows["Mutagenicity", "Nearest, ordered"]["paper_sic"] == "0.14"
    assert rows["Mutagenicity", "Nearest, aligned"]["paper_sic"] == "", "the paper has no such method"
    assert "| 35.8 ± 14.0 |" in tables[0].to_markdown("")


def test_real_graphs_stand_where_they_have_figures(tables):
    counts = [len(part.select(tables[0].rows)) for part in tables[0].parts]
    assert counts == [len(SETS) * len(METHODS), len(SETS) * (len(METHODS) + 1)]


def test_markdown_rows_are_whole(tables):
    for table in tables:
        blocks = re.findall(r"(?:^\|.*\|\n)+", table.to_markdown("source"), flags=re.MULTILINE)
        assert len(blocks) == len(table.parts)
        for part, block in zip(table.parts, blocks, strict=True):
            lines = block.splitlines()
            assert len(lines) == 2 + len(part.select(table.rows))
            assert len({line.count("|") for line in lines}) == 1


def test_every_note_is_told_and_every_number_is_explained(tables):
    for table in tables:
        text = table.to_markdown("source")
        marks = {int(mark) for mark in re.findall(r" \[(\d+)\] \|", text)}
        told = [int(number) for number in re.findall(r"^(\d+)\. ", text, flags=re.MULTILINE)]
        assert told == sorted(marks) == list(range(1, len(marks) + 1))


def test_latex_is_escaped_and_whole(tables):
    for table in tables:
        text = table.to_latex()
        assert text.isascii()
        assert text.count("{") == text.count("}")
        assert not re.search(r"(?<!\\)[_%&#](?! )", text.replace("{!}{%\n", "").replace("$^{", ""))
        for block in re.findall(r"\\begin\{tabular\}\{(l+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL):
            lines = [line for line in block[1].splitlines() if line.endswith(r"\\")]
            assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(block[0]) - 1}
