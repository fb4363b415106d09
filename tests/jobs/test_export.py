"""Exports say what the shards hold, and are safe to open."""

import csv
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflip.errors import ConfigError, JobError
from graphflip.jobs.export import export, write_csv
from graphflip.jobs.tables import COLUMNS

from .conftest import answers_of


def test_json_lines_are_those_of_the_job(undisturbed, tmp_path):
    count = export(undisturbed, tmp_path / "x.jsonl")
    assert (tmp_path / "x.jsonl").read_bytes() == (undisturbed / "counterfactuals.jsonl").read_bytes()
    assert count == 8


def test_csv_has_all_answers(undisturbed, tmp_path):
    assert export(undisturbed, tmp_path / "x.csv") == 12
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    answers = answers_of(undisturbed)
    assert [row["input"] for row in rows] == [answer["input"] for answer in answers]
    assert [row["outcome"] for row in rows] == [answer["outcome"] for answer in answers]
    assert [row["p_factual"] for row in rows] == [
        "" if answer["p_factual"] is None else str(answer["p_factual"]) for answer in answers
    ]


formulas = st.sampled_from(
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        '=HYPERLINK("x")',
        "plain",
        "a\n=b",
        "\uff1d1+1",
        "x;=1+1",
        "x, @A1",
        " =1",
    ]
)


@given(cells=st.lists(st.one_of(formulas, st.text(max_size=20)), min_size=1, max_size=3))
def test_no_cell_is_a_formula(cells, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    answers = [dict.fromkeys(COLUMNS) | {"id": cell, "input": cell, "note": cell} for cell in cells]
    write_csv(path, answers)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(cells)
    for row, cell in zip(rows, cells, strict=True):
        for name in ("id", "input", "note"):
            for part in re.split(r"[;,|\t\r\n]", row[name]):
                assert part.strip()[:1] not in ("=", "+", "-", "@", *"\uff1d\uff0b\uff0d\uff20")
            assert row[name][:1] not in ("\t", "\r", "\n")
            assert row[name].replace("'", "") == cell.replace("'", "")
    for line in path.read_bytes().decode().split("\r\n"):
        assert line[:1] in ('"', "")


def test_long_cells_are_cut_so_that_every_reader_reads_them(tmp_path):
    path, texts = tmp_path / "x.csv", ["a" * 32_000, "b" * 40_000]
    write_csv(path, [dict.fromkeys(COLUMNS) | {"note": text} for text in texts])
    with path.open(newline="", encoding="utf-8") as file:
        kept, cut = (row["note"] for row in csv.DictReader(file))
    assert kept == texts[0]
    assert cut == "b" * 32_000 + " …"


def test_what_cannot_be_exported(undisturbed, tmp_path):
    with pytest.raises(ConfigError, match=r"\.jsonl or \.csv"):
        export(undisturbed, tmp_path / "x.xlsx")
    with pytest.raises(JobError, match="no such file"):
        export(tmp_path, tmp_path / "x.csv")
