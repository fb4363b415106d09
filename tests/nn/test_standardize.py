"""Continuous columns around zero: by the schema's numbers, without a trace in empty slots."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.graph import Graph
from graphflip.models.networks.decode import MostLikely
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.nn.standardize import from_standard, standardized
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


@given(st.integers(0, 2**16))
def test_there_and_back_again(seed):
    graph = random_graph(SCHEMA, n=5, seed=seed)
    here, joined = graph.B > 0, graph.A > 0
    after = standardized(graph)
    torch.testing.assert_close(from_standard(after.V, SCHEMA.nodes)[here], graph.V[here])
    torch.testing.assert_close(from_standard(after.E, SCHEMA.edges)[joined], graph.E[joined])


@pytest.mark.parametrize("config", [PAPER, PEGVAE.default], ids=["paper", "modern"])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**16), mean=st.floats(-50, 50), scale=st.floats(0.05, 20))
def test_an_autoencoder_does_not_care_about_units(config, seed, mean, scale):
    plain, other = (
        Schema(
            nodes=(Categories(name="type", values=("a", "b")), Continuous(name="x", mean=shift, scale=unit)),
            edges=(Continuous(name="length", mean=-shift, scale=2 * unit),),
            max_nodes=6,
        )
        for shift, unit in ((0.0, 0.5), (mean, 0.5 * scale))
    )
    graph = random_graph(plain, n=4, seed=seed).to(torch.float64)
    V, E = graph.V.clone(), graph.E * scale - mean * graph.A[..., None]
    V[..., 2] = V[..., 2] * scale + mean * graph.B
    same = Graph(graph.B, V, graph.A, E, other)
    one, two = (PEGVAE(schema, config).double().eval() for schema in (plain, other))
    two.load_state_dict(one.state_dict())
    z = one.encode(graph).mean
    torch.testing.assert_close(two.encode(same).mean, z)
    torch.testing.assert_close(two.log_likelihood(same, z).total, one.log_likelihood(graph, z).total)
    rebuilt, again = one.decode(z, MostLikely()), two.decode(z, MostLikely())
    assert torch.equal(again.A, rebuilt.A)
    torch.testing.assert_close(again.V[..., 2], rebuilt.V[..., 2] * scale + mean * rebuilt.B)
