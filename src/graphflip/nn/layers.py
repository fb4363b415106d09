"""The paper's building block: equivariant linear layer, 1x1 convolution, batch normalization, ReLU."""

from functools import partial
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from . import basis, packed
from .initialize import draw_normal

Order = Literal[1, 2]


class EquivariantLinear(nn.Module):
    """Equivariant linear map from order `k` to order `l` features (1: nodes, 2: pairs): b(k + l) basis maps and a bias.

    Order-2 results have two biases, one for all pairs and one more for the diagonal, as equivariance allows.
    """

    def __init__(self, k: Order, l: Order, d: int, e: int, directed: bool = False):
        super().__init__()
        self.k: Order = k
        self.l: Order = l
        self.directed = directed
        maps = basis.NUM_MAPS[k, l]
        self.weight = nn.Parameter(torch.empty(maps, d, e))
        self.bias = nn.Parameter(torch.empty(l, e))
        self.reset()

    def reset(self, rng: torch.Generator | None = None) -> None:
        """Draw weights anew so that outputs keep the scale of inputs."""
        maps, d, _ = self.weight.shape
        draw_normal(self.weight, (2.0 / (maps * d)) ** 0.5, rng)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, B: Float[Tensor, "b n"], pack: bool = False) -> Tensor:
        """Apply the maps; with `pack` (undirected graphs only), pairs are stored as in `packed`."""
        return apply_maps(self.k, self.l, x, B, self.weight, self.bias, self.directed, pack)


class EquivariantBlock(nn.Module):
    """The paper's module (section 2.2): equivariant linear layer, 1x1 convolution, batch normalization, ReLU.

    Everything before the ReLU is computed as one layer: while training, the layer and the convolution are one weight;
    in eval mode, where statistics are fixed, the normalization is folded in as well.
    Statistics count existing slots only.
    """

    def __init__(self, k: Order, l: Order, d: int, e: int, directed: bool = False):
        super().__init__()
        self.linear = EquivariantLinear(k, l, d, e, directed)
        self.mix = nn.Parameter(torch.empty(e, e))
        self.norm = MaskedBatchNorm(e)
        self.reset()

    def reset(self, rng: torch.Generator | None = None) -> None:
        self.linear.reset(rng)
        draw_normal(self.mix, self.mix.shape[0] ** -0.5, rng)
        self.norm.reset()

    def forward(self, x: Tensor, B: Float[Tensor, "b n"], pack: bool = False) -> Tensor:
        linear, mix = self.linear, self.mix
        # The layer's bias for all is left out: the normalization would subtract it again.
        for_all = torch.zeros_like(self.norm.shift)
        if not self.training:
            scale, for_all = self.norm.affine()
            mix = mix * scale
        bias = torch.cat([for_all[None], linear.bias[1:] @ mix])
        x = apply_maps(linear.k, linear.l, x, B, linear.weight @ mix, bias, linear.directed, pack, not self.training)
        return self.norm.normalize_relu(x, B, pack and linear.l == 2) if self.training else x


class MaskedBatchNorm(nn.Module):
    """Batch normalization over existing nodes, or over pairs of existing nodes."""

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, d: int, momentum: float = 0.1, eps: float = 1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.scale = nn.Parameter(torch.ones(d))
        self.shift = nn.Parameter(torch.zeros(d))
        self.register_buffer("running_mean", torch.zeros(d))
        self.register_buffer("running_var", torch.ones(d))

    def reset(self, rng: torch.Generator | None = None) -> None:
        """Reset to the identity, with no statistics."""
        for ones, zeros in ((self.scale, self.shift), (self.running_var, self.running_mean)):
            nn.init.ones_(ones)
            nn.init.zeros_(zeros)

    def affine(self) -> tuple[Float[Tensor, " d"], Float[Tensor, " d"]]:
        """Factor and offset that normalization amounts to in eval mode."""
        factor = self.scale * torch.rsqrt(self.running_var + self.eps)
        return factor, self.shift - self.running_mean * factor

    def forward(self, x: Tensor, B: Float[Tensor, "b n"]) -> Tensor:
        if not self.training:
            factor, offset = self.affine()
            return x * factor + offset
        return self._normalize(x, B, relu=False, pack=False)

    def normalize_relu(self, x: Tensor, B: Float[Tensor, "b n"], pack: bool = False) -> Tensor:
        """Normalize with the statistics of this batch, then ReLU; remembers a running mean of the statistics."""
        return self._normalize(x, B, relu=True, pack=pack)

    def _normalize(self, x: Tensor, B: Tensor, relu: bool, pack: bool) -> Tensor:
        B = B.detach()
        if pack:
            shape, weight = (*x.shape[:2], -1), packed.pair_weights(B)
        else:
            shape, weight = (-1, x.shape[-1], 1), B[:, :, None] * B[:, None, :] if x.ndim == 4 else B
        rows = x.reshape(shape)  # g d m: channels in the middle
        weight = weight.reshape(rows.shape[0], -1)
        normalized, mean, var = _NormalizeReLU.apply(rows, weight, self.scale, self.shift, self.eps, relu)  # pyright: ignore
        self.running_mean.lerp_(mean.detach(), self.momentum)
        self.running_var.lerp_(var.detach(), self.momentum)
        return normalized.view(x.shape)


class _NormalizeReLU(torch.autograd.Function):
    """Weighted batch normalization of `g d m` and ReLU that keep two tensors: the input and the result."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, scale: Tensor, shift: Tensor, eps: float, relu: bool):
        share = weight / weight.sum().clamp(min=1)
        mean = _weighted_sum(x, share)
        var = _weighted_sum((x - mean[:, None]).square_(), share)
        inverse = torch.rsqrt(var + eps)
        factor = scale * inverse
        normalized = torch.addcmul((shift - mean * factor)[:, None], x, factor[:, None])
        if relu:
            normalized.relu_()
        ctx.save_for_backward(x, normalized if relu else scale, share, mean, inverse, factor)
        ctx.relu = relu
        ctx.mark_non_differentiable(mean, var)
        return normalized, mean, var

    @staticmethod
    def backward(ctx, *grads: Tensor):
        x, normalized, share, mean, inverse, factor = ctx.saved_tensors
        grad = torch.ops.aten.threshold_backward(grads[0], normalized, 0) if ctx.relu else grads[0].clone()
        grad_shift = grad.sum((0, 2))
        grad_scale = ((grad * x).sum((0, 2)) - mean * grad_shift) * inverse
        # The statistics are weighted means, so their share of the gradient comes back with the same weights.
        slope = grad_scale * inverse
        through_statistics = torch.addcmul((grad_shift - mean * slope)[:, None], x, slope[:, None])
        grad_x = grad.addcmul_(through_statistics, share[:, None], value=-1).mul_(factor[:, None])
        return grad_x, None, grad_scale, grad_shift, None, None


def _weighted_sum(x: Float[Tensor, "g d m"], weight: Float[Tensor, "g m"]) -> Float[Tensor, " d"]:
    if x.shape[2] == 1:
        return weight[:, 0] @ x[..., 0]
    return torch.bmm(weight[:, None], x.mT).sum(0)[
        0
    ]  # weights first: the product the other way takes ten times as long


def apply_maps(
    k: Order,
    l: Order,
    x: Tensor,
    B: Float[Tensor, "b n"],
    weight: Tensor,
    bias: Float[Tensor, "l e"],
    directed: bool,
    pack: bool = False,
    relu: bool = False,
) -> Tensor:
    """Weighted sum of the basis maps of order (k, l) plus bias (for all; for the diagonal), then ReLU if asked."""
    if pack and l == 2:
        return (packed.one_to_two if k == 1 else packed.two_to_two)(x, B, weight, bias, relu)
    if l == 1:
        maps = (
            basis.one_to_one if k == 1 else packed.two_to_one if pack else partial(basis.two_to_one, directed=directed)
        )
        out = maps(x, B, weight) + bias[0]
    else:
        # A constant is what the basis maps a constant node feature to: it rides on node-sized tensors for free.
        maps = basis.one_to_two if k == 1 else basis.two_to_two
        out = maps(x, B, weight, directed, bias)
    return out.relu_() if relu else out


def append_edges(X: Tensor, A: Float[Tensor, "b n n"], E: Float[Tensor, "b n n de"], pack: bool) -> Tensor:
    """Pair features with A and E as further channels."""
    edges = torch.cat([A[..., None], E], -1)
    return torch.cat([X, packed.pack(edges)], 1) if pack else torch.cat([X, edges], -1)


class InvariantReadout(nn.Module):
    """Max-pooling over existing nodes; its result is the paper's graph embedding."""

    def forward(self, x: Float[Tensor, "b n d"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b d"]:
        """Pool features x >= 0 (after a ReLU), so that an empty slot, weighed with zero, never wins."""
        return (x * B[..., None]).amax(1) if x.shape[1] else x.new_zeros(x.shape[0], x.shape[2])


class QuietLinear(nn.Linear):
    """A linear layer that starts as a constant, so that training starts from a prediction that ignores the input."""

    def __init__(self, d: int, e: int, start: float = 0.0):
        super().__init__(d, e)
        self.start = start

    def reset(self, rng: torch.Generator) -> None:
        nn.init.zeros_(self.weight)
        nn.init.constant_(self.bias, self.start)
