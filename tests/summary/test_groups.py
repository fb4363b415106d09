"""Groups of graphs, two models side by side, and the page of the viewer."""

import json

import numpy as np
import pytest

from graphflip.cli.summarize import _group
from graphflip.data.source import open_source
from graphflip.errors import ConfigError
from graphflip.explain.explainer import load
from graphflip.jobs.settings import JobSettings
from graphflip.jobs.summaries import group_source
from graphflip.report.goes_by import page
from graphflip.summary import Group, SummaryOptions, compare_models
from graphflip.summary.results.stored import summary_from_json

from .models import Large, Rule, explainer_of

TINY = SummaryOptions(num=2, sample=5, answers=0, shortlist=5, times=1, held_out=0.4, num_graphs=0)
MOLECULES = {"a": "O=[N+]([O-])c1ccccc1", "b": "CCO", "c": "Nc1ccc2ccccc2c1"}


@pytest.fixture(scope="module")
def ames():
    return load("ames")


@pytest.fixture(scope="module")
def rows(ames):
    return [(key, ames.read(text)) for key, text in MOLECULES.items()]


@pytest.mark.parametrize(
    ("group", "kept"),
    [
        (Group(), "abc"),
        (Group(contains="c1ccccc1"), "ac"),
        (Group(contains="[N+](=O)[O-]"), "a"),
        (Group(ids=("b", "c")), "bc"),
        (Group(contains="c1ccccc1", ids=("b", "c")), "c"),
        (Group(labels={"a": "nonmutagen", "b": "nonmutagen"}), "a"),
    ],
)
def test_a_group_holds_what_was_asked_for(ames, rows, group, kept):
    assert [key for key, _ in group.of(rows, ames)] == list(kept)


@pytest.mark.parametrize("group", [Group(contains="c1cc"), Group(ids=("z",))])
def test_a_group_that_cannot_be_says_so(ames, rows, group):
    with pytest.raises(ConfigError):
        group.of(rows, ames)


def test_the_errors_of_a_model_are_a_group(tmp_path):
    """What the command takes for `--wrong`: labels of a file, by the ids that its rows have."""
    path = tmp_path / "labels.csv"
    labels = {"a": "nonmutagen", "b": "nonmutagen", "c": "mutagen"}
    rows = [f"{key},{MOLECULES[key]},{labels[key]}" for key in MOLECULES]
    path.write_text("\n".join(["id,smiles,label", *rows, "d,CCCCO,mutagen"]))
    own = group_source(open_source(str(path)), JobSettings.of("ames"), _group(str(path), None, None, wrong=True))
    assert [row.id for row in own] == ["a", "d"]
    assert own.name == "labels.csv, graphs that are predicted wrongly"


@pytest.fixture(scope="module")
def compared():
    (rule, dataset), (large, _) = explainer_of(Rule, 30), explainer_of(Large, 30)
    graphs = dataset.subset(np.flatnonzero(dataset.labels == 1).tolist())
    return rule, compare_models(rule, rule, graphs, "no motif", names=("one", "two"), options=TINY), large, graphs


def test_a_model_does_not_differ_from_itself(compared):
    _, same, *_ = compared
    assert same.agree.value == 1
    assert same.recourses
    for one in same.recourses:
        assert one.found_by == ("one", "two")
        assert one.gap == one.differ.value == 0


def test_the_list_begins_with_what_only_one_model_goes_by(compared):
    rule, _, large, graphs = compared
    other = compare_models(rule, large, graphs, "no motif", names=("rule", "large"), options=TINY)
    first = other.recourses[0]
    assert first.found_by == ("rule",)
    assert first.gap == first.differ.value == 1.0
    assert "rule and large side by side" in str(other)
    assert json.loads(json.dumps(other.to_json()))["names"] == ["rule", "large"]


def test_the_viewers_page_links_each_graph_to_the_workbench(ames, tmp_path):
    summary = ames.summarize(
        list(MOLECULES.values()),
        "nonmutagen",
        ids=list(MOLECULES),
        num=1,
        sample=3,
        answers=0,
        shortlist=3,
        times=1,
        num_graphs=1,
    )
    stored = json.loads(json.dumps(summary.to_json()))
    again = summary_from_json(stored, ames.kit.schema)
    assert json.loads(json.dumps(again.to_json())) == stored
    (tmp_path / "summary.json").write_text(json.dumps(stored))
    html = page([str(tmp_path)], {"ames": "ames"})
    covered = [name for part in summary.directions for one in part.recourses for name in one.covers]
    assert covered
    assert all(f"model=ames&amp;smiles={''}" in html and f"name={name}" in html for name in covered)
    assert "<script" not in html
    assert "style=" not in html
    with pytest.raises(ConfigError, match="of a kit that is served"):
        page([str(tmp_path)], {"logp": "logp"})
    assert "No summary is served" in page([], {"ames": "ames"})
