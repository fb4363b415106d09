"""Counts of environments against two slow twins: one that unrolls environments, one that hashes a node at a time."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.models.networks.wl import wl_counts, wl_logs
from graphflip.nn.standardize import standardized
from graphflip.schema import Categories
from graphflip.testing import random_graph, random_schema

INPUTS = given(seed=st.integers(0, 2**16), n=st.integers(0, 7), rounds=st.integers(0, 3))


def rows(graph, k):
    """Rounded columns of each node, and of each edge (i, j) that is there, as lists of integers."""
    V, E, of = standardized(graph).V, standardized(graph).E, graph.schema
    nodes = {i: rounded(graph.B[k, i], V[k, i], of.nodes) for i in graph.B[k].nonzero()[:, 0].tolist()}
    edges = {(i, j): rounded(graph.A[k, i, j], E[k, i, j], of.edges) for i, j in graph.A[k].nonzero().tolist()}
    return nodes, edges


def rounded(exists, values, columns):
    """Categories in tenths, numbers in halves of their scale."""
    widths = [(column.width, 10 if isinstance(column, Categories) else 2) for column in columns]
    steps = torch.tensor([10, *(step for width, step in widths for _ in range(width))])
    return tuple((torch.cat([exists[None], values]) * steps).round().long().tolist())


def unrolled(graph, k, rounds):
    """How often each environment occurs, as nested tuples; nothing is hashed."""
    nodes, edges = rows(graph, k)
    seen, environments = Counter(), dict(nodes)
    for turn in range(rounds + 1):
        seen.update((turn, environment) for environment in environments.values())
        sent = {i: sorted((edges[a, b], environments[b]) for a, b in edges if a == i) for i in nodes}
        got = {i: sorted((edges[a, b], environments[a]) for a, b in edges if b == i) for i in nodes}
        environments = {i: (environments[i], tuple(sent[i]), tuple(got[i])) for i in nodes}
    return seen


@INPUTS
def test_each_environment_is_counted(seed, n, rounds):
    """With bins enough for all, a bin is an environment."""
    graph = random_graph(random_schema(seed), n=n, num_graphs=2, seed=seed)
    counts = wl_counts(graph, rounds, 2**20)
    for k in range(len(graph)):
        expected = unrolled(graph, k, rounds)
        assert sorted(counts[k][counts[k] > 0].tolist()) == sorted(expected.values())


@INPUTS
def test_logs_are_those_of_the_counts(seed, n, rounds):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed)
    assert torch.equal(wl_logs(graph, rounds, 64), (1 + wl_counts(graph, rounds, 64).double()).log().float())


def mix(x):
    x %= 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def fold(values):
    return sum(mix(value * 1000003 + place) for place, value in enumerate(values, 1))


def hashed(graph, k, rounds, bins):
    nodes, edges = rows(graph, k)
    counts, colors = [0] * bins, {i: mix(fold(values)) for i, values in nodes.items()}
    for turn in range(rounds + 1):
        for color in colors.values():
            counts[mix(color + turn) % 2**63 % bins] += 1
        received = {i: sum(mix(fold(edges[a, b]) * 31 + colors[b]) for a, b in edges if a == i) for i in nodes}
        if graph.schema.directed:
            sent = {i: sum(mix(fold(edges[a, b]) * 37 + colors[a]) for a, b in edges if b == i) for i in nodes}
            received = {i: received[i] * 7 + sent[i] for i in nodes}
        colors = {i: mix(colors[i] * 3 + received[i]) for i in nodes}
    return counts


@INPUTS
def test_bins_are_those_of_a_hash_computed_node_by_node(seed, n, rounds):
    """Trained models know environments by their bins: these must not move."""
    graph = random_graph(random_schema(seed), n=n, num_graphs=2, seed=seed)
    counts = wl_counts(graph, rounds, 61)
    assert counts.tolist() == [hashed(graph, k, rounds, 61) for k in range(len(graph))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_graphs_have_no_counts(dtype):
    none = random_graph(random_schema(0), n=3, num_graphs=2).to(dtype).select(slice(0, 0))
    counts = wl_counts(none, 2, 16)
    assert counts.shape == (0, 16)
    assert counts.dtype == dtype
