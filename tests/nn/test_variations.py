"""Graphs that differ from one in a few places: the same answers as from dense tensors, whatever the change."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.explain.moves.apply import Varied, apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.models.networks.classifier import AveragingClassifier, ClassifierConfig, RelationalGIN
from graphflip.models.networks.counts import CountClassifier
from graphflip.nn.initialize import reset_parameters
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

SCHEMA = Schema(
    nodes=(Categories(name="type", values=("a", "b")), Continuous(name="heat", mean=0.2, scale=2.0)),
    edges=(Continuous(name="length", mean=1.0, scale=0.5),),
    max_nodes=14,
)


def variations(seed, schema=SCHEMA):
    """A graph, and graphs one or two random moves away from it."""
    graph = random_graph(schema, n=9, num_graphs=1, seed=seed)
    rng, start, moves = torch.Generator().manual_seed(seed), Sketch.of(graph), Moves(schema)
    near = [after for _, after in moves.steps(start, start)]
    some = [near[k] for k in torch.randperm(len(near), generator=rng)[:12].tolist()]
    for after in some[:4]:
        further = [sketch for _, sketch in moves.steps(after, start)]
        some += [further[k] for k in torch.randperm(len(further), generator=rng)[:3].tolist()]
    return graph, [Difference.between(start, after) for after in some]


@given(seed=st.integers(0, 2**16))
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize("kind", [RelationalGIN, AveragingClassifier])
def test_networks_answer_as_if_all_were_computed(kind, seed):
    graph, differences = variations(seed)
    model = kind(SCHEMA, ClassifierConfig(width=8, depth=3, hidden=8)).double()
    reset_parameters(model, torch.Generator().manual_seed(seed))
    model.eval().requires_grad_(False)
    whole = graph.to(torch.float64)
    dense = model(apply_differences(whole, differences))
    assert torch.allclose(model.of_variations(Varied(whole).of(differences)), dense)


@given(seed=st.integers(0, 2**16))
@settings(max_examples=10, deadline=None)
def test_counts_of_environments_are_exact(seed):
    graph, differences = variations(seed)
    model = CountClassifier(SCHEMA).eval().requires_grad_(False)
    assert torch.equal(model.of_variations(Varied(graph).of(differences)), model(apply_differences(graph, differences)))


@given(seed=st.integers(0, 2**16))
@settings(max_examples=10, deadline=None)
def test_lists_hold_the_very_graphs(seed):
    graph, differences = variations(seed)
    dense, lists = apply_differences(graph, differences), Varied(graph).of(differences)
    assert lists.select(0, len(differences)) == dense
    assert lists.select(3, 5) == dense[3:5]


def test_what_a_change_has_reached_grows_by_one_edge_a_layer():
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=8)
    from graphflip.graph import Graph

    path = Graph.build(schema, [{"type": "a"}] * 7, [(k, k + 1, {}) for k in range(6)])
    before = Sketch.of(path)
    after = before.copy()
    after.set_node(0, ("b",))
    lists = Varied(path).of([Difference.between(before, after)])
    assert [lists.ripple(hops).nodes.tolist() for hops in range(4)] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
