"""Tables keep figures that the present run has not measured, and only those of the same graphs."""

import json

import pytest

from graphflip.bench.quality.earlier import with_earlier, with_earlier_lines


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.json"
    about = {"part": "test", "limit": None}
    path.write_text(
        json.dumps(
            {"provenance": about, "a": {"walk": {"n": 1}, "real": {"n": 2}}, "b": {"walk": {"n": 3}, "found": 1.0}}
        )
    )
    return path


def test_new_figures_replace_earlier_ones_and_the_rest_is_kept(table):
    found = with_earlier({"c": {"walk": {"n": 5}}, "a": {"walk": {"n": 4}}}, table, "test", None)
    assert found == {"c": {"walk": {"n": 5}}, "a": {"walk": {"n": 4}, "real": {"n": 2}}, "b": {"walk": {"n": 3}}}
    assert list(found) == ["c", "a", "b"]


@pytest.mark.parametrize(("part", "limit"), [("validation", None), ("test", 5)])
def test_figures_of_other_graphs_are_not_mixed_in(table, part, limit):
    assert with_earlier({"a": {"walk": 4}}, table, part, limit) == {"a": {"walk": 4}}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"provenance": 3}'])
def test_a_table_that_cannot_be_read_is_no_obstacle(table, content):
    table.write_text(content)
    assert with_earlier({"a": {}}, table, "test", None) == {"a": {}}


def test_lines_of_graphs_are_kept_like_figures(tmp_path):
    path = tmp_path / "graphs.csv"
    path.write_text("dataset,row,x\na,walk,1\nb,walk,2\nz,walk,3\n")
    results = {"a": {"walk": {}}, "b": {"walk": {}}}
    assert with_earlier_lines("dataset,row,x\na,walk,9\n", path, results) == "dataset,row,x\na,walk,9\nb,walk,2\n"
    assert with_earlier_lines("other\na,walk,9\n", path, results) == "other\na,walk,9\n"
