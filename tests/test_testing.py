"""Every law of graphflip.testing accepts what obeys it and catches what does not."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from graphflip import GraphflipError, metrics
from graphflip.graph import Graph
from graphflip.testing import (
    assert_batch_free,
    assert_equivariant,
    assert_invariant,
    assert_padding_free,
    random_graph,
    random_schema,
)

SEEDS = st.integers(0, 2**16)


def degree(graph):
    return graph.A.sum(2)


def degrees_of_pairs(graph):
    return torch.stack([graph.A * degree(graph)[:, :, None], graph.A @ graph.A], -1)


def complement(graph):
    """Joins what was not joined: a map from graphs to graphs."""
    schema = graph.schema.model_copy(update={"edges": ()})
    A = (graph.B[:, :, None] * graph.B[:, None, :] - graph.A) * (1 - torch.eye(graph.num_slots, dtype=graph.A.dtype))
    return Graph.trusted(graph.B, graph.V, A, graph.E[..., :0], schema)


def first_slot(graph):
    return graph.V[:, 0]


def position(graph):
    return graph.B * torch.arange(graph.num_slots)


def rows_only(graph):
    return (graph.A * torch.arange(graph.num_slots)[:, None])[..., None]


def mean_over_slots(graph):
    return graph.V.mean(1)


def one_minus_adjacency(graph):
    return (1 - graph.A).sum(2)


def all_exist(graph):
    return Graph.trusted(torch.ones_like(graph.B), graph.V, graph.A, graph.E, graph.schema)


def centered(graph):
    return graph.V.sum(1) - graph.V.sum(1).mean(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("f", [degree, degrees_of_pairs, complement, lambda graph: graph, lambda graph: graph.V])
@given(n=st.integers(1, 8), seed=SEEDS, relaxed=st.booleans())
def test_lawful_functions_pass(f, dtype, n, seed, relaxed):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed, relaxed=relaxed).to(dtype)
    assert_equivariant(f, graph, seed=seed)
    assert_padding_free(f, graph)
    assert_batch_free(f, graph)
    assert_invariant(lambda g: g.V.sum(1), graph, seed=seed)
    assert_invariant(lambda g: (g.A > 0).sum((1, 2)), graph, seed=seed)


@pytest.mark.parametrize(
    ("law", "cheat", "message"),
    [
        (assert_equivariant, position, "not equivariant.* changed the output by"),
        (assert_equivariant, rows_only, "not equivariant"),
        (assert_equivariant, lambda g: all_exist(g).permute(torch.arange(5, -1, -1)), "not equivariant.*changed `V`"),
        (assert_equivariant, lambda g: g.V / 0, "not equivariant"),  # NaN equals nothing
        (assert_invariant, first_slot, "not invariant"),
        (assert_invariant, lambda g: g.V.flatten(1), "not invariant"),
        (assert_padding_free, mean_over_slots, "depends on padding: adding 2 empty slots"),
        (assert_padding_free, one_minus_adjacency, "depends on padding"),
        (assert_padding_free, all_exist, "made nodes in them"),
        (assert_padding_free, lambda g: g.V.flatten(1), r"made the output \(2, 32\) instead of \(2, 24\)"),
        (assert_batch_free, centered, "depends on the batch: passing graph 0"),
        (assert_batch_free, lambda g: g.V * len(g), "depends on the batch"),
    ],
)
def test_cheats_are_caught(law, cheat, message):
    graph = random_graph(n=6, seed=3)
    with pytest.raises(AssertionError, match=message):
        law(cheat, graph)


def test_misuse_is_explained():
    graph = random_graph(n=6)
    with pytest.raises(GraphflipError, match="Use `assert_invariant`"):
        assert_equivariant(lambda g: g.B.sum(1), graph)
    full = random_graph(random_schema(0, max_nodes=6), n=6)
    with pytest.raises(GraphflipError, match=r"num_slots must be at most 4 \(max_nodes is 6\); got 6"):
        assert_padding_free(degree, full)


@given(seed=SEEDS, n=st.integers(0, 9), relaxed=st.booleans())
def test_random_graphs_are_valid_and_follow_the_seed(seed, n, relaxed):
    schema = random_schema(seed)
    graph = random_graph(schema, n=n, num_graphs=4, seed=seed, relaxed=relaxed)
    again = random_graph(schema, n=n, num_graphs=4, seed=seed, relaxed=relaxed)
    assert all(torch.equal(getattr(graph, name), getattr(again, name)) for name in "BVAE")
    assert len(graph) == 4
    assert graph.num_slots == n
    assert relaxed or graph.is_hard


def test_random_inputs_cover_the_cases():
    schemas = [random_schema(seed) for seed in range(40)]
    assert {schema.directed for schema in schemas} == {True, False}
    kinds = {
        (kind, column.kind) for schema in schemas for kind in ("nodes", "edges") for column in getattr(schema, kind)
    }
    assert len(kinds) == 4
    graph = random_graph(n=8, num_graphs=20)
    assert 0 < float(graph.B.mean()) < 1
    assert 0 < float(graph.A.mean()) < 1


def test_shapes_are_checked_here():
    """Calls with another shape than the signature says are errors in tests, wherever shapes are named."""
    with pytest.raises(TypeCheckError, match="latent_distance"):
        metrics.latent_distance(torch.zeros(2, 3, 4), torch.zeros(2, 5, 4))
