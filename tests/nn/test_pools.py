"""Pools of pairs: their gradients are those of what they compute, for each of the three and for all together."""

import pytest
import torch

from graphflip.nn.basis import _Pool


@pytest.mark.parametrize("directed", [True, False])
def test_gradients_of_pools_are_those_of_what_they_compute(directed):
    rng = torch.Generator().manual_seed(0)
    X = torch.randn(2, 4, 4, 3, generator=rng, dtype=torch.float64).requires_grad_()
    share = torch.rand(2, 4, generator=rng, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda X, share: _Pool.apply(X, share, directed), (X, share))
