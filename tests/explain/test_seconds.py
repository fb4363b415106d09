"""The time of a proposal is that of one graph: of a batch, each has its share."""

import pytest

from graphflip.explain import NoChange
from graphflip.explain.latent import baselines


def test_each_graph_of_a_batch_has_its_share_of_the_time(classifier, dataset, monkeypatch):
    clock = iter([10.0, 16.0])
    monkeypatch.setattr(baselines.time, "perf_counter", lambda: next(clock, 16.0))
    found = NoChange(classifier).explain(dataset.graphs(range(3)))
    assert [one.seconds for one in found] == [pytest.approx(2.0)] * 3
