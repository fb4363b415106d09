"""Starts of the alignment: a renumbered copy is aligned at once if colors tell its nodes apart."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from graphflip import Graph, Schema
from graphflip.edits import EditCosts
from graphflip.ged import search
from graphflip.ged.bounds import disagreement, reversed_links
from graphflip.ged.problem import alignment_problem
from graphflip.ged.search import descend, grow, starting_alignments
from graphflip.testing import random_graph, random_schema


@given(st.integers(0, 2**16), st.integers(4, 9))
def test_a_renumbered_copy_is_aligned_at_once(seed, n):
    graph = random_graph(random_schema(seed), n=n, num_graphs=1, seed=seed).trim()
    assume(len(graph.refinement.colors(4).unique()) == graph.num_slots)
    order = torch.randperm(graph.num_slots, generator=torch.Generator().manual_seed(seed))
    problem = alignment_problem(graph, graph.permute(order), EditCosts())
    assert problem.cost(next(starting_alignments(problem))) == 0


@given(st.integers(0, 2**16), st.integers(3, 9))
def test_a_ring_is_aligned_in_one_direction(seed, n):
    """All nodes are alike: only the links to nodes that are aligned already say which comes next."""
    ring = Graph.build(Schema(max_nodes=9), [{}] * n, [(i, (i + 1) % n, {}) for i in range(n)])
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    problem = alignment_problem(ring, ring.permute(order), EditCosts())
    assert problem.cost(grow(problem, np.zeros((n, n)))) == 0


def test_soft_alignments_stay_between_alignments(monkeypatch):
    seen, real = [], search.gains

    def noting(problem, soft):
        seen.append(soft)
        return real(problem, soft)

    monkeypatch.setattr(search, "gains", noting)
    for seed in range(40):
        pair = (random_graph(random_schema(seed), n=7, num_graphs=1, seed=seed + k).trim() for k in (0, 1))
        g, h = sorted(pair, key=lambda graph: graph.num_slots)
        problem = alignment_problem(g, h, EditCosts())
        descend(problem, np.random.default_rng(seed).permutation(problem.n))
    soft = [one for one in seen if one.sum() == pytest.approx(len(one))]  # the others are directions
    assert any(0.01 < entry < 0.99 for one in soft for entry in one.flat)
    assert all(-1e-9 <= one.min() and one.max() <= 1 + 1e-9 for one in soft)


@given(st.integers(0, 2**16))
def test_stars_disagree_by_one_and_in_opposite_ways(seed):
    graphs = [random_graph(random_schema(seed), n=6, num_graphs=1, seed=seed + k).trim() for k in (0, 1)]
    g, h = sorted(graphs, key=lambda graph: graph.num_slots)
    problem = alignment_problem(g, h, EditCosts())
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=problem.saving.shape)
    share = problem.saving / 2 + noise - noise[np.ix_(*reversed_links(problem))]
    allowed = np.ones((problem.n, problem.n), dtype=bool)
    found = disagreement(problem, share, rng.permutation(problem.n), allowed)
    assert set(found.flat) <= {-1.0, 0.0, 1.0}
    assert np.array_equal(found, -found[np.ix_(*reversed_links(problem))])
