"""Parts of the graph edit distance against exhaustive search: bounds, the integer program, local search."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphflip.edits import EditCosts
from graphflip.ged.bounds import best_sums, reversed_links, star_bound
from graphflip.ged.exact import solve
from graphflip.ged.problem import AssignmentProblem, alignment_problem
from graphflip.ged.search import descend, exchange_gains, improve, starting_alignments
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)


def random_problem(seed: int, n: int, m: int) -> AssignmentProblem:
    schema = random_schema(seed)
    graphs = [random_graph(schema, n=size, num_graphs=1, seed=seed + i).trim() for i, size in enumerate((n, m))]
    g, h = sorted(graphs, key=lambda graph: graph.num_slots)
    return alignment_problem(g, h, EditCosts(1.0, 2.0, 1.0, 3.0, 1.0, 2.0))


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_star_bounds_hold_for_every_alignment(seed, n, m):
    """Whatever share of a saving belongs to which end, no alignment of i with k costs less than its bound."""
    problem = random_problem(seed, n, m)
    noise = np.random.default_rng(seed).normal(size=problem.saving.shape)
    share = problem.saving / 2 + noise - noise[np.ix_(*reversed_links(problem))]
    for share_of_tail in (problem.saving / 2, share):
        bound = star_bound(problem, share_of_tail, np.ones((problem.n, problem.n), dtype=bool))
        assert bound.lower == pytest.approx(bound.when_aligned.min(initial=bound.lower))
        for order in permutations(range(problem.n)):
            cost = problem.cost(np.array(order, dtype=int))
            assert all(bound.when_aligned[i, k] <= cost + 1e-9 for i, k in enumerate(order))


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_the_integer_program_finds_the_cheapest_alignment(seed, n, m):
    problem = random_problem(seed, n, m)
    assume(problem.num_real)
    allowed = np.ones((problem.n, problem.n), dtype=bool)
    best = min(problem.cost(np.array(order, dtype=int)) for order in permutations(range(problem.n)))
    solved = solve(problem, allowed, best, 3.0)
    assert problem.cost(solved.image) == pytest.approx(best, abs=1e-4)
    assert solved.lower == pytest.approx(best, abs=1e-4)
    assert solve(problem, allowed, best - 0.5, 3.0).lower > best - 0.5
    too_late = solve(problem, allowed, best, -1e-5)
    assert too_late.image is None
    assert too_late.lower == -math.inf


@given(SEEDS, st.integers(1, 7), st.integers(1, 7))
def test_local_search_never_makes_an_alignment_worse(seed, n, m):
    problem = random_problem(seed, n, m)
    for start in starting_alignments(problem):
        assert sorted(start) == list(range(problem.n))
        assert problem.cost(improve(problem, start)) <= problem.cost(start) + 1e-9
        assert problem.cost(descend(problem, start)) <= problem.cost(start) + 1e-9


@given(SEEDS, st.integers(2, 5))
def test_no_exchange_improves_what_was_improved(seed, n):
    problem = random_problem(seed, n, n)
    image = improve(problem, np.arange(problem.n))
    for i, j in combinations(range(problem.n), 2):
        other = image.copy()
        other[[i, j]] = other[[j, i]]
        assert problem.cost(other) >= problem.cost(image) - 1e-9


@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_the_gain_of_an_exchange_is_what_it_saves(seed, n, m):
    problem = random_problem(seed, n, m)
    image = np.random.default_rng(seed).permutation(problem.n)
    gain = exchange_gains(problem, image)
    for i, j in combinations(range(problem.n), 2):
        other = image.copy()
        other[[i, j]] = other[[j, i]]
        assert gain[i, j] == pytest.approx(problem.cost(image) - problem.cost(other), abs=1e-9)


@given(SEEDS, st.integers(0, 5))
def test_the_best_sum_is_that_of_the_best_order(seed, width):
    block = np.random.default_rng(seed).normal(size=(2, 3, width, width))
    for i, k in np.ndindex(2, 3):
        best = max(sum(block[i, k, a, b] for a, b in enumerate(order)) for order in permutations(range(width)))
        assert best_sums(block)[i, k] == best
