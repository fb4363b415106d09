"""Drawing graphs: hard values, straight gradients, the right frequencies, one generator for each graph."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.graph import Graph
from graphflip.models.networks.decode import Gumbel, MostLikely, Soft, draw_columns, rounded, straight_through
from graphflip.schema import Categories, Continuous
from graphflip.testing import random_graph

SEEDS = st.integers(0, 2**16)


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def logits_of(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 4


@given(seed=SEEDS)
def test_hard_draws_are_exactly_zero_or_one(seed):
    """Exactly, or a graph would not count as hard."""
    logits = logits_of(seed, 2, 50, 3)
    for infer in (MostLikely(), Gumbel(generators(seed, seed + 1))):
        for value in (infer.binary(logits), infer.category(logits)):
            assert bool(((value == 0) | (value == 1)).all())
        assert bool((infer.category(logits).sum(-1) == 1).all())


@given(seed=SEEDS)
def test_the_most_likely_value_is_taken(seed):
    logits = logits_of(seed, 2, 5, 3)
    assert torch.equal(MostLikely().category(logits).argmax(-1), logits.argmax(-1))
    assert torch.equal(MostLikely().binary(logits) == 1, logits > 0)


@given(seed=SEEDS)
def test_soft_values_are_the_probabilities(seed):
    logits = logits_of(seed, 2, 5, 3)
    assert torch.equal(Soft().binary(logits), logits.sigmoid())
    assert torch.equal(Soft().category(logits), logits.softmax(-1))


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_frequencies_of_hard_draws_are_the_probabilities(tau):
    """At any temperature: the largest of logits plus Gumbel noise has the probability that softmax says."""
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0]).expand(1, 40_000, 4)
    categories = Gumbel(generators(0), tau).category(logits).mean((0, 1))
    torch.testing.assert_close(categories, logits[0, 0].softmax(-1), atol=0.01, rtol=0)
    binary = Gumbel(generators(1), tau).binary(logits).mean((0, 1))
    torch.testing.assert_close(binary, logits[0, 0].sigmoid(), atol=0.01, rtol=0)


@given(seed=SEEDS, hard=st.booleans())
def test_a_draw_does_not_depend_on_neighbors_in_the_batch(seed, hard):
    logits = logits_of(seed, 3, 6, 2)
    together = Gumbel(generators(1, 2, 3), hard=hard)
    alone = Gumbel(generators(2), hard=hard)
    for draw in ("binary", "category", "binary"):
        torch.testing.assert_close(getattr(together, draw)(logits)[1:2], getattr(alone, draw)(logits[1:2]))


def test_draws_follow_the_generator():
    logits = torch.zeros(1, 100, 3)
    first, again, other = (Gumbel(generators(seed)).category(logits) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_low_temperature_approaches_the_hard_draw():
    logits = logits_of(0, 1, 50, 3)
    hard, cold = Gumbel(generators(5)).category(logits), Gumbel(generators(5), tau=1e-3, hard=False).category(logits)
    assert float((hard - cold).abs().max()) < 0.05


@pytest.mark.parametrize("infer", [MostLikely(), Gumbel(generators(0, 1), tau=0.7)], ids=["most likely", "gumbel"])
def test_gradients_pass_straight_through(infer):
    logits = logits_of(3, 2, 5, 3).requires_grad_()
    for draw in (infer.binary, infer.category):
        pull = logits_of(4, 2, 5, 3)
        (gradient,) = torch.autograd.grad((draw(logits) * pull).sum(), logits)
        assert bool((gradient != 0).all())


def test_straight_through_has_one_value_and_the_other_gradient():
    relaxed = torch.tensor([0.2, 0.7], requires_grad=True)
    mixed = straight_through(torch.tensor([0.0, 1.0]), relaxed * 3)
    assert mixed.tolist() == [0.0, 1.0]
    assert torch.autograd.grad(mixed.sum(), relaxed)[0].tolist() == [3.0, 3.0]


def test_continuous_columns_are_their_mean_and_none_are_none():
    slices = [(Continuous(name="size"), slice(0, 1)), (Categories(name="type", values=("a", "b")), slice(1, 3))]
    values = draw_columns(MostLikely(), torch.tensor([[[2.5, -1.0, 1.0]]]), slices)
    assert values.tolist() == [[[2.5, 0.0, 1.0]]]
    assert draw_columns(Soft(), torch.zeros(1, 4, 0), []).shape == (1, 4, 0)


@given(seed=SEEDS)
def test_rounded_graphs_have_no_attributes_where_there_is_no_node_or_edge(seed):
    graph = random_graph(n=6, num_graphs=3, seed=seed)
    V, E = graph.V + 0.7, graph.E + 0.7  # as if something had been decoded everywhere
    hard = rounded(Graph.trusted(graph.B, V, graph.A, E, graph.schema))
    assert not bool(hard.V[hard.B == 0].any())
    assert not bool(hard.E[hard.A == 0].any())
    assert bool(hard.V[hard.B == 1].any())
