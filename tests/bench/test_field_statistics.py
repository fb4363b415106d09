"""Statistics and pictures of the field, against figures that are known."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.bench.field.pictures import pareto_front
from graphflip.bench.field.statistics import interval, ranking


@settings(max_examples=20)
@given(values=st.lists(st.floats(0, 50), min_size=1, max_size=30), seed=st.integers(0, 99))
def test_an_interval_holds_the_mean_and_stays_within_the_values(values, seed):
    column = torch.tensor([*values, torch.nan], dtype=torch.float64)
    low, high = interval(column, seed, resamples=200) or (0.0, -1.0)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert interval(column, seed, resamples=200) == (low, high), "the same seed gives the same interval"


def test_an_interval_covers_as_often_as_it_says():
    """Of 200 samples of a known distribution, about 95 % of the intervals hold its mean."""
    rng = torch.Generator().manual_seed(0)
    covered = 0
    for k in range(200):
        low, high = interval(torch.randn(40, generator=rng), k, resamples=300) or (0.0, -1.0)
        covered += low <= 0 <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_nothing_known_has_no_interval():
    assert interval(torch.tensor([torch.nan, torch.nan])) is None


def test_the_critical_difference_is_that_of_demsar():
    """Demšar (2006): four classifiers on 14 sets have a critical difference of 1.25 at 0.05."""
    blocks = [{"a": 4.0 + k, "b": 3.0 + k, "c": 2.0 + k, "d": 1.0 + k} for k in range(14)]
    found = ranking(blocks, higher_is_better=True)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert dict(found.ranks) == {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert found.p_value is not None
    assert found.p_value < 1e-6
    assert found.alike() == [("a", "b"), ("b", "c"), ("c", "d")]


def test_equal_figures_share_a_rank_and_a_missing_method_is_not_ranked():
    blocks = [{"a": 0.5, "b": 0.5, "c": 0.1}, {"a": 0.7, "b": 0.7, "c": 0.2, "d": 1.0}]
    assert dict(ranking(blocks, higher_is_better=True).ranks) == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert dict(ranking(blocks, higher_is_better=False).ranks)["c"] == 1.0
    assert ranking([{"a": 1.0}], higher_is_better=True) is None


def test_a_method_that_never_flips_ranks_last_by_edits():
    blocks = [{"a": 3.0, "b": math.inf, "c": 1.0}] * 3
    assert list(ranking(blocks, higher_is_better=False).ranks) == ["c", "a", "b"]


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1))
def test_no_point_of_the_front_is_beaten_and_every_other_is(points):
    front = pareto_front(points, larger_y=True)
    for name, (x, y) in points.items():
        beaten = any(u <= x and v >= y and (u, v) != (x, y) for u, v in points.values())
        assert (name in front) == (not beaten)
