"""The folded block against the same block written plainly, in training and in eval mode."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from graphflip.nn.initialize import reset_parameters
from graphflip.nn.layers import EquivariantBlock, EquivariantLinear, InvariantReadout, MaskedBatchNorm
from graphflip.testing import assert_equivariant, assert_padding_free, random_graph

ORDERS = [(1, 1), (1, 2), (2, 1), (2, 2)]
SEEDS = st.integers(0, 2**16)
D, E = 3, 4
few = settings(max_examples=12)


def random_block(k, l, directed, seed):
    """A block in which no parameter or statistic has a special value."""
    block = EquivariantBlock(k, l, D, E, directed).double()
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in block.state_dict().values():
            tensor.copy_(torch.randn(tensor.shape, generator=rng, dtype=tensor.dtype))
        block.norm.running_var.abs_().add_(0.1)
    return block


def features(graph, k, seed=0):
    """D numbers for each node or pair of a graph, which are permuted along with it."""
    table = torch.randn(5, D, generator=torch.Generator().manual_seed(seed), dtype=graph.B.dtype)
    nodes = torch.cat([graph.B[..., None], graph.V], -1) @ table[: 1 + graph.V.shape[-1]]
    return (
        nodes if k == 1 else torch.cat([graph.A[..., None], graph.E], -1) @ table + nodes[:, :, None] * nodes[:, None]
    )


def plain_linear(block, x, B):
    linear = block.linear
    y = linear(x, B)
    return y @ block.mix


def existing(graph, l):
    B = graph.B > 0
    return B if l == 1 else B[:, :, None] & B[:, None]


def existing_only(f, k, l):
    """What a block says of existing slots: what it says of empty ones is nobody's business."""
    return torch.no_grad()(lambda graph: f(features(graph, k), graph.B) * existing(graph, l)[..., None])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("k", "l"), ORDERS)
@few
@given(seed=SEEDS, n=st.integers(2, 6))
def test_training_block_equals_the_plain_one(k, l, directed, seed, n):
    graph = random_graph(n=n, num_graphs=3, seed=seed).to(torch.float64)
    there = existing(graph, l)
    if int(there.sum()) < 2:
        return
    block = random_block(k, l, directed, seed)
    before = block.norm.running_mean.clone(), block.norm.running_var.clone()
    x = features(graph, k).requires_grad_()
    rows = plain_linear(block, x, graph.B)[there]
    expected = functional.batch_norm(rows, None, None, block.norm.scale, block.norm.shift, training=True).relu()
    found = block(x, graph.B)[there]
    torch.testing.assert_close(found, expected)

    wanted = [x, block.linear.weight, block.linear.bias, block.mix, block.norm.scale, block.norm.shift]
    pull = torch.randn(rows.shape, generator=torch.Generator().manual_seed(seed), dtype=rows.dtype)
    for gradient, plain in zip(
        torch.autograd.grad((found * pull).sum(), wanted),
        torch.autograd.grad((expected * pull).sum(), wanted),
        strict=True,
    ):
        torch.testing.assert_close(gradient, plain, atol=1e-8, rtol=1e-6)

    # The constant is left out of the statistics, too: it would be subtracted again.
    offset = block.linear.bias[0] @ block.mix
    torch.testing.assert_close(block.norm.running_mean, 0.9 * before[0] + 0.1 * (rows.mean(0) - offset))
    torch.testing.assert_close(block.norm.running_var, 0.9 * before[1] + 0.1 * rows.var(0, correction=0))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("k", "l"), ORDERS)
@few
@given(seed=SEEDS, n=st.integers(1, 6), relaxed=st.booleans())
def test_eval_block_equals_the_plain_one(k, l, directed, seed, n, relaxed):
    graph = random_graph(n=n, num_graphs=3, seed=seed, relaxed=relaxed).to(torch.float64)
    block = random_block(k, l, directed, seed).eval()
    norm = block.norm
    y = plain_linear(block, features(graph, k), graph.B) - block.linear.bias[0] @ block.mix
    expected = (norm.scale * (y - norm.running_mean) / (norm.running_var + norm.eps).sqrt() + norm.shift).relu()
    torch.testing.assert_close(block(features(graph, k), graph.B), expected)


def test_eval_continues_what_training_did():
    """Once statistics have settled, one batch gives the same in both modes, whatever the biases are."""
    graph = random_graph(n=6, num_graphs=4, seed=1).to(torch.float64)
    block, there = random_block(2, 2, False, 2), existing(graph, 2)
    for _ in range(200):
        trained = block(features(graph, 2), graph.B)
    torch.testing.assert_close(block.eval()(features(graph, 2), graph.B)[there], trained[there], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(("k", "l"), ORDERS)
@few
@given(seed=SEEDS, n=st.integers(2, 6))
def test_blocks_obey_the_laws(k, l, train, seed, n):
    graph = random_graph(n=n, num_graphs=3, seed=seed).to(torch.float64)
    f = existing_only(random_block(k, l, False, seed).train(train), k, l)
    assert_equivariant(f, graph, seed=seed)
    assert_padding_free(f, graph)


def test_statistics_that_count_empty_slots_are_seen():
    """The law catches the fault it is there for: a normalization over all slots."""
    graph = random_graph(n=5, num_graphs=3, seed=1).to(torch.float64)
    block = random_block(1, 1, False, 1)

    def careless(x, B):
        return block.norm.normalize_relu(plain_linear(block, x, B), torch.ones_like(B))

    with pytest.raises(AssertionError, match="depends on padding"):
        assert_padding_free(existing_only(careless, 1, 1), graph)


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4, 4, 3)])
def test_gradients_of_the_normalization_are_right(shape, relu):
    rng = torch.Generator().manual_seed(0)
    norm = MaskedBatchNorm(3).double()
    x = torch.randn(shape, generator=rng, dtype=torch.float64, requires_grad=True)
    B = torch.tensor([[1.0, 1, 0, 1], [1, 0.5, 1, 0]], dtype=torch.float64)
    apply = norm.normalize_relu if relu else norm
    assert torch.autograd.gradcheck(lambda x, *_: apply(x, B), (x, norm.scale, norm.shift))


def test_a_batch_without_nodes_is_finite():
    norm = MaskedBatchNorm(3)
    assert bool(norm(torch.ones(2, 4, 3), torch.zeros(2, 4)).isfinite().all())
    assert bool(norm.running_mean.isfinite().all())


@pytest.mark.parametrize(("k", "l"), ORDERS)
def test_gradients_reach_every_weight(k, l):
    graph = random_graph(n=6, num_graphs=8, seed=4).to(torch.float64)
    block = random_block(k, l, True, 5)
    with torch.no_grad():
        block.norm.shift.fill_(9)  # no channel is cut off by the ReLU
    block(features(graph, k), graph.B).square().mul(existing(graph, l)[..., None]).sum().backward()
    for name, parameter in block.named_parameters():
        reached = parameter.grad[1:] if name == "linear.bias" else parameter.grad
        assert bool((reached != 0).all()), name


@pytest.mark.parametrize(("k", "l"), ORDERS)
def test_new_layers_keep_the_scale_and_follow_the_generator(k, l):
    shape = (4, *[12] * k, 32)
    x, B = torch.randn(shape, generator=torch.Generator().manual_seed(0)), torch.ones(4, 12)
    layer, twin = EquivariantLinear(k, l, 32, 32), EquivariantLinear(k, l, 32, 32)
    assert bool(layer.weight.isfinite().all())
    assert not torch.equal(layer.weight, twin.weight)
    for module in (layer, twin):
        reset_parameters(module, torch.Generator().manual_seed(7))
    assert torch.equal(layer.weight, twin.weight)
    assert 0.1 < float(layer(x, B).detach().std()) < 3


def test_resetting_forgets_statistics():
    norm = MaskedBatchNorm(2)
    norm(torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0)), torch.ones(3, 4))
    reset_parameters(norm, torch.Generator())
    assert norm.running_mean.tolist() == [0, 0]
    assert norm.running_var.tolist() == [1, 1]


@few
@given(seed=SEEDS, n=st.integers(0, 5))
def test_readout_is_the_maximum_over_existing_nodes(seed, n):
    graph = random_graph(n=n, num_graphs=3, seed=seed)
    x = torch.rand(3, n, 4, generator=torch.Generator().manual_seed(seed))
    found = InvariantReadout()(x, graph.B)
    for k in range(3):
        rows = x[k][graph.B[k] > 0]
        expected = rows.amax(0) if len(rows) else torch.zeros(4)
        assert torch.equal(found[k], expected)


def test_normalization_that_does_not_train_subtracts_the_mean_it_has_seen():
    norm = MaskedBatchNorm(3).eval()
    with torch.no_grad():
        norm.running_mean.copy_(torch.tensor([1.0, -2.0, 0.5]))
        norm.running_var.copy_(torch.tensor([4.0, 1.0, 9.0]))
        norm.shift.copy_(torch.tensor([0.1, 0.2, 0.3]))
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    expected = functional.batch_norm(x.flatten(0, 1), norm.running_mean, norm.running_var, norm.scale, norm.shift)
    torch.testing.assert_close(norm(x, torch.ones(2, 4)).flatten(0, 1), expected)
