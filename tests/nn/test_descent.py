"""Steps of descent: the printed update, and Adam as torch has it."""

import pytest
import torch
from torch import nn

from graphflip.nn.descent import Adam, Descent


def gradients(count=6):
    return [torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(k)) for k in range(count)]


@pytest.mark.parametrize("lerp", [True, False])
@pytest.mark.parametrize(("betas", "eps"), [((0.9, 0.999), 1e-8), ((0.9, 0.99), 1e-4)])
def test_adam_is_torch_adam(lerp, betas, eps):
    z = torch.zeros(4, 3, 2)
    theirs = nn.Parameter(z.clone())
    ours, optimizer = Adam(z, 0.05, betas, eps, lerp), torch.optim.Adam([theirs], lr=0.05, betas=betas, eps=eps)
    for gradient in gradients():
        theirs.grad = gradient
        optimizer.step()
        z = z - ours.step(gradient)
    torch.testing.assert_close(z, theirs.detach())


def test_the_momentum_of_rows_that_stay_is_kept_and_that_of_the_others_is_gone():
    rows = torch.tensor([True, False, True, True])
    all_of_them, some = Adam(torch.zeros(4, 3, 2), 0.05), Adam(torch.zeros(4, 3, 2), 0.05)
    for turn, gradient in enumerate(gradients()):
        if turn == 3:
            some.keep(rows)
        step = all_of_them.step(gradient)
        assert torch.equal(some.step(gradient[rows] if turn >= 3 else gradient), step[rows] if turn >= 3 else step)
    assert len(some.mean) == len(some.square) == 3


def test_plain_descent_is_rate_times_gradient():
    (gradient,) = gradients(1)
    descent = Descent(0.3)
    descent.keep(torch.arange(4))
    assert torch.equal(descent.step(gradient), 0.3 * gradient)
