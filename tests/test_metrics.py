"""Metrics against slow, obvious versions, and what they must say at the extremes."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip import Graph, Schema
from graphflip.edits import edits_between
from graphflip.errors import ConfigError, GraphError
from graphflip.metrics import (
    agreement,
    confidence_gain,
    edge_sparsity,
    embedding_cosine,
    flip_ratio,
    flip_ratio_label,
    flipped,
    histogram,
    latent_distance,
    node_sparsity,
    plausibility_threshold,
    plausible_share,
    summarize,
    tradeoff_curve,
)
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
# Few distinct values, so that many scores are equal.
SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, 7.0, math.nan]), min_size=1, max_size=40)


def random_batches(seed: int) -> tuple[Graph, Graph]:
    schema = random_schema(seed)
    return random_graph(schema, n=5, num_graphs=4, seed=seed), random_graph(schema, n=6, num_graphs=4, seed=seed + 1)


@given(SEEDS)
def test_flip_ratios_count_all_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    predicted, target = (torch.randint(0, 3, (20,), generator=rng) for _ in range(2))
    found = torch.rand(20, generator=rng) > 0.3
    both = list(zip(predicted.tolist(), target.tolist(), found.tolist(), strict=True))
    assert flip_ratio(predicted, target, found) == pytest.approx(sum(f and p == t for p, t, f in both) / 20)
    assert flip_ratio_label(predicted, target, found) == pytest.approx(sum(f and p != t for p, t, f in both) / 20)
    assert flip_ratio(predicted, target) >= flip_ratio(predicted, target, found)


def test_nothing_found_is_not_flipped():
    label, none = torch.tensor([1, 1]), torch.tensor([False, False])
    assert flip_ratio(label, label, none) == 0
    assert flip_ratio_label(1 - label, label, none) == 0


def test_doing_nothing_flips_no_prediction_but_misclassified_labels():
    predicted, label = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 1, 0, 0])
    assert flip_ratio(predicted, 1 - predicted) == 0
    assert flip_ratio_label(predicted, label) == 0.25


@given(SEEDS)
def test_agreement_is_at_most_either_flip_ratio(seed):
    rng = torch.Generator().manual_seed(seed)
    ours, judge, target = (torch.randint(0, 2, (15,), generator=rng) for _ in range(3))
    nafr = agreement(flipped(ours, target), flipped(judge, target))
    assert nafr == pytest.approx(sum(a == t == b for a, b, t in zip(ours, judge, target, strict=True)) / 15)
    assert nafr <= min(flip_ratio(ours, target), flip_ratio(judge, target))


def test_confidence_gain_is_signed():
    gain = confidence_gain(torch.tensor([0.1, 0.9, 0.5]), torch.tensor([0.9, 0.1, math.nan]))
    assert gain[:2].tolist() == pytest.approx([0.8, -0.8])
    assert summarize(gain).count == 2
    assert summarize(gain).mean == pytest.approx(0)


@given(SEEDS)
def test_latent_distance_and_cosine(seed):
    rng = torch.Generator().manual_seed(seed)
    z, w = (torch.randn(3, 4, 2, generator=rng, dtype=torch.float64) for _ in range(2))
    for k in range(3):
        assert float(latent_distance(z, w)[k]) == pytest.approx(
            math.dist(z[k].flatten().tolist(), w[k].flatten().tolist())
        )
    assert latent_distance(z, z).tolist() == [0, 0, 0]
    assert torch.equal(latent_distance(z, w), latent_distance(w, z))
    e, f = z.flatten(1), w.flatten(1)
    expected = [float(a @ b / (a @ a).sqrt() / (b @ b).sqrt()) for a, b in zip(e, f, strict=True)]
    assert embedding_cosine(e, f).tolist() == pytest.approx(expected)
    assert embedding_cosine(e, 3 * e).tolist() == pytest.approx([1, 1, 1])
    assert embedding_cosine(e, -e).tolist() == pytest.approx([-1, -1, -1])
    assert embedding_cosine(e, 0 * e).tolist() == [0, 0, 0]


@given(SEEDS)
def test_edge_sparsity_counts_edges_as_edits_do(seed):
    before, after = random_batches(seed)
    for g, h, value in zip(before, after, edge_sparsity(before, after).tolist(), strict=True):
        changed = sum(edit.op in ("add_edge", "remove_edge") for edit in edits_between(g, h))
        total = len(g.edges())
        assert value == pytest.approx(max(0, 1 - changed / total) if total else float(changed == 0), abs=1e-6)
    assert edge_sparsity(before, before).tolist() == [1, 1, 1, 1]


@given(SEEDS)
def test_node_sparsity_counts_nodes_that_keep_their_categories(seed):
    before, after = random_batches(seed)
    for g, h, value in zip(before, after, node_sparsity(before, after).tolist(), strict=True):
        pairs = [(a, b) for a, b in zip(g.nodes(), h.nodes()[:5], strict=True) if a is not None]
        kept = [b is not None and all(a[name] == b[name] for name in a if name != "size") for a, b in pairs]
        assert value == pytest.approx(sum(kept) / len(kept) if kept else 1, abs=1e-6)
    assert node_sparsity(before, before).tolist() == [1, 1, 1, 1]


def test_sparsity_of_one_changed_edge_in_an_undirected_ring():
    schema = Schema(max_nodes=4)
    ring = [(i, (i + 1) % 4, {}) for i in range(4)]
    g, h = (Graph.build(schema, [{}] * 4, edges) for edges in (ring, ring[:3]))
    assert edge_sparsity(g, h).tolist() == [0.75]


def test_each_factual_needs_a_counterfactual():
    graphs = random_graph(n=3, num_graphs=3)
    with pytest.raises(GraphError, match="got 3 and 2"):
        edge_sparsity(graphs, graphs[:2])


def test_plausible_share():
    real = torch.arange(101.0)
    assert plausibility_threshold(real) == pytest.approx(99)
    assert plausible_share(real, 99.0) == pytest.approx(100 / 101)
    assert plausible_share(torch.tensor([1.0, math.nan, 500.0]), 99.0) == 0.5
    assert math.isnan(plausible_share(torch.tensor([math.nan]), 99.0))
    with pytest.raises(ConfigError, match="quantile"):
        plausibility_threshold(real, 99.0)


@given(SCORES, SEEDS, st.integers(1, 12))
def test_tradeoff_curve_is_the_conditional_mean(scores, seed, burn_in):
    identity = torch.tensor(scores)
    validity = torch.rand(len(scores), generator=torch.Generator().manual_seed(seed))
    curve = tradeoff_curve(identity, validity, burn_in)
    expected = {}
    for threshold in sorted({score for score in scores if not math.isnan(score)}):
        below = [v for s, v in zip(scores, validity.tolist(), strict=True) if s <= threshold]
        if len(below) >= burn_in:
            expected[threshold] = (sum(below) / len(below), len(below))
    assert curve.threshold.tolist() == list(expected)
    assert curve.validity.tolist() == pytest.approx([mean for mean, _ in expected.values()], abs=1e-6)
    assert curve.count.tolist() == [count for _, count in expected.values()]


def test_tradeoff_curve_starts_at_the_tenth_observation_and_ends_at_the_mean():
    identity, validity = torch.arange(30.0).flip(0), (torch.arange(30) % 2).double()
    curve = tradeoff_curve(identity.double(), validity)
    assert curve.threshold[0] == 9
    assert curve.validity[-1] == validity.mean()
    assert len(tradeoff_curve(identity[:9], validity[:9].float()).threshold) == 0
    with pytest.raises(ConfigError, match="burn_in"):
        tradeoff_curve(identity, identity, burn_in=0)


@given(SCORES, st.integers(1, 7))
def test_histogram_counts_every_value_once(scores, bins):
    values = torch.tensor(scores, dtype=torch.float64)
    known = values[~values.isnan()]
    found = histogram(values, bins)
    assert int(found.count.sum()) == len(known)
    if len(known):
        expected, edges = np.histogram(known.numpy(), bins)
        assert found.count.tolist() == expected.tolist()
        assert found.edges.tolist() == pytest.approx(edges.tolist())


def test_a_histogram_has_twenty_bins_unless_told_otherwise():
    assert len(histogram(torch.arange(100.0)).count) == 20


def test_summary_leaves_out_what_was_not_found():
    summary = summarize(torch.tensor([1.0, math.nan, 3.0]))
    assert (summary.mean, summary.count) == (2, 2)
    assert summary.spread == pytest.approx(math.sqrt(2))
    assert math.isnan(summarize(torch.tensor([math.nan])).mean)
