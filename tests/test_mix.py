"""The hash of colors is the finalizer of splitmix64, which is one to one, and colors of nodes by themselves are too."""

import torch
from hypothesis import example, given
from hypothesis import strategies as st

from graphflip.coloring.refinement import NodeColors, mix

BITS = 2**64
NUMBERS = st.integers(-(2**63), 2**63 - 1)


def finalizer(x):
    """Steele, Lea and Flood 2014, on unsigned numbers."""
    x %= BITS
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % BITS
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % BITS
    x ^= x >> 31
    return x - BITS if x >= BITS // 2 else x


@given(NUMBERS)
@example(-1)
@example(2**62 + 12345)
def test_numbers_are_mixed_as_by_splitmix64(number):
    assert int(mix(torch.tensor([number]))) == finalizer(number)


@given(NUMBERS, st.integers(0, 62))
@example(5, 62)
def test_nodes_without_edges_keep_colors_apart(color, bit):
    other = color ^ (1 << bit)
    nothing = torch.zeros(0, dtype=torch.long)
    after = NodeColors.next(torch.tensor([color, other]), nothing, nothing, nothing)
    assert int(after[0]) != int(after[1])
