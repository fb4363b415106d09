"""Message passing on dense graphs against loops over nodes and their neighbors."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.errors import ConfigError
from graphflip.nn.initialize import reset_parameters
from graphflip.nn.messages import AttentionLayer, ExchangeLayer, RelationalLayer, num_relations, relations
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
D = 8
few = settings(max_examples=12)


def prepared(layer, seed, stretch=1.0):
    layer = layer.double().eval()
    reset_parameters(layer, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        layer.project.weight.mul_(stretch) if stretch != 1 else None
    return layer


def states(graph, seed):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*graph.B.shape, D, generator=rng, dtype=torch.float64) * graph.B[..., None]


def draw(seed, n, relaxed):
    return random_graph(random_schema(seed), n=n, num_graphs=2, seed=seed, relaxed=relaxed).to(torch.float64)


@few
@given(seed=SEEDS, n=st.integers(0, 6))
def test_relations_are_existence_columns_and_their_transposes(seed, n):
    graph = draw(seed, n, relaxed=True)
    R = relations(graph)
    de, directed = graph.schema.de, graph.schema.directed
    assert R.shape[1] == num_relations(de, directed)
    assert torch.equal(R[:, 0], graph.A)
    assert all(torch.equal(R[:, 1 + k], graph.E[..., k]) for k in range(de))
    if directed:
        assert torch.equal(R[:, 1 + de :], R[:, : 1 + de].transpose(2, 3))


@few
@given(seed=SEEDS, n=st.integers(1, 6), relaxed=st.booleans(), average=st.booleans())
def test_relational_layer_sums_over_neighbors(seed, n, relaxed, average):
    graph = draw(seed, n, relaxed)
    R, h = relations(graph), states(graph, seed)
    layer = prepared(RelationalLayer(D, R.shape[1], average), seed)
    W = layer.message.weight.view(-1, D, D)  # own, then one for each relation
    for g in range(len(graph)):
        for i in range(n):
            received = W[0] @ h[g, i]
            share = 1 / max(float(graph.A[g, i].sum()), 1.0) if average else 1.0
            for r in range(R.shape[1]):
                for j in range(n):
                    received = received + share * R[g, r, i, j] * (W[r + 1] @ h[g, j])
            factor = (1 + layer.inner.eps) ** -0.5  # fresh statistics: mean 0, variance 1
            updated = (layer.update((received * factor).relu()) * factor).relu()
            expected = (h[g, i] + updated) * graph.B[g, i]
            torch.testing.assert_close(layer(h, R, graph.B)[g, i], expected)


@few
@given(seed=SEEDS, n=st.integers(1, 6), relaxed=st.booleans(), average=st.booleans())
def test_without_gradients_a_relational_layer_says_the_same_and_leaves_its_input(seed, n, relaxed, average):
    graph = draw(seed, n, relaxed)
    h, R = states(graph, seed), relations(graph)
    before, layer = h.clone(), prepared(RelationalLayer(D, R.shape[1], average), seed)
    with torch.no_grad():
        found = layer(h, R, graph.B)
    assert torch.equal(h, before)
    torch.testing.assert_close(found, layer(h, R, graph.B).detach())


@pytest.mark.parametrize("change", ["weights", "statistics", "loaded"])
def test_weights_that_are_kept_follow_every_change_of_the_layer(change):
    graph = draw(seed=3, n=5, relaxed=False)
    R, h = relations(graph), states(graph, 3)
    layer, other = (prepared(RelationalLayer(D, R.shape[1]), seed) for seed in (3, 4))
    with torch.no_grad():
        before = layer(h, R, graph.B)
        if change == "weights":
            layer.update.weight.mul_(-2.0)
        elif change == "statistics":
            layer.train()
            layer(h, R, graph.B)
            layer.eval()
        else:
            layer.load_state_dict(other.state_dict())
        after = layer(h, R, graph.B)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, layer(h, R, graph.B).detach())  # with gradients nothing is kept


def attended(layer, h, weights, bias):
    """Softmax attention of one node over all, each weighed; the rest of the layer follows."""
    query, key, value = (part.view(len(h), layer.heads, -1) for part in layer.project(h).chunk(3, -1))
    width = D // layer.heads
    mixed = []
    for head in range(layer.heads):
        scores = query[:, head] @ key[:, head].T * width**-0.5 + bias[head]
        mixed.append((scores + weights.log()).softmax(-1) @ value[:, head])
    factor = (1 + layer.first.eps) ** -0.5
    h = (h + layer.merge(torch.cat(mixed, -1))) * factor
    return (h + layer.shrink(layer.expand(h).relu())) * factor


@pytest.mark.parametrize("stretch", [1.0, 12.0])
@few
@given(seed=SEEDS, n=st.integers(1, 6), relaxed=st.booleans())
def test_attention_layer_is_a_softmax_over_neighbors_and_oneself(stretch, seed, n, relaxed):
    """Also where scores are so far apart that absent edges would drown present ones."""
    graph = draw(seed, n, relaxed)
    R, h = relations(graph), states(graph, seed)
    layer = prepared(AttentionLayer(D, 4, R.shape[1]), seed, stretch)
    found = layer(h, R, graph.B)
    for g in range(len(graph)):
        bias = torch.einsum("hr,rij->hij", layer.edge_bias.weight, R[g])
        weights = graph.A[g] + torch.eye(n, dtype=torch.float64)
        expected = attended(layer, h[g], weights, bias) * graph.B[g][:, None]
        torch.testing.assert_close(found[g], expected, rtol=1e-5, atol=1e-6)


@few
@given(seed=SEEDS, n=st.integers(1, 6), relaxed=st.booleans())
def test_exchange_layer_is_a_softmax_over_all_existing_nodes(seed, n, relaxed):
    graph = draw(seed, n, relaxed)
    h = states(graph, seed)
    layer = prepared(ExchangeLayer(D, 4), seed)
    found = layer(h, graph.B)
    for g in range(len(graph)):
        there = (graph.B[g] > 0).nonzero()[:, 0]
        if not len(there):
            continue
        expected = attended(layer, h[g][there], graph.B[g][there], torch.zeros(4)) * graph.B[g][there][:, None]
        torch.testing.assert_close(found[g][there], expected)
        assert not bool(found[g][graph.B[g] == 0].any())


def test_an_absent_edge_has_the_gradient_of_adding_it():
    """A search asks absent edges what adding them would do: the slope at zero is the one just above zero."""
    graph = random_graph(n=5, num_graphs=1, seed=3).to(torch.float64)
    R, h = relations(graph), states(graph, 1)
    layer = prepared(AttentionLayer(D, 4, R.shape[1]), 2, stretch=2.0)
    R = R.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(layer(h, R, graph.B).sum(), R)
    step = 1e-6
    for i, j in (graph.A[0] == 0).nonzero().tolist():
        nudged = R.detach().clone()
        nudged[0, 0, i, j] += step
        rise = (layer(h, nudged, graph.B).sum() - layer(h, R, graph.B).sum()) / step
        torch.testing.assert_close(slope[0, 0, i, j], rise, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize("make", [lambda: AttentionLayer(6, 4, 1), lambda: ExchangeLayer(6, 4)])
def test_a_width_that_heads_do_not_divide_is_refused(make):
    with pytest.raises(ConfigError, match=r"`width` must be a multiple of 4.*got 6"):
        make()
