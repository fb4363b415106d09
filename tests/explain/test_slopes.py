"""Laws of searches that list the moves which promise most by a gradient, in graphs that are no molecules."""

import numpy as np
import pytest
import torch

from graphflip.data.dataset import GraphDataset
from graphflip.explain import EditSearch, Moves
from graphflip.explain.constraints import Constraints
from graphflip.explain.edits.neighborhood import Neighborhood, SearchStage
from graphflip.explain.edits.settings import Costs
from graphflip.explain.edits.slopes.admission import Admission
from graphflip.explain.edits.slopes.bundles import bundles
from graphflip.explain.edits.slopes.gradients import gradients
from graphflip.explain.edits.slopes.guide import chosen_sorts
from graphflip.explain.edits.slopes.listing import Promise
from graphflip.explain.edits.slopes.reach import near_pairs
from graphflip.explain.edits.slopes.residuals import Residuals
from graphflip.explain.goals.classes import AnyOther, ClassGoal
from graphflip.explain.moves.attributes import attribute_choices
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.draft import Draft
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

DIRECTED = Schema(nodes=(Categories(name="kind", values=("a", "b")),), max_nodes=8, directed=True)
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
    assert slope.pairs[0, 2, 0] == pytest.approx(0.04, abs=2e-3)  # two entries of A, to a thousandth of the steepest


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


TEN = Schema(nodes=tuple(Continuous(name=f"h{k}") for k in range(10)), max_nodes=12)


class Sum(Heat):
    """Class 1 if the sum of all attributes is above 60: far more than eight changes are needed."""

    schema = TEN

    def embed(self, graph):
        return graph.V.sum((1, 2))[:, None] / 20

    def head(self, embedding):
        return torch.cat([3 - embedding, embedding - 3], -1)


def ten(n=8):
    return Graph.build(TEN, [{f"h{k}": 0.0 for k in range(10)}] * n, [(k, k + 1, {}) for k in range(n - 1)])


def test_many_small_changes_are_made_at_once_where_few_are_not_enough():
    search = EditSearch(Sum(), Moves(TEN), beam=1, max_moves=4, look=8)
    (answer,) = search.explain(ten(), target=1)
    assert answer.flipped
    assert all(str(edit.op) == "set_node" for edit in answer.edits)
    assert sum(len(edit.after or ()) for edit in answer.edits) > 8  # changed numbers


def test_a_bundle_changes_each_attribute_and_each_edge_once_and_splits_nothing():
    search = begun(path(30, heat=-0.2))
    slopes, stage = search.inspect.slopes, SearchStage(None, 0.0, 1, estimated=True)
    assert slopes.exploring([search.root], stage)  # first, moves of every sort
    (listed,) = slopes.exploring([search.root], stage)
    assert [len(promise.draft.brings) for promise in listed.promises] == [2, 4, 8, 16, 32]
    for promise in listed.promises:
        built = promise.draft.build()
        assert built is not None
        after, _ = built
        difference = Difference.between(search.root.sketch, after)
        assert len(difference.nodes) + len(difference.edges) == len(promise.draft.brings) == promise.edits
        assert len(after.parts()) == 1


def test_removals_that_would_split_a_graph_are_no_bundle():
    ring = path(6)
    ring = Graph.build(SCHEMA, ring.nodes(), [*ring.edges(), (0, 5, {})])
    sketch = Sketch.of(ring)
    one, other = (
        Promise(Draft("remove edge", ends, None, (), None), np.ones(1), 1.0, np.zeros(2)) for ends in ((0, 1), (3, 4))
    )
    (bundle,) = bundles(sketch, [one, other], lambda sort: 0)
    assert bundle.draft.build() is None
    (same,) = bundles(sketch, [one, one, other._replace(rises=-np.ones(1))], lambda sort: 0) or [None]
    assert same is None  # the same edge once, and nothing that does harm


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_that_may_be_joined_are_told_at_once(directed):
    schema = DIRECTED.model_copy(update={"directed": directed})
    graphs = [random_graph(schema, n=4, num_graphs=1, seed=seed) for seed in range(40)]
    known = EnvironmentCounts.mine(GraphDataset.from_graphs("some", graphs, [0] * 40, ("one",)))
    asked = 0
    for graph in graphs[:12]:
        around = Neighborhood(graph, Moves(schema), Costs(), Constraints(), known, minimum=2)
        state = Admission(around, known=True).at(around.factual)
        pairs = near_pairs(around.factual)
        for attributes in attribute_choices(schema.edges):
            expected = [state.changed_edge(i, j, None, attributes) for i, j in pairs.tolist()]
            assert state.may_join(pairs, attributes).tolist() == expected
            asked += len({*expected}) == 2
    assert directed or asked  # some may, and some may not


class Eighteen(AbstractClassifier):
    """Class 1 if the sum of attribute h7 is above 3: the other seventeen do not count."""

    schema = Schema(nodes=tuple(Continuous(name=f"h{k}") for k in range(18)), max_nodes=12)

    def embed(self, graph):
        return graph.V[..., 7].sum(1, keepdim=True)

    def head(self, embedding):
        return torch.cat([3 - embedding, embedding - 3], -1)


def test_graphs_with_many_attributes_are_not_tried_in_each_of_them():
    schema = Eighteen.schema
    nodes = [{column.name: 0.1 * i for column in schema.nodes} for i in range(8)]
    graph = Graph.build(schema, nodes, [(k, k + 1, {}) for k in range(7)])
    search = EditSearch(Eighteen(), Moves(schema), look=8).start(graph, ClassGoal(1), Eighteen()(graph))
    stage = SearchStage(None, 0.0, 1, estimated=True)
    slopes = search.inspect.slopes
    slopes.listed([search.root], stage)
    (listing,) = slopes.listings.values()
    every = [sort for kind in listing.kinds(1, 0.0) for sort in kind.sorts()]
    chosen = chosen_sorts(every)
    assert len(every) > 100
    assert len(chosen) == 32
    assert max(sort.promise for sort in every) == max(sort.promise for sort in chosen)
    (answer,) = EditSearch(Eighteen(), Moves(schema), look=8).explain(graph, target=1)
    assert answer.flipped
    assert all("h7" in edit.after for edit in answer.edits)
    assert answer.classifier_calls < 250
    assert chosen_sorts(every[:32]) == every[:32]
    ranked = sorted((sort.promise for sort in every), reverse=True)
    assert [sort.promise for sort in chosen[:24]] == ranked[:24]
