"""Continuous columns around zero: by the schema's numbers, without a trace in empty slots."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.nn.standardize import standardized
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import assert_padding_free, random_graph, random_schema

SCHEMA = Schema(
    nodes=(Categories(name="type", values=("a", "b")), Continuous(name="x", mean=3.0, scale=0.5)),
    edges=(Continuous(name="length", mean=-2.0, scale=4.0),),
    max_nodes=8,
    directed=True,
)


@given(st.integers(0, 2**16), st.booleans())
def test_numbers_are_less_their_mean_in_units_of_their_scale(seed, relaxed):
    graph = random_graph(SCHEMA, n=5, seed=seed, relaxed=relaxed)
    after = standardized(graph)
    assert torch.equal(after.V[..., :2], graph.V[..., :2])
    torch.testing.assert_close(after.V[..., 2], (graph.V[..., 2] - 3 * graph.B) / 0.5)
    torch.testing.assert_close(after.E[..., 0], (graph.E[..., 0] + 2 * graph.A) / 4)
    assert not bool(after.V[graph.B == 0].any())
    assert not bool(after.E[graph.A == 0].any())


@given(st.integers(0, 2**16))
def test_empty_slots_and_categories_are_left_alone(seed):
    graph = random_graph(random_schema(seed), n=4, seed=seed)
    assert_padding_free(lambda one: standardized(one).V.sum(1), graph)
    plain = random_graph(Schema(nodes=(Categories(name="type", values=("a",)),), max_nodes=4), n=4, seed=seed)
    assert standardized(plain) is plain
