"""Every linear map between node and pair features that commutes with relabelling nodes (Maron et al., 2019).

There are b(k + l) of them from order k to order l, b being the Bell numbers (paper, section 2.2): 2 from nodes to
nodes, 5 between nodes and pairs, 15 from pairs to pairs, 1 and 2 to invariants. Each function applies a weighted sum of
them in broadcast form: pair features are multiplied by one weight matrix (two if edges have a direction), everything
else happens on node-sized tensors.

`B` weighs the slots in every sum, so empty slots change nothing; sums are means over existing nodes, or large graphs
would saturate the next layer. `weight` is `maps d e`: one d x e matrix for each map, in the order of the docstring.
With `directed=False` the functions expect symmetric pairs and return the symmetric part of the directed result.

`packed` has the fast twins of `one_to_two`, `two_to_one` and `two_to_two` for undirected graphs, which compute the same
from pairs stored once. Networks on undirected graphs run those; `tests/nn/test_packed.py` holds the two equal.
"""

import torch
from jaxtyping import Float
from torch import Tensor

Exists = Float[Tensor, "b n"]
"""B: how far each slot exists, 0 or 1 in hard graphs, between them in relaxed ones."""

Biases = Float[Tensor, "2 e"] | None
"""A constant for all pairs, and one more for the diagonal."""

NUM_MAPS = {(1, 1): 2, (1, 2): 5, (2, 1): 5, (2, 2): 15, (1, 0): 1, (2, 0): 2}
"""Number of maps from order k to order l, keyed (k, l): the Bell number of k + l."""


def one_to_one(x: Float[Tensor, "b n d"], B: Exists, weight: Float[Tensor, "2 d e"]) -> Float[Tensor, "b n e"]:
    """Maps: x_i; the mean of x."""
    return x @ weight[0] + (node_mean(x, B) @ weight[1])[:, None]


def one_to_two(
    x: Float[Tensor, "b n d"], B: Exists, weight: Float[Tensor, "5 d e"], directed: bool = True, bias: Biases = None
) -> Float[Tensor, "b n n e"]:
    """Maps to the pair (i, j): x_i; x_j; the mean of x; and on the diagonal alone x_i; the mean of x."""
    mean = node_mean(x, B)
    if directed:
        row, column = x @ weight[0], x @ weight[1]
    else:
        row = column = x @ ((weight[0] + weight[1]) / 2)
    constant, at_diagonal = mean @ weight[2], mean @ weight[4]
    if bias is not None:
        constant, at_diagonal = constant + bias[0], at_diagonal + bias[1]
    pairs = (row + constant[:, None])[:, :, None] + column[:, None, :]
    return add_diagonal(pairs, x @ weight[3] + at_diagonal[:, None])


def two_to_one(
    X: Float[Tensor, "b n n d"], B: Exists, weight: Float[Tensor, "5 d e"], directed: bool = True
) -> Float[Tensor, "b n e"]:
    """Maps to the node i: X_ii; the mean of row i; of column i; of all pairs; of the diagonal."""
    diagonal, row, column = _pools(X, B, directed)
    spread = node_mean(row, B) @ weight[3] + node_mean(diagonal, B) @ weight[4]
    if directed:
        nodes = diagonal @ weight[0] + row @ weight[1] + column @ weight[2]
    else:
        nodes = diagonal @ weight[0] + row @ (weight[1] + weight[2])
    return nodes + spread[:, None]


def two_to_two(
    X: Float[Tensor, "b n n d"], B: Exists, weight: Float[Tensor, "15 d e"], directed: bool = True, bias: Biases = None
) -> Float[Tensor, "b n n e"]:
    """Maps to the pair (i, j), the paper's b(4) = 15:

    0, 1: X_ij, X_ji; 2-4: diagonal, row and column mean of i; 5-7: the same of j; 8, 9: mean of all pairs and of the
    diagonal; 10-14, on the diagonal alone: diagonal, row and column mean of i, mean of all pairs and of the diagonal.
    """
    diagonal, row, column = _pools(X, B, directed)
    everything = torch.cat([node_mean(row, B), node_mean(diagonal, B)], -1)  # b 2d
    if directed:
        pools = torch.cat([diagonal, row, column], -1)  # b n 3d
        pairs = X @ weight[0] + (X @ weight[1]).transpose(1, 2)
        of_i, of_j, on_diagonal = weight[2:5], weight[5:8], weight[10:13]
    else:
        pools = torch.cat([diagonal, row], -1)  # b n 2d
        pairs = X @ (weight[0] + weight[1])
        both = (weight[2:5] + weight[5:8]) / 2
        of_i = of_j = torch.stack([both[0], both[1] + both[2]])
        on_diagonal = torch.stack([weight[10], weight[11] + weight[12]])
    constant, at_diagonal = everything @ weight[8:10].flatten(0, 1), everything @ weight[13:15].flatten(0, 1)
    if bias is not None:
        constant, at_diagonal = constant + bias[0], at_diagonal + bias[1]
    at_i = pools @ of_i.flatten(0, 1) + constant[:, None]
    at_j = pools @ of_j.flatten(0, 1)
    pairs = pairs.add_(at_i[:, :, None]).add_(at_j[:, None, :])
    return add_diagonal(pairs, pools @ on_diagonal.flatten(0, 1) + at_diagonal[:, None])


def one_to_zero(x: Float[Tensor, "b n d"], B: Exists, weight: Float[Tensor, "1 d e"]) -> Float[Tensor, "b e"]:
    """Map: the mean of x."""
    return node_mean(x, B) @ weight[0]


def two_to_zero(
    X: Float[Tensor, "b n n d"], B: Exists, weight: Float[Tensor, "2 d e"], directed: bool = True
) -> Float[Tensor, "b e"]:
    """Maps: the mean of all pairs; of the diagonal."""
    diagonal, row, _ = _pools(X, B, directed)
    return node_mean(row, B) @ weight[0] + node_mean(diagonal, B) @ weight[1]


def node_mean(x: Float[Tensor, "b n d"], B: Exists) -> Float[Tensor, "b d"]:
    """Mean over existing nodes; zero for an empty graph."""
    return (share(B)[:, None, :] @ x)[:, 0]


def share(B: Exists) -> Float[Tensor, "b n"]:
    """Weight of each slot in a mean, B_i / sum B; the sum counts as at least 1, so that empty graphs have mean zero."""
    return B / B.sum(1, keepdim=True).clamp(min=1)


def add_diagonal(pairs: Float[Tensor, "b n n e"], nodes: Float[Tensor, "b n e"]) -> Float[Tensor, "b n n e"]:
    """Add `nodes` on the diagonal of `pairs`, in place: call it only on results that nobody else holds."""
    return _AddDiagonal.apply(pairs, nodes)  # pyright: ignore[reportReturnType]


def _pools(X: Tensor, B: Tensor, directed: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Diagonal, row means and column means over existing nodes."""
    return _Pool.apply(X, share(B), directed)  # pyright: ignore[reportReturnType]


class _Pool(torch.autograd.Function):
    """Diagonal, row means and (if directed) column means, whose gradient is one dense tensor and not three."""

    @staticmethod
    def forward(ctx, X: Tensor, share: Tensor, directed: bool) -> tuple[Tensor, Tensor, Tensor]:
        b, n, _, d = X.shape
        ctx.save_for_backward(X if ctx.needs_input_grad[1] else X[:0], share)
        ctx.directed = directed
        column = (share[:, None, :] @ X.reshape(b, n, n * d)).view(b, n, d)
        row = torch.einsum("bj,bijd->bid", share, X) if directed else column
        return X.diagonal(dim1=1, dim2=2).transpose(1, 2).contiguous(), row, column.clone() if not directed else column

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        diagonal, row, column = grads
        X, share = ctx.saved_tensors
        if not ctx.directed:  # row and column are the same numbers, read from columns
            row, column = torch.zeros_like(row[:, :1]), row + column
        grad_X = grad_share = None
        if ctx.needs_input_grad[0]:
            grad_X = share[:, :, None, None] * column[:, None]
            if ctx.directed:
                grad_X = grad_X + share[:, None, :, None] * row[:, :, None]
            grad_X.diagonal(dim1=1, dim2=2).add_(diagonal.transpose(1, 2))
        if ctx.needs_input_grad[1]:
            b, n = share.shape
            grad_share = (X.reshape(b, n, -1) @ column.reshape(b, -1, 1))[..., 0]
            if ctx.directed:
                grad_share = grad_share + (X * row[:, :, None]).sum((1, 3))
        return grad_X, grad_share, None


class _AddDiagonal(torch.autograd.Function):
    # Autograd's own in-place diagonal copies the whole gradient; this passes it on untouched.
    @staticmethod
    def forward(ctx, pairs: Tensor, nodes: Tensor) -> Tensor:
        ctx.mark_dirty(pairs)
        pairs.diagonal(dim1=1, dim2=2).add_(nodes.transpose(1, 2))
        return pairs

    @staticmethod
    def backward(ctx, *grads: Tensor) -> tuple[Tensor, Tensor]:
        (grad,) = grads
        return grad, grad.diagonal(dim1=1, dim2=2).transpose(1, 2)
