"""Laws of searches that list the moves which promise most by a gradient, in graphs that are no molecules."""

import numpy as np
import pytest
import torch

from graphflip.explain import EditSearch, Moves
from graphflip.explain.edits.neighborhood import SearchStage
from graphflip.explain.edits.slopes.gradients import gradients
from graphflip.explain.edits.slopes.reach import near_pairs
from graphflip.explain.edits.slopes.residuals import Residuals
from graphflip.explain.goals.classes import AnyOther, ClassGoal
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.schema import Continuous, Schema

SCHEMA = Schema(nodes=(Continuous(name="heat"),), max_nodes=70)


class Heat(AbstractClassifier):
    """Class 1 if the sum of heats is above 3: effects of changes of numbers are sums exactly."""

    schema = SCHEMA

    def embed(self, graph):
        return graph.V[..., 0].sum(1, keepdim=True) + 0.01 * graph.A.sum((1, 2))[:, None]

    def head(self, embedding):
        return torch.cat([3 - embedding, embedding - 3], -1)


def path(n, heat=0.0):
    return Graph.build(SCHEMA, [{"heat": heat}] * n, [(k, k + 1, {}) for k in range(n - 1)])


def begun(graph, look=8):
    search = EditSearch(Heat(), Moves(SCHEMA), look=look)
    logits = search.classifier(graph)
    return search.start(graph, ClassGoal(1), logits)


def test_gradients_are_rises_of_the_log_odds():
    (slope,) = gradients([Heat()], path(4), ClassGoal(1)) or [None]
    assert slope is not None
    assert slope.nodes[:, 1] == pytest.approx(np.full(4, 2.0))  # of both logits
    assert slope.pairs[0, 2, 0] == pytest.approx(0.04)  # two entries of A


def test_every_way_out_of_a_class_leads_for_any_other():
    outputs = torch.tensor([[2.0, 0.0, 0.0]])
    assert float(AnyOther(0).lead(outputs)) == pytest.approx(float((1 - outputs.softmax(-1)[0, 0]).log()))


def test_pairs_of_large_graphs_are_near_each_other():
    pairs = near_pairs(Sketch.of(path(60)))
    assert set((pairs[:, 1] - pairs[:, 0]).tolist()) == {2, 3}
    assert len(near_pairs(Sketch.of(path(5)))) == 6  # all but the four edges


def test_few_moves_are_listed_and_what_they_do_is_known():
    search = begun(path(60))
    (listed,) = search.inspect.slopes.listed([search.root], SearchStage(None, 0.0, 1, estimated=True)) or [None]
    assert listed is not None
    assert len(listed.drafts) < 200
    tried = search.inspect([search.root], SearchStage(None, 0.0, 1, estimated=True), float("inf"))
    best = max(tried, key=lambda candidate: candidate.classifier_score)
    changed = [change.after[0] for change in best.counted.nodes.values()]
    assert changed == [3.0]  # the jump that leads farthest
    assert search.scoring.calls < 120


def test_an_answer_for_a_large_graph_takes_few_calls():
    search = EditSearch(Heat(), Moves(SCHEMA), look=8)
    (answer,) = search.explain(path(60, heat=-0.1), target=1)
    assert answer.flipped
    assert answer.classifier_calls < 400


def test_errors_of_a_sort_are_expected_again():
    residuals = Residuals(1)
    here, other = residuals.number("here"), residuals.number("other")
    for _ in range(3):
        residuals.observe(np.array([here, here]), np.array([2.0]))
    expected = residuals.expected(np.array([[here, here], [other, other]]))[:, 0]
    assert 1.0 < expected[0] < 2.0
    assert expected[1] == 0.0


def test_numbers_jump_to_typical_and_extreme_values():
    column = Continuous(name="x", mean=1.0, scale=0.5)
    assert {1.0, -0.5, 2.5} <= set(column.alternatives(9.0))
    assert list(column.alternatives(1.2)).count(1.0) == 0  # a step leads as far
