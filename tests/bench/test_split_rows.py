"""Rows of the table over splits: other sets keep theirs, size alone stands beside, and no number is no zero."""

import json
from dataclasses import replace

import pytest
import torch

from graphflip.bench.paper.splits import Plan, Split, auroc_by_nodes, means, run_splits
from graphflip.data.planted.motif import planted

SET = planted(40, min_nodes=4, max_nodes=6)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run whose figures are the number of the split, without any training."""
    monkeypatch.setattr(Split, "figures", lambda self, stage: {"auroc": float(self.seed)} if stage != "walk" else {})

    def run(name, splits):
        written = run_splits([name], tmp_path, Plan(splits, 0), load_data=lambda name, seed: SET.split_randomly(seed))
        return json.loads((tmp_path / "splits.json").read_text()), written.read_text()

    return run


def test_rows_of_other_sets_stay_with_the_command_they_are_from(run):
    first, _ = run("nci1", 2)
    both, text = run("aids", 3)
    assert list(both) == ["provenance", "aids", "nci1"]
    assert both["nci1"] == first["nci1"]
    assert both["aids"]["command"] == "graphflip bench paper --splits 3 --walks 0 --data aids"
    assert both["nci1"]["command"] == "graphflip bench paper --splits 2 --walks 0 --data nci1"
    assert all(row["command"] in text for row in (both["aids"], both["nci1"]))
    again, _ = run("nci1", 3)
    assert (again["nci1"]["n_classifier"], again["aids"]) == (3, both["aids"])


@pytest.mark.parametrize("content", ["", "[]", "null", '{"aids": 3}', '{"aids": {"auroc": 1.0}}'])
def test_a_file_of_another_form_is_written_anew(run, tmp_path, content):
    (tmp_path / "splits.json").write_text(content)
    assert list(run("nci1", 2)[0]) == ["provenance", "nci1"]


def test_a_figure_that_is_no_number_has_no_mean():
    assert means([{"auroc": 0.5}, {"auroc": None}]) == {"auroc": None, "auroc_spread": None}


@pytest.mark.parametrize("larger", [0, 1])
def test_size_alone_is_measured_in_the_direction_of_the_train_part(larger):
    whole = SET.split_randomly(0)
    sizes = whole.node_ptr.diff()
    labels = ((sizes > sizes.median()).long() + 1 - larger) % 2
    assert auroc_by_nodes(replace(whole, labels=labels)) == pytest.approx(1.0)
    shuffled = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))]
    assert auroc_by_nodes(replace(whole, labels=shuffled)) != pytest.approx(1.0)
