"""The field in one process, in several, and on a Dask cluster: the same rows."""

import json

import pytest

from graphflip.bench.field.benchmark import FieldPlan, run_field

# 20 graphs are two shards. Distances of this method are proved at once, so that no time limit is in the rows.
PLAN = FieldPlan(["mutagenicity"], ["irand"], ["kit"], limit=20, ged_seconds=20.0)
TIMED = ("seconds",)


@pytest.fixture(scope="module")
def alone(data_folder, tmp_path_factory):
    return run_field(PLAN, tmp_path_factory.mktemp("alone"))


def rows(out):
    """Rows of the table, without what is measured by a clock."""
    block = json.loads((out / "table.json").read_text())["mutagenicity"]["kit"]
    return {name: {key: value for key, value in row.items() if key not in TIMED} for name, row in block.items()}


@pytest.mark.parametrize("how", [{"num_workers": 2}, {"num_workers": 2, "scheduler": "local"}], ids=["workers", "dask"])
def test_processes_and_clusters_give_the_same_rows(alone, tmp_path, how):
    if "scheduler" in how:
        pytest.importorskip("distributed", reason="needs Dask: pip install 'graphflip[dask]'")
    assert rows(run_field(PLAN, tmp_path / "field", **how)) == rows(alone)


def test_the_law_can_fail(alone):
    changed = json.loads(json.dumps(rows(alone)))
    assert changed["irand"]["proved"] == 1
    changed["irand"]["ged"] += 1
    assert changed != rows(alone)
