"""The hash of colors is the finalizer of splitmix64, which is one to one; numbers are told apart by halves."""

import torch
from hypothesis import example, given
from hypothesis import strategies as st

from graphflip import Continuous, Graph, Schema
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


def test_numbers_are_told_apart_by_halves():
    schema = Schema(nodes=(Continuous(name="size"),), max_nodes=4)
    sizes = (0.0, 0.1, 0.5, 1.0)
    graph = Graph.build(schema, [{"size": size} for size in sizes], [])
    zero, near, half, one = graph.refinement.colors(0).tolist()
    assert zero == near
    assert len({zero, half, one}) == 3
