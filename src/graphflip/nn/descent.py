"""Steps of gradient descent on plain tensors with one row for each graph, so that a finished graph can leave."""

import torch
from torch import Tensor


class Descent:
    """Plain gradient descent, the update as printed in the paper (its Eq. 5): the step is rate * gradient."""

    def __init__(self, rate: float):
        self.rate = rate

    def keep(self, rows: Tensor) -> None:
        """Forget all rows but these; plain descent remembers nothing."""

    def step(self, gradient: Tensor) -> Tensor:
        """Step to subtract from the current point (or to add, to climb)."""
        return self.rate * gradient


class Adam:
    """Adam (Kingma and Ba, 2015), the optimizer of the paper's experiments. With b1, b2 = betas, at step t

        m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,
        step = rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).

    `lerp` computes the same with the running means as m + (1 - b1) (g - m). The two differ in the last digit only; who
    uses which is fixed, so that answers stay reproducible to the bit.
    """

    def __init__(
        self,
        like: Tensor,
        rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        lerp: bool = False,
    ):
        self.rate, self.betas, self.eps, self.lerp = rate, betas, eps, lerp
        self.mean, self.square, self.turn = torch.zeros_like(like), torch.zeros_like(like), 0

    def keep(self, rows: Tensor) -> None:
        """Forget the momentum of all rows but these."""
        self.mean, self.square = self.mean[rows], self.square[rows]

    def step(self, gradient: Tensor) -> Tensor:
        """Step to subtract from the current point (or to add, to climb)."""
        self.turn += 1
        self.mean = self._running(self.mean, gradient, self.betas[0])
        self.square = self._running(self.square, gradient**2, self.betas[1])
        grown, spread = (1 - beta**self.turn for beta in self.betas)
        scale = (self.square / spread).sqrt() + self.eps
        return self.rate * self.mean / grown / scale if self.lerp else self.rate * (self.mean / grown) / scale

    def _running(self, mean: Tensor, latest: Tensor, beta: float) -> Tensor:
        return mean.lerp(latest, 1 - beta) if self.lerp else beta * mean + (1 - beta) * latest
