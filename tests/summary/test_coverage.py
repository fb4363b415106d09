"""Laws of coverage: greedy choice, its bounds, and intervals."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflip.summary.coverage import greedy_cover
from graphflip.summary.figures import curve_of
from graphflip.summary.results.intervals import wilson_interval


def random_sets(num_sets, num_elements, seed, density=0.35):
    return np.random.default_rng(seed).random((num_sets, num_elements)) < density


def best_of(sets, k):
    """The most that k sets cover, by trying all."""
    several = (sets[list(chosen)].any(0).sum() for chosen in combinations(range(len(sets)), min(k, len(sets))))
    return int(max(several, default=0))


cases = given(n=st.integers(1, 8), m=st.integers(1, 14), k=st.integers(1, 5), seed=st.integers(0, 2**16))


@cases
def test_greedy_is_near_the_optimum_and_below_its_bound(n, m, k, seed):
    sets = random_sets(n, m, seed)
    cover = greedy_cover(sets, k)
    for size, (covered, bound) in enumerate(zip(cover.covered, cover.bounds, strict=True), 1):
        optimum = best_of(sets, size)
        assert (1 - 1 / math.e) * optimum <= covered <= optimum <= bound
        assert covered == sets[list(cover.chosen[:size])].any(0).sum()


@cases
def test_coverage_grows_with_every_set(n, m, k, seed):
    cover = greedy_cover(random_sets(n, m, seed), k)
    assert all(a < b for a, b in zip((0, *cover.covered), cover.covered, strict=False))
    curve = curve_of(random_sets(n, m, seed))
    assert list(curve) == sorted(curve)


@cases
def test_the_choice_does_not_depend_on_the_order_of_sets(n, m, k, seed):
    sets, order = random_sets(n, m, seed), np.random.default_rng(seed).permutation(n)
    cover = greedy_cover(sets, k, [(i,) for i in range(n)])
    other = greedy_cover(sets[order], k, [(int(i),) for i in order])
    assert cover.chosen == tuple(int(order[i]) for i in other.chosen)
    assert cover.covered == other.covered


def test_no_sets_cover_nothing():
    assert greedy_cover(np.zeros((0, 5), dtype=bool), 3).chosen == ()
    assert greedy_cover(np.zeros((2, 5), dtype=bool), 3).covered == ()


@given(count=st.integers(0, 40), more=st.integers(0, 40))
def test_an_interval_holds_its_share_and_narrows(count, more):
    total = count + more
    low, high = wilson_interval(count, total)
    assert 0 <= low <= (count / total if total else 0.5) <= high <= 1
    if total:
        wide, narrow = (end[1] - end[0] for end in ((low, high), wilson_interval(4 * count, 4 * total)))
        assert narrow < wide


@pytest.mark.parametrize("count", [1, 5, 9])
def test_an_interval_is_that_of_the_score_test(count):
    """Its ends are the shares from which the one seen is 1.96 standard errors away."""
    for end in wilson_interval(count, 10):
        assert abs(count / 10 - end) == pytest.approx(1.96 * math.sqrt(end * (1 - end) / 10), rel=1e-3)
