"""The examples run as they stand, on little data, and with a search that gives up early."""

import runpy
import sys
from pathlib import Path

import pytest

import graphflip
from graphflip.explain.edits.beam import BeamSearch
from graphflip.explain.edits.neighborhood import SearchStage

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def little_data(request):
    """A few of the smaller graphs of Mutagenicity in place of all."""
    request.getfixturevalue("data_folder")
    dataset = graphflip.load_dataset("mutagenicity")
    small = (dataset.num_nodes <= 12).nonzero()[:100, 0]
    return dataset.subset(small).split_randomly(0)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run an example and give what it printed."""

    def run_example(name, *arguments):
        monkeypatch.setattr(BeamSearch, "stages", lambda _: iter([SearchStage(2, 0.0, 1)]))
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run_example


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("own_pyg_model.py", ["gin", "1", "10"]),
        ("own_pyg_model.py", ["gat", "1", "10"]),
        ("own_pyg_model.py", ["gine", "1", "10"]),
        ("random_forest.py", ["1", "3000"]),
    ],
)
def test_examples_on_mutagenicity_run(name, arguments, little_data, run, monkeypatch):
    monkeypatch.setattr(graphflip, "load_dataset", lambda _: little_data, raising=False)
    assert "of 1 flipped" in run(name, *arguments)[-1]


@pytest.mark.parametrize("name", ["multiclass.py", "directed.py", "regression.py"])
def test_examples_on_sets_of_the_package_run(name, run):
    assert "of 1 flipped" in run(name, "1", "60", "3")[-1]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.name)
def test_examples_are_short(file):
    assert len(file.read_text().splitlines()) <= 60
