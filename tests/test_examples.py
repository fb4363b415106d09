"""The examples run as they stand, on little data."""

import runpy
import sys
from pathlib import Path

import pytest

import graphflip

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def little_data(request):
    """A few of the smaller graphs of Mutagenicity in place of all."""
    request.getfixturevalue("data_folder")
    dataset = graphflip.load_dataset("mutagenicity")
    small = (dataset.num_nodes <= 12).nonzero()[:100, 0]
    return dataset.subset(small).split_randomly(0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("own_pyg_model.py", ["gin", "1", "20"]),
        ("own_pyg_model.py", ["gat", "1", "20"]),
        ("own_pyg_model.py", ["gine", "1", "20"]),
        ("random_forest.py", ["1", "3000"]),
    ],
)
def test_examples_run(name, arguments, little_data, monkeypatch, capsys):
    monkeypatch.setattr(graphflip, "load_dataset", lambda _: little_data, raising=False)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert "flipped" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.name)
def test_examples_are_short(file):
    assert len(file.read_text().splitlines()) <= 60
