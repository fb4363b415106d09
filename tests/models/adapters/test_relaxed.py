"""Weighted messages against dense formulas in which every pair of nodes has its weight."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINEConv, SAGEConv, TransformerConv

from graphflip.errors import NotDifferentiable
from graphflip.models.adapters.relaxed import Mixture, Mixtures, weighted_messages

from .networks import build

N, D = 6, 4
PAIRS = torch.tensor([(i, j) for i in range(N) for j in range(N) if i != j]).T


@pytest.fixture(params=range(4))
def graph(request):
    """Features of nodes and pairs, and a weight for each pair: some 0, one node without any."""
    rng = torch.Generator().manual_seed(request.param)
    x, e = torch.randn(N, D, generator=rng), torch.randn(N, N, D, generator=rng)
    weight = torch.rand(N, N, generator=rng) * (torch.rand(N, N, generator=rng) < 0.7)
    weight[:, 2] = 0
    return x, e, weight.fill_diagonal_(0)


def run(layer, x, weight, *edge_attr):
    def weigh(edges):
        return torch.where(edges[0] == edges[1], 1.0, weight[edges[0], edges[1]])

    with weighted_messages(nn.ModuleList([layer]), weigh), torch.no_grad():
        return layer(x, PAIRS, *edge_attr)


@torch.no_grad()
def test_sums_weigh_messages(graph):
    x, e, weight = graph
    layer = build(lambda: GINEConv(nn.Identity()))
    expected = x + torch.einsum("ij,ijd->jd", weight, (x[:, None] + e).relu())
    torch.testing.assert_close(run(layer, x, weight, e[PAIRS[0], PAIRS[1]]), expected)


@torch.no_grad()
def test_means_are_by_weight_and_fade_out(graph):
    x, _, weight = graph
    layer = build(lambda: SAGEConv(D, D))
    mean = torch.einsum("ij,id->jd", weight, x) / weight.sum(0).clamp(min=1)[:, None]
    torch.testing.assert_close(run(layer, x, weight), layer.lin_l(mean) + layer.lin_r(x))


@torch.no_grad()
def test_weights_are_normalized_by_layers_that_know_how(graph):
    x, _, weight = graph
    weight = (weight + weight.T) / 2
    layer = build(lambda: GCNConv(D, D))
    A = weight + torch.eye(N)
    scale = A.sum(0).rsqrt()
    expected = torch.einsum("ij,id->jd", scale[:, None] * A * scale, layer.lin(x)) + layer.bias
    torch.testing.assert_close(run(layer, x, weight), expected)


@torch.no_grad()
def test_attention_is_shared_by_weight(graph):
    x, _, weight = graph
    layer = build(lambda: GATConv(D, D, heads=2))
    h = layer.lin(x).view(N, 2, D)  # pyright: ignore[reportOptionalCall]
    score = (h * layer.att_src).sum(-1)[:, None] + (h * layer.att_dst).sum(-1)[None]  # from to head
    attention = (weight + torch.eye(N))[..., None] * nn.functional.leaky_relu(score, 0.2).exp()
    attention = attention / attention.sum(0)
    expected = torch.einsum("ijh,ihd->jhd", attention, h).reshape(N, 2 * D) + layer.bias
    torch.testing.assert_close(run(layer, x, weight), expected)


@torch.no_grad()
def test_attention_fades_out_where_a_node_is_alone(graph):
    x, e, weight = graph
    layer = build(lambda: TransformerConv(D, D, edge_dim=D))
    key = layer.lin_key(x)[:, None]
    edge = layer.lin_edge(e)  # from to d  # pyright: ignore[reportOptionalCall]
    attention = weight * torch.einsum("jd,ijd->ij", layer.lin_query(x), key + edge).div(D**0.5).exp()
    attention = attention / attention.sum(0).clamp(min=1e-9) * weight.sum(0).clamp(max=1)
    expected = torch.einsum("ij,ijd->jd", attention, layer.lin_value(x)[:, None] + edge) + layer.lin_skip(x)
    torch.testing.assert_close(run(layer, x, weight, e[PAIRS[0], PAIRS[1]]), expected)


def test_sparse_matrices_are_refused():
    layer = build(lambda: SAGEConv(D, D))
    adjacency = torch.eye(N).to_sparse_coo()
    with pytest.raises(NotDifferentiable, match="SAGEConv got a sparse matrix"), weighted_messages(layer, lambda _: _):
        layer(torch.ones(N, D), adjacency)


def test_shifted_ids_are_refused_and_other_integers_left_alone():
    embedding = nn.Embedding(5, 3)
    mixtures = Mixtures()
    ids = torch.arange(2)
    integers = mixtures.integers(
        [Mixture(torch.full((4, 2), 0.5), ids), Mixture(torch.eye(2)[:, [1, 0]].repeat(2, 1), ids)]
    )
    with mixtures.embedded(embedding), torch.no_grad():
        torch.testing.assert_close(embedding(integers[:, 0]), embedding.weight[:2].mean(0).expand(4, 3))
        torch.testing.assert_close(embedding(integers[:, 1:]), embedding.weight[[1, 0, 1, 0]][:, None])
        torch.testing.assert_close(embedding(torch.arange(5)), embedding.weight)
        with pytest.raises(NotDifferentiable, match="shifted or mixed"):
            embedding(integers)
        with pytest.raises(NotDifferentiable, match="shifted or mixed"):
            embedding(integers + 100)
