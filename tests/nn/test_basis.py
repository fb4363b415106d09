"""The broadcast maps against a slow, obvious version: one coefficient for every entry of every basis tensor."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.nn import basis

BELL = {(1, 1): 2, (1, 2): 5, (2, 1): 5, (2, 2): 15, (1, 0): 1, (2, 0): 2}
ORDERS = list(BELL)
PAIRS = [orders for orders in ORDERS if 2 in orders]  # where direction makes a difference
SEEDS = st.integers(0, 2**16)
few = settings(max_examples=12)

# Coefficient of the input entry (the last indices) in the output entry (the first); s is the share of a node in a mean.
_NODE = [  # what a node i can read from pairs (a, b)
    lambda i, a, b, s: a == b == i,
    lambda i, a, b, s: (a == i) * s[b],
    lambda i, a, b, s: (b == i) * s[a],
]
_ALL = [lambda a, b, s: s[a] * s[b], lambda a, b, s: (a == b) * s[a]]
ORACLE = {
    (1, 1): [lambda i, a, s: i == a, lambda i, a, s: s[a]],
    (1, 2): [
        lambda i, j, a, s: i == a,
        lambda i, j, a, s: j == a,
        lambda i, j, a, s: s[a],
        lambda i, j, a, s: i == j == a,
        lambda i, j, a, s: (i == j) * s[a],
    ],
    (2, 1): [*_NODE, *(lambda i, a, b, s, f=f: f(a, b, s) for f in _ALL)],
    (2, 2): [
        lambda i, j, a, b, s: i == a and j == b,
        lambda i, j, a, b, s: i == b and j == a,
        *(lambda i, j, a, b, s, f=f: f(i, a, b, s) for f in _NODE),
        *(lambda i, j, a, b, s, f=f: f(j, a, b, s) for f in _NODE),
        *(lambda i, j, a, b, s, f=f: f(a, b, s) for f in _ALL),
        *(lambda i, j, a, b, s, f=f: (i == j) * f(i, a, b, s) for f in _NODE),
        *(lambda i, j, a, b, s, f=f: (i == j) * f(a, b, s) for f in _ALL),
    ],
    (1, 0): [lambda a, s: s[a]],
    (2, 0): _ALL,
}
FAST = {
    (1, 1): lambda x, B, weight, directed: basis.one_to_one(x, B, weight),
    (1, 2): basis.one_to_two,
    (2, 1): basis.two_to_one,
    (2, 2): basis.two_to_two,
    (1, 0): lambda x, B, weight, directed: basis.one_to_zero(x, B, weight),
    (2, 0): basis.two_to_zero,
}


def slow(orders, x, B, weight):
    """The stacked version: all basis tensors, written out entry by entry, in one sum."""
    k, l = orders
    n = B.shape[1]
    shares = (B / B.sum(1, keepdim=True).clamp(min=1)).tolist()
    tensors = torch.tensor(
        [[[float(f(*index, s)) for index in product(range(n), repeat=k + l)] for s in shares] for f in ORACLE[orders]],
        dtype=x.dtype,
    )
    tensors = tensors.view(len(ORACLE[orders]), len(B), *[n] * (k + l))
    outs, ins = "ij"[:l], "pq"[:k]
    return torch.einsum(f"mb{outs}{ins},b{ins}d,mde->b{outs}e", tensors, x, weight)


def draw(orders, seed, n=4, d=2, e=3, symmetric=False, dtype=torch.float64, relaxed=True):
    rng = torch.Generator().manual_seed(seed)
    k, _ = orders
    x = torch.randn(2, *[n] * k, d, generator=rng, dtype=dtype)
    if symmetric and k == 2:
        x = x + x.transpose(1, 2)
    B = (torch.rand(2, n, generator=rng) < 0.7).to(dtype)
    if relaxed:
        B = B * torch.rand(2, n, generator=rng, dtype=dtype)
    weight = torch.randn(BELL[orders], d, e, generator=rng, dtype=dtype)
    return x, B, weight


def transpose(tensor):
    return tensor.transpose(1, 2)


def test_the_number_of_maps_is_a_bell_number():
    assert basis.NUM_MAPS == BELL
    assert {orders: len(maps) for orders, maps in ORACLE.items()} == BELL


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@few
@given(seed=SEEDS, n=st.integers(1, 4), relaxed=st.booleans())
def test_directed_maps_equal_the_stacked_version(orders, seed, n, relaxed):
    x, B, weight = draw(orders, seed, n, relaxed=relaxed)
    torch.testing.assert_close(FAST[orders](x, B, weight, True), slow(orders, x, B, weight))


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@few
@given(seed=SEEDS, n=st.integers(1, 4))
def test_undirected_maps_are_the_symmetric_part_for_symmetric_input(orders, seed, n):
    x, B, weight = draw(orders, seed, n, symmetric=True)
    expected = slow(orders, x, B, weight)
    if orders[1] == 2:
        expected = (expected + transpose(expected)) / 2
    torch.testing.assert_close(FAST[orders](x, B, weight, False), expected)


def rank(maps, orders, n=5):
    """Dimension of the space that the maps span, each as one long vector of what it makes of every unit input."""
    k, _ = orders
    units = torch.eye(n**k, dtype=torch.float64).view(n**k, *[n] * k, 1)
    B = torch.ones(n**k, n, dtype=torch.float64)
    one_map = torch.eye(BELL[orders], dtype=torch.float64)[:, :, None, None]
    return int(torch.linalg.matrix_rank(torch.stack([maps(units, B, w, True).flatten() for w in one_map])))


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_maps_are_linearly_independent(orders):
    assert rank(FAST[orders], orders) == BELL[orders]


def test_a_doubled_map_is_seen():
    def doubled(X, B, weight, directed):
        return basis.two_to_two(X, B, torch.cat([weight[:7], weight[7:8] + weight[6:7], weight[8:]]), directed)

    def lost(X, B, weight, directed):
        return basis.two_to_two(X, B, torch.cat([weight[:7], weight[6:7], weight[8:]]), directed)

    assert rank(doubled, (2, 2)) == 15  # a mixture is still independent
    assert rank(lost, (2, 2)) == 14


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
@few
@given(seed=SEEDS, n=st.integers(1, 6))
def test_maps_commute_with_relabelling(orders, directed, dtype, seed, n):
    x, B, weight = draw(orders, seed, n, symmetric=not directed, dtype=dtype)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))

    def relabel(tensor, axes):
        for axis in range(1, axes + 1):
            tensor = tensor.index_select(axis, order)
        return tensor

    k, l = orders
    expected = relabel(FAST[orders](x, B, weight, directed), l)
    found = FAST[orders](relabel(x, k), B[:, order], weight, directed)
    torch.testing.assert_close(found, expected, atol=1e-5 if dtype == torch.float32 else 1e-12, rtol=1e-4)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
@few
@given(seed=SEEDS, n=st.integers(1, 5), junk=st.floats(-9, 9))
def test_empty_slots_change_nothing(orders, directed, seed, n, junk):
    """Whatever stands in them."""
    x, B, weight = draw(orders, seed, n, symmetric=not directed)
    k, l = orders
    wide = torch.nn.functional.pad(x, (0, 0) + (0, 2) * k, value=junk)
    found = FAST[orders](wide, torch.nn.functional.pad(B, (0, 2)), weight, directed)
    for axis in range(1, l + 1):
        found = found.narrow(axis, 0, n)
    torch.testing.assert_close(found, FAST[orders](x, B, weight, directed))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_gradients_are_right_and_reach_every_weight(orders, directed):
    x, _, weight = draw(orders, 3, n=3)
    B = torch.tensor([[0.9, 0.6, 0.8], [0.7, 1.0, 0.5]], dtype=torch.float64)
    inputs = [tensor.requires_grad_() for tensor in (x, B, weight)]
    assert torch.autograd.gradcheck(lambda x, B, w: FAST[orders](x, B, w, directed), inputs)
    FAST[orders](*inputs, directed).square().sum().backward()
    assert bool((weight.grad != 0).all())


@pytest.mark.parametrize("orders", [(1, 2), (2, 2)], ids=str)
@pytest.mark.parametrize("directed", [True, False])
def test_biases_are_for_all_pairs_and_for_the_diagonal(orders, directed):
    x, B, weight = draw(orders, 1, symmetric=True)
    bias = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    found = FAST[orders](x, B, weight, directed, bias) - FAST[orders](x, B, weight, directed)
    expected = (bias[0] + torch.eye(4)[..., None] * bias[1]).expand(2, 4, 4, 3)
    torch.testing.assert_close(found, expected)
    assert torch.autograd.gradcheck(lambda bias: FAST[orders](x, B, weight, directed, bias), bias)
