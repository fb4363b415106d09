"""Colors of nodes: what one color has in common, against loops over nodes, and models that compute by color."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.graph import Graph
from graphflip.models.networks import classifier as classifiers
from graphflip.models.networks.classifier import AveragingClassifier, ClassifierConfig, RelationalGIN
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph

INPUTS = given(seed=st.integers(0, 2**16), n=st.integers(0, 7), types=st.integers(1, 3), kinds=st.integers(0, 2))


def draw(seed, n, types, kinds, directed=False, relaxed=False):
    edges = (Categories(name="kind", values=tuple("xy"[:kinds])),) if kinds else ()
    schema = Schema(
        nodes=(Categories(name="type", values=tuple("abc"[:types])),), edges=edges, max_nodes=8, directed=directed
    )
    return random_graph(schema, n=n, num_graphs=5, seed=seed, relaxed=relaxed)


def surroundings(graph, rounds):
    """The environment of this radius of each existing node, as nested tuples, graph after graph."""
    found = []
    for k in range(len(graph)):
        nodes = graph.B[k].nonzero()[:, 0].tolist()
        seen = {i: tuple(graph.V[k, i].tolist()) for i in nodes}
        for _ in range(rounds):
            near = {i: [(graph.E[k, i, j].tolist(), seen[j]) for j in nodes if graph.A[k, i, j]] for i in nodes}
            seen = {i: (seen[i], tuple(sorted((tuple(edge), node) for edge, node in near[i]))) for i in nodes}
        found += [seen[i] for i in nodes]
    return found


@INPUTS
def test_nodes_of_one_color_are_those_with_the_same_surroundings(seed, n, types, kinds):
    graph = draw(seed, n, types, kinds)
    for rounds in range(4):
        expected, alike = surroundings(graph, rounds), graph.refinement.alike(rounds)
        assert alike.color.tolist() == [list(dict.fromkeys(expected)).index(one) for one in expected]
        assert alike.first.tolist() == [expected.index(one) for one in dict.fromkeys(expected)]


@pytest.mark.parametrize("kind", [RelationalGIN, AveragingClassifier])
@INPUTS
def test_computing_by_color_gives_what_computing_by_node_gives(kind, seed, n, types, kinds):
    graph = draw(seed, n, types, kinds).pad(8).to(torch.float64)
    model = kind(graph.schema, ClassifierConfig(width=6, depth=3, hidden=8)).double()
    reset_parameters(model, torch.Generator().manual_seed(seed))
    for module in model.modules():
        if hasattr(module, "running_mean"):
            torch.nn.init.normal_(module.running_mean, generator=torch.Generator().manual_seed(seed + 1))
    model.eval().requires_grad_(False)
    pairs = zip(model._each_node(graph), model._each_color(graph), strict=True)
    assert all(torch.allclose(by_node, by_color) for by_node, by_color in pairs)


@pytest.mark.parametrize("change", [{}, {"directed": True}, {"relaxed": True}])
def test_colors_are_exact_for_hard_undirected_categories_alone(change):
    assert draw(3, 6, 3, 2, **change).refinement.is_exact == (not change)
    assert not random_graph(n=6, seed=3).refinement.is_exact  # has numbers


def test_half_an_edge_and_half_a_node_are_seen():
    graph = draw(0, 6, 1, 0)
    for name in "BA":
        tensors = {key: getattr(graph, key).clone() for key in "BVAE"}
        tensors[name][0, 0] *= 0.25
        assert not Graph.trusted(**tensors, schema=graph.schema).refinement.is_exact


@pytest.mark.parametrize("grad", [False, True])
def test_many_graphs_are_computed_by_color_unless_gradients_are_asked_for(monkeypatch, grad):
    monkeypatch.setattr(classifiers, "_MANY", 5 * 6)  # slots of five graphs
    graph = draw(1, 6, 3, 2)
    model = RelationalGIN(graph.schema, ClassifierConfig(width=6, depth=2, hidden=8)).eval()
    monkeypatch.setattr(model, "_each_color" if grad else "_each_node", None)
    with torch.set_grad_enabled(grad):
        assert model(graph).shape == (5, 2)


@given(seed=st.integers(0, 2**16), n=st.integers(0, 7), relaxed=st.booleans())
def test_networks_say_the_same_with_and_without_gradients(seed, n, relaxed):
    graph, again = (draw(seed, n, 3, 2, relaxed=relaxed) for _ in range(2))
    for kind in (RelationalGIN, AveragingClassifier):
        model = kind(graph.schema, ClassifierConfig(width=6, depth=2, hidden=8)).eval()
        reset_parameters(model, torch.Generator().manual_seed(seed))
        with torch.no_grad():
            first, second = model.embed(graph), model.embed(graph)
        torch.testing.assert_close(first, second, rtol=0, atol=0)  # what is kept for the second is not written to
        torch.testing.assert_close(first, model.embed(again).detach())
