"""Small promises of the latent methods: a graph's share of the time, and no confidence unless asked."""

import pytest

from graphflip.explain import NoChange
from graphflip.explain.latent import baselines
from graphflip.explain.latent.active import ActiveGraphs
from graphflip.explain.method import ask


def test_each_graph_of_a_batch_has_its_share_of_the_time(classifier, dataset, monkeypatch):
    clock = iter([10.0, 16.0])
    monkeypatch.setattr(baselines.time, "perf_counter", lambda: next(clock, 16.0))
    found = NoChange(classifier).explain(dataset.graphs(range(3)))
    assert [one.seconds for one in found] == [pytest.approx(2.0)] * 3


def test_a_walk_asks_for_the_class_alone_unless_a_confidence_is_given(classifier, dataset):
    question = ask(classifier, dataset.graphs(range(2)), None, [""] * 2, 0)
    assert ActiveGraphs(question, classifier).confidence == 0
    assert ActiveGraphs(question, classifier, confidence=0.9).confidence == 0.9
