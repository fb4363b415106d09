"""Classifiers see whether two nodes are joined, also where edges have no attributes."""

import dataclasses

import pytest
import torch

from graphflip import Categories, Schema
from graphflip.models.networks.classifier import AttentionClassifier, InvariantClassifier, RelationalGIN
from graphflip.testing import random_graph

SCHEMA = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=6)


@pytest.mark.parametrize("kind", [InvariantClassifier, RelationalGIN, AttentionClassifier])
@torch.no_grad()
def test_edges_without_attributes_are_seen(kind):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = kind(SCHEMA).eval()
    rng = torch.Generator().manual_seed(3)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3, generator=rng)
    graph = random_graph(SCHEMA, n=6, num_graphs=3, seed=1)
    assert float(graph.A.sum()) > 0
    assert not torch.allclose(model(graph), model(dataclasses.replace(graph, A=torch.zeros_like(graph.A))))
