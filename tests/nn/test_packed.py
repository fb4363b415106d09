"""Pairs stored once give what the dense undirected maps give, and so do their gradients."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.nn import basis, packed
from graphflip.nn.layers import EquivariantBlock
from graphflip.testing import random_graph

SEEDS = st.integers(0, 2**16)
few = settings(max_examples=12)


def draw(seed, n):
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(2, n, 3, generator=rng, dtype=torch.float64)
    X = torch.randn(2, n, n, 3, generator=rng, dtype=torch.float64)
    B = torch.rand(2, n, generator=rng, dtype=torch.float64) * (torch.rand(2, n, generator=rng) < 0.8)
    weight = torch.randn(15, 3, 4, generator=rng, dtype=torch.float64)
    bias = torch.randn(2, 4, generator=rng, dtype=torch.float64)
    return x, X + X.transpose(1, 2), B, weight, bias


@few
@given(seed=SEEDS, n=st.integers(1, 9))
def test_packing_loses_nothing(seed, n):
    _, X, B, _, _ = draw(seed, n)
    assert torch.equal(packed.unpack(packed.pack(X)), X)
    at = torch.ones(2, n, n).nonzero().unbind(1)
    assert torch.equal(packed.take(packed.pack(X), at), X[at])
    weights = packed.pair_weights(B)
    total = (packed.pack(X) * weights[:, None]).sum((2, 3))
    torch.testing.assert_close(total, torch.einsum("bijd,bi,bj->bd", X, B, B))


@pytest.mark.parametrize("relu", [True, False])
@few
@given(seed=SEEDS, n=st.integers(1, 9))
def test_maps_equal_the_dense_ones(relu, seed, n):
    x, X, B, weight, bias = draw(seed, n)
    lifted = basis.one_to_two(x, B, weight[:5], False, bias)
    mixed = basis.two_to_two(X, B, weight, False, bias)
    lifted, mixed = (lifted.relu(), mixed.relu()) if relu else (lifted, mixed)
    torch.testing.assert_close(packed.unpack(packed.one_to_two(x, B, weight[:5], bias, relu)), lifted)
    torch.testing.assert_close(packed.unpack(packed.two_to_two(packed.pack(X), B, weight, bias, relu)), mixed)
    lowered = packed.two_to_one(packed.pack(X), B, weight[:5])
    torch.testing.assert_close(lowered, basis.two_to_one(X, B, weight[:5], False))


@pytest.mark.parametrize("n", [3, 4])
def test_gradients_are_right(n):
    """Also those of relaxed existence."""
    x, X, _, weight, bias = draw(1, n)
    B = torch.linspace(0.4, 1, 2 * n, dtype=torch.float64).view(2, n)
    x, P, B, weight, bias = (part.requires_grad_() for part in (x, packed.pack(X).detach(), B, weight, bias))
    five = weight.detach()[:5].requires_grad_()
    cases = [
        (packed.one_to_two, (x, B, five, bias)),
        (packed.two_to_one, (P, B, five)),
        (packed.two_to_two, (P, B, weight, bias)),
    ]
    for maps, inputs in [*cases, (lambda P: packed.unpack(P).square(), (P,))]:
        # Every result of the pools is used, so none of their gradients is ever undefined.
        assert torch.autograd.gradcheck(maps, inputs, check_undefined_grad=False)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(("k", "l"), [(1, 2), (2, 2), (2, 1)])
@few
@given(seed=SEEDS, n=st.integers(2, 7))
def test_blocks_give_the_same_either_way(k, l, train, seed, n):
    graph = random_graph(n=n, num_graphs=3, seed=seed).to(torch.float64)
    x = torch.cat([graph.B[..., None], graph.V], -1) if k == 1 else torch.cat([graph.A[..., None], graph.E], -1)
    dense = EquivariantBlock(k, l, x.shape[-1], 4).double().train(train)
    folded = EquivariantBlock(k, l, x.shape[-1], 4).double().train(train)
    folded.load_state_dict(dense.state_dict())
    expected, x = dense(x, graph.B), packed.pack(x) if k == 2 else x
    found = folded(x, graph.B, True)
    torch.testing.assert_close(packed.unpack(found) if l == 2 else found, expected)
    for name, tensor in folded.state_dict().items():
        torch.testing.assert_close(tensor, dense.state_dict()[name])
