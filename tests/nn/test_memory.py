"""While an answer is sought, Python looks for garbage less often; afterwards as often as before."""

import gc

import pytest

from graphflip.nn.memory import collecting_seldom


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_seldom_inside_and_as_usual_afterwards():
    with collecting_seldom():
        assert gc.get_threshold()[0] > 10_000
        assert gc.get_threshold()[1:] == (10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_leaves_it_as_usual():
    with pytest.raises(KeyError), collecting_seldom():
        raise KeyError
    assert gc.get_threshold() == (700, 10, 10)


def test_blocks_that_overlap_as_threads_may_leave_it_as_usual():
    first, second = collecting_seldom(), collecting_seldom()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 10_000  # the second one is still at work
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("usual", [0, 10**6])
def test_who_looks_even_less_often_is_left_alone(usual: int):
    gc.set_threshold(usual, 5, 5)
    with collecting_seldom():
        assert gc.get_threshold() == (usual, 5, 5)
