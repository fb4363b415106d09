"""The plain networks of the literature: their layers are those of PyG."""

import pytest
import torch

from graphflip.models.networks.plain import PlainGCN, PlainGIN, convolution
from graphflip.nn.initialize import reset_parameters
from graphflip.testing import random_graph, random_schema


@pytest.mark.parametrize("directed", [False, True])
def test_convolutions_are_those_of_pyg(directed):
    conv = pytest.importorskip("torch_geometric.nn").GCNConv
    graph = random_graph(random_schema(2, directed=directed), n=7, num_graphs=1, seed=4)
    nodes = torch.randn(7, 5, generator=torch.Generator().manual_seed(0)) * graph.B[0][:, None]
    layer = conv(5, 4)
    there = graph.A[0].nonzero().T
    ours = convolution(graph)[0] @ (nodes @ layer.lin.weight.T) + layer.bias
    theirs = layer(nodes, there)
    exists = graph.B[0] > 0
    torch.testing.assert_close(ours[exists], theirs[exists])


@pytest.mark.parametrize("make", [PlainGCN, PlainGIN])
def test_attributes_of_edges_are_not_seen(make):
    graph = random_graph(n=6, num_graphs=1, seed=1)
    model = make(graph.schema).eval()
    reset_parameters(model, torch.Generator().manual_seed(0))
    blind = type(graph).trusted(graph.B, graph.V, graph.A, graph.E.flip(-1), graph.schema)
    torch.testing.assert_close(model(graph), model(blind))
    cut = type(graph).trusted(graph.B, graph.V, graph.A * 0, graph.E * 0, graph.schema)
    assert not torch.allclose(model(graph), model(cut)), "but edges are"
