"""Laws of the search for models that can only be asked, and of the changes that it makes."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.molecules.validity import is_molecule, is_radical_free
from graphflip.data.planted import classes as planted_classes
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, SchemaError
from graphflip.explain import LatentTraversal, Outcome, Refine
from graphflip.explain.goals.values import Shift
from graphflip.explain.latent.anchored import Anchor
from graphflip.explain.latent.evolution import LatentSearch
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.feasible import feasible
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.models.adapters import BlackBox
from graphflip.models.networks.pegvae import PEGVAE
from graphflip.schema import Schema

from .oracles import Edges

PLANTED = planted(num_graphs=60, seed=3)  # as `dataset`, whose autoencoder nobody trained: it moves graphs at random
MOLECULES = molecule_schema(("C", "N", "O", "H"), max_nodes=20, explicit_hydrogens=True)


def box(budget=None):
    """A black box: many edges, or few."""
    middle = float(PLANTED.num_edges.float().median()) + 0.5

    def predict(graphs):
        return [float(torch.sigmoid(torch.as_tensor(float(graph.num_edges) - middle))) for graph in graphs]

    return BlackBox(predict, PLANTED.schema, budget=budget)


@pytest.fixture(scope="module")
def search(vae):
    return LatentSearch(vae, box(), Moves(PLANTED.schema), rounds=6, batch_size=16, step=3.0)


def test_answers_are_valid_graphs_that_the_model_assigns_to_the_target(search):
    found = search.explain(PLANTED.graphs(range(6)))
    assert sum(one.flipped for one in found) >= 4
    for one in found:
        graph = one.counterfactual
        Graph(graph.B, graph.V, graph.A, graph.E, graph.schema)
        prob = search.classifier(graph).softmax(-1)[0]
        assert one.flipped == (int(prob.argmax()) == one.target)
        assert one.p_counterfactual == pytest.approx(float(prob[one.target]), abs=1e-5)
        assert len(Sketch.of(graph).parts()) == 1
        if one.flipped:
            assert one.one_minimal
            assert {edit.op for edit in one.edits} <= {"add_edge", "remove_edge", "remove_node", "set_edge", "set_node"}


def test_calls_are_counted_and_never_too_many(search):
    model = box()
    counted = dataclasses.replace(search, classifier=model, max_calls=20)
    for k in range(3):
        model.renew()
        (one,) = counted.explain(PLANTED.graphs([k]))
        assert one.classifier_calls == model.calls <= 20
        assert one.outcome in (Outcome.FLIPPED, Outcome.OUT_OF_CALLS)


def test_a_budget_that_is_spent_ends_the_search_with_what_there_is(search):
    for k in range(3):
        model = box(budget=30)
        (one,) = dataclasses.replace(search, classifier=model).explain(PLANTED.graphs([k]))
        assert model.calls <= 30
        assert one.outcome in (Outcome.FLIPPED, Outcome.OUT_OF_CALLS, Outcome.OUT_OF_STEPS)


def test_same_seed_same_answer_whatever_the_batch(search):
    graph = PLANTED.graphs(range(2))
    first, again = search.explain(graph), search.explain(graph[torch.tensor([1, 0])])[::-1]
    for one, other in zip(first, again, strict=True):
        assert one.edits == other.edits
        assert one.classifier_calls == other.classifier_calls
    other = search.explain(graph, seed=1)
    assert any(one.edits != another.edits for one, another in zip(first, other, strict=True))


def test_values_are_moved_too(search):
    search = dataclasses.replace(search, classifier=Edges(PLANTED.schema, 1))
    found = search.explain(PLANTED.graphs(range(2)), Shift(1.0))
    assert any(one.flipped for one in found)
    for one in found:
        assert one.flipped == (float(one.counterfactual.num_edges) >= one.target.low)


def test_settings_out_of_range_are_refused(search):
    for wrong in ({"rounds": 0}, {"parents": 0}, {"step": 0.0}):
        with pytest.raises(ConfigError):
            dataclasses.replace(search, **wrong)
    with pytest.raises(SchemaError):
        dataclasses.replace(search, moves=Moves(Schema(max_nodes=3)))


def test_continuous_attributes_stay_unless_they_move_far():
    dataset = planted_classes.planted_classes(num_graphs=6, min_nodes=5, max_nodes=6)
    torch.manual_seed(1)
    vae = PEGVAE(dataset.schema).eval().requires_grad_(False)
    anchor = Anchor.at(vae, dataset.graphs())
    assert all(torch.equal(getattr(anchor.hard(anchor.z), part), getattr(anchor.graph, part)) for part in "BVAE")
    moved = anchor.hard(anchor.z + 2 * torch.randn(anchor.z.shape, generator=torch.Generator().manual_seed(0)))
    change = (moved.V - anchor.graph.V)[moved.B > 0].abs()
    (column,) = dataset.schema.nodes
    assert bool((change > 0).any())
    assert bool(((change == 0) | (change >= column.scale / 4)).all())


@settings(max_examples=10)
@given(seed=st.integers(0, 2**16), smiles=st.sampled_from(["CCO", "C1CC1N", "NC=O", "CC(C)O", "c1ccncc1"]))
def test_of_whatever_is_wanted_a_molecule_is_made(seed, smiles):
    graph = from_smiles(smiles, MOLECULES)
    rng = torch.Generator().manual_seed(seed)
    wanted = Sketch.of(graph)
    labels = [(name,) for name in MOLECULES.nodes[0].values]
    for i in list(wanted.nodes):
        if float(torch.rand((), generator=rng)) < 0.3:
            wanted.set_node(i, labels[int(torch.randint(4, (), generator=rng))])
    for _ in range(4):
        i, j = torch.randperm(len(wanted.nodes), generator=rng)[:2].tolist()
        wanted.join(i, j, ("double",)) if seed % 2 else wanted.join(i, j, ("single",))
    factual = Sketch.of(graph)
    after = apply_differences(graph, [Difference.between(factual, feasible(Moves(MOLECULES), factual, wanted))])
    assert bool(is_molecule(after)[0]), to_smiles(after)
    assert bool(is_radical_free(after)[0])


def test_what_is_valid_is_made_as_it_is_wanted():
    graph, schema = PLANTED.graphs([0]), PLANTED.schema
    factual = Sketch.of(graph)
    moves = Moves(schema)
    for move in moves.valid(graph)[::5]:
        if not any(edit.op == "add_node" for edit in move.edits):
            made = feasible(moves, factual, move.after)
            assert Difference.between(factual, made).edits(schema) == move.edits


def test_refinement_ends_when_nobody_may_ask_any_more(vae, classifier, dataset):
    walk = LatentTraversal(vae, classifier, steps=10)
    (one, *_) = [found for found in walk.explain(dataset.graphs(range(20))) if found.flipped and len(found.edits) > 2]

    def predict(graphs):
        return torch.cat([classifier(graph.pad(dataset.schema.max_nodes)).softmax(-1) for graph in graphs])

    asked = BlackBox(predict, dataset.schema, budget=1)
    refined = Refine(dataclasses.replace(walk, classifier=asked)).refine(one)
    assert refined.flipped
    assert refined.edits == one.edits
