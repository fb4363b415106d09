"""Targets of all kinds, in everything that looks for counterfactuals: known answers, and laws."""

import dataclasses
import math

import pytest
import torch

from graphflip.data.planted import classes as planted_classes
from graphflip.data.planted import relays as planted_relays
from graphflip.data.planted.motif import planted
from graphflip.edits import EditCosts, apply_edits
from graphflip.explain import EditSearch, LatentTraversal, Moves, NearestNeighbor, NoChange, Outcome, Refine
from graphflip.explain.goals.classes import Another, AnyOther
from graphflip.explain.goals.values import Shift, ValueGoal
from graphflip.explain.latent.anchored import latent_path
from graphflip.explain.latent.baselines import LatentIndex
from graphflip.explain.latent.saliency import Saliency, SaliencyWalk
from graphflip.explain.moves.difference import AttributeChange, Difference
from graphflip.models.networks.classifier import AbstractClassifier, ClassifierConfig, InvariantClassifier
from graphflip.nn.initialize import reset_parameters

from .oracles import Edges, Relays, SixClasses

TYPED = planted(num_graphs=6, seed=1, min_nodes=5, max_nodes=8)
CLASSES = planted_classes.planted_classes(num_graphs=12, seed=1, min_nodes=5, max_nodes=6)
RELAYS = planted_relays.planted_relays(num_graphs=8, seed=1, min_nodes=4, max_nodes=5)
VALUE = EditSearch(Edges(TYPED.schema, 1), Moves(TYPED.schema), beam=1, max_moves=4)


@pytest.mark.parametrize("by", [1.0, 2.0, -1.0])
def test_a_value_is_moved_by_what_was_asked_for_and_no_more(by):
    graph = TYPED.graphs()
    for one, value in zip(VALUE.explain(graph, Shift(by)), graph.num_edges.tolist(), strict=True):
        assert one.flipped
        assert one.one_minimal
        assert (one.p_factual, one.p_counterfactual) == (value, value + by)
        assert len(one.edits) == (abs(by) if by > 0 else len(one.edits))
        assert len(one.edits) <= 2
        assert one.target == ValueGoal(*sorted([value + by, math.copysign(math.inf, by)]), scale=abs(by) / 3)
        assert "at least" in str(one) if by > 0 else "at most" in str(one)


def test_a_value_out_of_reach_says_how_far_it_came():
    (one,) = dataclasses.replace(VALUE, max_moves=1).explain(TYPED.graphs(0), ValueGoal(low=99.0))
    assert one.outcome is Outcome.OUT_OF_MOVES
    edges = int(TYPED.graphs(0).num_edges)
    assert f"predicts {edges + 1:.2f}" in one.note
    assert "at least 99 was asked" in one.note
    (there,) = VALUE.explain(TYPED.graphs(0), ValueGoal(high=99.0))
    assert there.outcome is Outcome.ALREADY_THERE


class Other(Edges):
    """Sees two edges fewer than there are."""

    def head(self, embedding):
        return embedding - 2


def test_opinions_must_be_in_the_range_on_average():
    search = dataclasses.replace(VALUE, surrogates=(Other(TYPED.schema, 1), Edges(TYPED.schema, 1)), beam=2)
    graph = TYPED.graphs(0)
    (one,) = search.explain(graph, ValueGoal(low=float(graph.num_edges) + 1))
    assert one.flipped
    assert one.p_counterfactual == float(graph.num_edges) + 2  # their mean is one less


def test_the_nearest_class_is_found_if_any_will_do():
    search = EditSearch(SixClasses(CLASSES.schema), Moves(CLASSES.schema), beam=1, max_moves=3)
    graph = CLASSES.graphs()
    least = torch.stack([planted_classes.answers(graph, k) for k in range(6)], 1)
    least = least.scatter(1, CLASSES.labels[:, None], 9).amin(1)
    found = search.explain(graph, Another())
    assert all(one.flipped for one in found)
    assert [len(one.edits) for one in found] == least.tolist()
    for one, label in zip(found, CLASSES.labels.tolist(), strict=True):
        assert one.target == int(planted_classes.true_class(one.counterfactual)) != label
        assert float(one.p_counterfactual) > one.p_factual


@pytest.mark.parametrize("target", [0, 3, 4])
def test_a_chosen_class_is_reached_with_the_fewest_edits(target):
    search = EditSearch(SixClasses(CLASSES.schema), Moves(CLASSES.schema), beam=2, max_moves=5)
    graph = CLASSES.graphs((CLASSES.labels != target).nonzero()[:5, 0])
    found = search.explain(graph, target)
    assert [len(one.edits) for one in found] == planted_classes.answers(graph, target).tolist()
    assert all(int(planted_classes.true_class(one.counterfactual)) == target for one in found)


def test_continuous_changes_are_no_larger_than_they_must_be():
    (column,) = CLASSES.schema.nodes
    column = column.model_copy(update={"gaps": ()})
    schema = CLASSES.schema.model_copy(update={"nodes": (column,)})
    search = EditSearch(SixClasses(schema), Moves(schema), beam=2, max_moves=3)
    graph = dataclasses.replace(CLASSES, schema=schema).graphs((CLASSES.labels == 0).nonzero()[:3, 0])
    for one in search.explain(graph, 1):
        (edit,) = one.edits
        assert edit.op == "set_node"
        assert planted_classes.HOT < float(edit.after["heat"]) < planted_classes.HOT + column.scale / 5
        hottest = max(float(node["heat"]) for node in one.factual.nodes() if node)
        assert EditCosts().of(edit, schema) <= (planted_classes.HOT - hottest) / column.scale + 0.2


def test_continuous_changes_end_at_numbers_that_the_data_have():
    search = EditSearch(SixClasses(CLASSES.schema), Moves(CLASSES.schema), beam=2, max_moves=3)
    (column,) = CLASSES.schema.nodes
    low, high = next(gap for gap in column.gaps if gap[0] < planted_classes.HOT < gap[1])
    for one in search.explain(CLASSES.graphs((CLASSES.labels == 0).nonzero()[:3, 0]), 1):
        (edit,) = one.edits
        assert float(edit.after["heat"]) == pytest.approx(high)
        assert low < high - column.scale / 4


def test_directed_edges_with_weights_have_known_answers():
    search = EditSearch(Relays(RELAYS.schema), Moves(RELAYS.schema), beam=3, max_moves=4)
    graph = RELAYS.graphs()
    found = search.explain(graph)
    assert [len(one.edits) for one in found] == planted_relays.answers(graph).tolist()
    for one, label in zip(found, RELAYS.labels.tolist(), strict=True):
        assert one.flipped
        assert int(planted_relays.true_class(one.counterfactual)) == 1 - label
        applied = apply_edits(one.factual, one.edits).pad(one.counterfactual.num_slots)
        assert all(torch.equal(getattr(applied, part), getattr(one.counterfactual, part)) for part in "BVAE")


@pytest.fixture(scope="module")
def regressor(dataset):
    model = InvariantClassifier(dataset.schema, ClassifierConfig(num_classes=1, width=8, hidden=16, center=2.0))
    reset_parameters(model, torch.Generator().manual_seed(1))
    torch.nn.init.normal_(model.out.weight, std=1.0, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        model.train()
        for _ in range(10):
            model(dataset.graphs())
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("infer", ["gumbel", "samples"])
def test_walks_move_values(vae, regressor, dataset, infer):
    walk = LatentTraversal(vae, regressor, steps=10, infer=infer, samples=2)
    found = walk.explain(dataset.graphs(range(4)), Shift(0.1))
    assert any(one.flipped for one in found)
    for one in found:
        value = float(regressor(one.counterfactual))
        assert one.p_counterfactual == pytest.approx(value, abs=1e-4)
        assert one.flipped == (value >= one.target.low)
        assert one.target.low == pytest.approx(one.p_factual + 0.1, abs=1e-5)
    refine = Refine(walk)
    for one in (one for one in found if one.flipped):
        fewer = refine.refine(one)
        assert fewer.flipped
        assert len(fewer.edits) <= len(one.edits)
        assert float(regressor(fewer.counterfactual)) >= one.target.low


def test_walks_go_towards_any_other_class(vae, classifier, dataset):
    graph = dataset.graphs(range(4))
    walk = LatentTraversal(vae, classifier, steps=10)
    for one, other in zip(walk.explain(graph, Another()), walk.explain(graph), strict=True):
        assert one.target == other.target  # there are but two
        assert one.outcome is other.outcome
        assert one.p_counterfactual == pytest.approx(other.p_counterfactual, abs=1e-5)


def test_saliencies_of_opposite_values_differ(vae, regressor, dataset):
    walk, graph = SaliencyWalk(vae, (regressor,), steps=5), dataset.graphs(0)
    value = float(regressor(graph.pad(graph.schema.max_nodes)))
    up, down = (walk.saliencies(graph, [goal])[0] for goal in (ValueGoal(low=value + 9), ValueGoal(high=value - 9)))
    assert not torch.allclose(torch.tensor(up.nodes), torch.tensor(down.nodes), atol=1e-3)


def test_saliencies_count_continuous_attributes_by_their_direction():
    (column,) = CLASSES.schema.nodes
    moved = Saliency([0.0], [[0.5 * column.scale]], [[0.0]], [[[]]], CLASSES.schema.nodes, ())
    scores = [
        moved.score(Difference({0: AttributeChange((1.0,), (1.0 + by * column.scale,))}, {}))
        for by in (-1.0, 0.5, 1.0, 2.0)
    ]
    assert scores == pytest.approx([-0.5, 0.25, 0.5, 1.0])


def test_paths_show_values(vae, regressor, dataset):
    one, other = dataset.graphs([0]), dataset.graphs([1])
    path = latent_path(vae, regressor, one, other, ValueGoal(low=0.0), steps=3)
    slots = dataset.schema.max_nodes
    assert path.probabilities[0] == pytest.approx(float(regressor(one.pad(slots))), abs=1e-4)
    assert path.probabilities[2] == pytest.approx(float(regressor(other.pad(slots))), abs=1e-4)


def test_neighbors_have_labels_in_the_range(vae, regressor, dataset):
    values = dataclasses.replace(dataset, labels=dataset.num_edges.float(), classes=())
    index = LatentIndex.build(vae, values)
    goal = ValueGoal(low=float(values.labels.median()))
    for one in NearestNeighbor(vae, regressor, index).explain(dataset.graphs(range(4)), goal):
        assert float(one.counterfactual.num_edges) >= goal.low


class Once(AbstractClassifier):
    """Three classes by the number of nodes."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        return graph.num_nodes[:, None].float()

    def head(self, embedding):
        return -(embedding - torch.tensor([5.0, 6.0, 7.0])).abs()


def test_what_did_not_change_has_the_likeliest_other_class_as_target(dataset):
    graph = TYPED.graphs(0)
    (one,) = NoChange(Once(TYPED.schema)).explain(graph, Another())
    assert isinstance(one.target, int)
    assert not one.flipped
    assert one.target != int(Once(TYPED.schema)(graph).argmax())
    assert one.p_factual == one.p_counterfactual
    assert AnyOther(0).name(("a", "b")) == "not a"
