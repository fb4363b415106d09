"""Log-probabilities of existence and attributes under the outputs of a decoder."""

import torch
from torch import Tensor, nn


def column_likelihood(parameters: Tensor, values: Tensor, slices: list, log_scales: Tensor) -> Tensor:
    """log p of attributes: categorical for groups, Gaussian for continuous columns, in units of their scale."""
    total = parameters.new_zeros(parameters.shape[:-1])
    continuous = iter(log_scales)
    for column, at in slices:
        if column.is_continuous:
            log_scale = next(continuous)
            error = (values[..., at.start] - parameters[..., at.start]) / column.scale / log_scale.exp()
            total = total - 0.5 * error**2 - log_scale - 0.9189385  # log sqrt(2 pi)
        else:
            total = total + (parameters[..., at].log_softmax(-1) * values[..., at]).sum(-1)
    return total


def bernoulli(logits: Tensor, values: Tensor) -> Tensor:
    """Log-probability of zeros and ones, from their log-odds."""
    return -nn.functional.binary_cross_entropy_with_logits(logits, values, reduction="none")


def off_diagonal(pairs: Tensor) -> Tensor:
    """Pairs (`b n n`) with zeros on the diagonal."""
    return pairs * (1 - torch.eye(pairs.shape[-1], device=pairs.device, dtype=pairs.dtype))
