"""The fast twin of `basis` for undirected graphs: the same maps on pairs stored once, in half the space.

`one_to_two`, `two_to_one` and `two_to_two` compute what the functions of these names in `basis` compute with
`directed=False`, and take the same weights; networks on undirected graphs run these. Read `basis` for the maps, and
this file for the speed; `tests/nn/test_packed.py` holds the two equal, gradients included.

The pair {i, i + k mod n} stands at (k, i), k = 0 .. n // 2, channels before both: `b d k n`. So the diagonal is the
slice k = 0, features of node i are broadcast along k, and features of the other end are the same row of numbers shifted
by k: nothing is gathered. If n is even, the pairs of the last k are stored twice, with equal numbers.
"""

from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .basis import Exists, share

Packed = Float[Tensor, "b d k n"]
"""Symmetric pair features, each pair once."""


def one_to_two(
    x: Float[Tensor, "b n d"],
    B: Exists,
    weight: Float[Tensor, "5 d e"],
    bias: Float[Tensor, "2 e"],
    relu: bool = False,
) -> Float[Tensor, "b e k n"]:
    """Maps to the pair {i, j}: those of `basis.one_to_two`; then ReLU if asked."""
    mean = share(B)[:, None] @ x  # b 1 d
    # Each pair has two ends, so each brings half of what is the same everywhere.
    ends = x @ ((weight[0] + weight[1]) / 2) + (mean @ weight[2] + bias[0]) / 2
    diagonal = x @ weight[3] + (mean @ weight[4] + bias[1])
    return _Mix.apply(None, None, ends.mT.contiguous(), diagonal.mT, relu)  # pyright: ignore[reportReturnType]


def two_to_one(X: Packed, B: Exists, weight: Float[Tensor, "5 d e"]) -> Float[Tensor, "b n e"]:
    """Maps to the node i: those of `basis.two_to_one`."""
    _, diagonal, row = _pools(X, B)
    of_nodes = torch.cat([diagonal, row], 1).transpose(1, 2)  # b n 2d
    of_all = share(B)[:, None] @ of_nodes  # b 1 2d
    own, spread = torch.cat([weight[0], weight[1] + weight[2]]), torch.cat([weight[4], weight[3]])
    return of_nodes @ own + of_all @ spread


def two_to_two(
    X: Packed, B: Exists, weight: Float[Tensor, "15 d e"], bias: Float[Tensor, "2 e"], relu: bool = False
) -> Float[Tensor, "b e k n"]:
    """Maps to the pair {i, j}: the 15 of `basis.two_to_two`; then ReLU if asked."""
    X, diagonal, row = _pools(X, B)
    of_nodes = torch.cat([diagonal, row], 1)  # b 2d n
    of_all = (share(B)[:, None] @ of_nodes.mT).mT  # b 2d 1
    both = (weight[2:5] + weight[5:8]) / 2
    to_ends, to_diagonal = torch.cat([both[0], both[1] + both[2]]), torch.cat([weight[10], weight[11] + weight[12]])
    everywhere, on_diagonal = torch.cat([weight[9], weight[8]]) / 2, torch.cat([weight[14], weight[13]])
    own = _times(torch.cat([to_ends, to_diagonal], 1), of_nodes)  # b 2e n
    common = _times(torch.cat([everywhere, on_diagonal], 1), of_all) + torch.cat([bias[0] / 2, bias[1]])[:, None]
    ends, diagonal = (own + common).chunk(2, 1)
    return _Mix.apply(X, weight[0] + weight[1], ends, diagonal, relu)  # pyright: ignore[reportReturnType]


def pack(X: Float[Tensor, "b n n d"]) -> Packed:
    """Store symmetric pairs once each."""
    return _Pack.apply(X.permute(0, 3, 1, 2))  # pyright: ignore[reportReturnType]


def unpack(P: Packed) -> Float[Tensor, "b n n d"]:
    """Return pairs in both directions; of a pair that is stored twice, the copy at the smaller i counts."""
    return _Unpack.apply(P).permute(0, 2, 3, 1)  # pyright: ignore


def take(P: Packed, at: tuple[Int[Tensor, " m"], Int[Tensor, " m"], Int[Tensor, " m"]]) -> Float[Tensor, "m d"]:
    """Features of the pairs `at`: numbers of graphs, nodes i, nodes j."""
    graph, i, j = at
    n = P.shape[-1]
    return P.flatten(2)[graph, :, _unpack_index(n)[i * n + j]]


def both_exist(B: Exists) -> Float[Tensor, "b k n"]:
    """Existence of each pair, B_i B_j."""
    return B[:, None] * _other_ends(B[:, None])[:, 0]


def pair_weights(B: Exists) -> Float[Tensor, "b k n"]:
    """Weight of each stored pair in a sum over all ordered pairs of existing nodes: B_i B_j, twice off the diagonal."""
    count = 2 * _end_count(B.shape[1]).to(B)
    count[0] = 1.0
    return both_exist(B) * count


def _times(weight: Float[Tensor, "d e"], x: Float[Tensor, "b d n"]) -> Float[Tensor, "b e n"]:
    return torch.bmm(weight.T.expand(len(x), -1, -1), x)


def _pools(X: Packed, B: Exists) -> tuple[Packed, Float[Tensor, "b d n"], Float[Tensor, "b d n"]]:
    """X itself, its diagonal, and for each node the mean over pairs with existing nodes.

    A caller that needs X beside its pools takes it from here, and uses it once: gradients are summed in one place.
    """
    return _Pools.apply(X, share(B))  # pyright: ignore[reportReturnType]


class _Mix(torch.autograd.Function):
    """At each pair: X times weight, plus `ends` of both its nodes; plus `diagonal` at i = j; then ReLU if asked."""

    @staticmethod
    def forward(ctx, X: Tensor | None, weight: Tensor | None, ends: Tensor, diagonal: Tensor, relu: bool) -> Tensor:
        b, e, n = ends.shape
        k = n // 2 + 1
        mixed = torch.add(ends[:, :, None], _other_ends(ends), out=ends.new_empty(b, e, k, n))
        if X is not None and weight is not None:
            mixed.view(b, e, k * n).baddbmm_(weight.T.expand(b, -1, -1), X.reshape(b, -1, k * n))
        mixed[:, :, 0].add_(diagonal)
        if relu:
            mixed.relu_()
        ctx.save_for_backward(X if ctx.needs_input_grad[1] else None, weight, mixed if relu else None)
        return mixed

    @staticmethod
    def backward(ctx, *grads: Tensor):
        X, weight, mixed = ctx.saved_tensors
        b, e, k, n = grads[0].shape
        rows, grad = _padded(grads[0])
        if mixed is None:
            grad.copy_(grads[0])
        else:
            torch.ops.aten.threshold_backward(grads[0], mixed, 0, grad_input=grad)
        grad_X = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_X = torch.bmm(weight.expand(b, -1, -1), rows).view(b, -1, k, n + 1)[..., :n]
        if ctx.needs_input_grad[1]:
            flat = (grads[0] if mixed is None else grad).reshape(b, e, k * n)
            grad_weight = torch.bmm(X.reshape(b, -1, k * n), flat.mT).sum(0)
        return grad_X, grad_weight, grad.sum(2).add_(_shifted_sum(rows, n)), grad[:, :, 0], None


class _Pools(torch.autograd.Function):
    """X unchanged, its diagonal, and for each node the mean over its pairs."""

    @staticmethod
    def forward(ctx, X: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n = X.shape[3]
        here, there = _end_weights(share)
        row = X.new_empty(*X.shape[:2], n)
        for some in _slices(X):
            rows, weighted = _padded(X[some])
            torch.mul(X[some], here[some, None], out=weighted)
            weighted[:, :, 0].zero_()  # a node has one pair with itself
            torch.sum(X[some] * there[some, None], 2, out=row[some]).add_(_shifted_sum(rows, n))
        ctx.save_for_backward(X if ctx.needs_input_grad[1] else None, share)
        ctx.set_materialize_grads(False)
        return X.view_as(X), X[:, :, 0].clone(), row

    @staticmethod
    def backward(ctx, *grads: Any) -> tuple[Tensor | None, Tensor | None]:
        passed, diagonal, row = grads
        X, share = ctx.saved_tensors
        here, there = _end_weights(share)
        other = _other_ends(row)
        grad_X = grad_share = None
        if ctx.needs_input_grad[0]:
            # What comes back for X was computed for this call alone, so the rest is added in place.
            grad_X = there[:, None] * row[:, :, None] if passed is None else passed
            for some in _slices(grad_X):
                if passed is not None:
                    grad_X[some].addcmul_(there[some, None], row[some, :, None])
                grad_X[some, :, 1:].addcmul_(here[some, None, 1:], other[some, :, 1:])
            grad_X[:, :, 0].add_(diagonal)
        if ctx.needs_input_grad[1]:
            n = share.shape[1]
            count = _end_count(n).to(share)
            rows, to_there = _padded(X[:, :1])
            to_here = X.new_empty(len(X), *X.shape[2:])
            for some in _slices(X):
                torch.mul((X[some] * row[some, :, None]).sum(1, keepdim=True), count, out=to_there[some])
                torch.sum(X[some] * other[some], 1, out=to_here[some])
            grad_share = (to_here[:, 1:] * count[1:]).sum(1).add_(_shifted_sum(rows, n)[:, 0])
        return grad_X, grad_share


_CACHED = 2**19
"""Numbers that fit a processor's cache several times over."""


def _slices(X: Packed) -> list[slice]:
    """Parts of a batch, small enough that what is computed on the way to a sum never leaves the cache."""
    size = max(1, _CACHED // max(1, X[:1].numel()))
    return [slice(at, at + size) for at in range(0, len(X), size)]


class _Pack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X: Tensor) -> Tensor:
        b, d, n, _ = X.shape
        ctx.n = n
        return X.reshape(b * d, n * n).index_select(1, _pack_index(n).to(X.device)).view(b, d, -1, n)

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        (grad,) = grads
        b, d, k, n = grad.shape
        dense = grad.new_zeros(b * d, n * n)
        dense[:, _pack_index(n)] = grad.reshape(b * d, k * n)
        return dense.view(b, d, n, n)


class _Unpack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, P: Tensor) -> Tensor:
        b, d, k, n = P.shape
        return P.reshape(b * d, k * n).index_select(1, _unpack_index(n).to(P.device)).view(b, d, n, n)

    @staticmethod
    def backward(ctx, *grads: Tensor) -> Tensor:
        (grad,) = grads
        b, d, n, _ = grad.shape
        pairs = grad.reshape(b * d, n * n)
        there, back = (pairs.index_select(1, index(n).to(grad.device)) for index in (_pack_index, _pack_back_index))
        both = there.add_(back).view(b, d, -1, n)
        both[:, :, 0] /= 2
        if n % 2 == 0:
            both[:, :, -1, n // 2 :] = 0
        return both


def _other_ends(nodes: Float[Tensor, "b d n"]) -> Packed:
    """Features of node i + k at (k, i): overlapping views of one row of numbers."""
    b, d, n = nodes.shape
    twice = torch.cat([nodes, nodes], 2)
    return twice.as_strided((b, d, n // 2 + 1, n), (d * 2 * n, 2 * n, 1, 1))


def _padded(like: Packed) -> tuple[Float[Tensor, "b d m"], Packed]:
    """Allocate pairs with an empty column after each k; returns them as one row, and the view to fill."""
    b, d, k, n = like.shape
    rows = like.new_empty(b, d, k * (n + 1))
    pairs = rows.view(b, d, k, n + 1)
    pairs[..., n].zero_()
    return rows, pairs[..., :n]


def _shifted_sum(rows: Float[Tensor, "b d m"], n: int) -> Float[Tensor, "b d n"]:
    """Sum, for each node, over the pairs whose other end it is, from `_padded` rows: the transpose of `_other_ends`.

    Read with rows of n instead of n + 1, the pair (k, i) stands in column i + k; an index past the end continues at the
    start of the next row, which is the node i + k mod n.
    """
    b, d, m = rows.shape
    k = m // (n + 1)
    total = rows.as_strided((b, d, k, n), (d * m, m, n, 1)).sum(2)
    total[..., :k].add_(rows[..., k * n :])
    return total


def _end_weights(share: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k n"]]:
    """Weights of a pair in the mean of its other end and in that of its own end: the share of the opposite node."""
    count = _end_count(share.shape[1]).to(share)
    there = _other_ends(share[:, None])[:, 0]
    return share[:, None] * count, torch.mul(there, count, out=share.new_empty(there.shape))


@lru_cache(maxsize=256)
def _end_count(n: int) -> Float[Tensor, "k 1"]:
    """Weight of each k: 1, or a half where pairs are stored twice."""
    count = torch.ones(n // 2 + 1, 1)
    if n % 2 == 0:
        count[-1] = 0.5
    return count


@lru_cache(maxsize=256)
def _pack_index(n: int) -> Int[Tensor, " kn"]:
    """Positions of the stored pairs in a flat n x n matrix."""
    i, k = torch.arange(n), torch.arange(n // 2 + 1)[:, None]
    return (i * n + (i + k) % n).flatten()


@lru_cache(maxsize=256)
def _pack_back_index(n: int) -> Int[Tensor, " kn"]:
    """Positions of the stored pairs in a flat n x n matrix, seen from their other ends."""
    return torch.arange(n * n).view(n, n).T.flatten()[_pack_index(n)]


@lru_cache(maxsize=256)
def _unpack_index(n: int) -> Int[Tensor, " nn"]:
    """Position among the stored pairs of each entry of an n x n matrix."""
    i, j = torch.arange(n)[:, None], torch.arange(n)
    low, high = torch.minimum(i, j), torch.maximum(i, j)
    near = high - low <= n // 2  # otherwise the way around is shorter
    k = torch.where(near, high - low, n - (high - low))
    return (k * n + torch.where(near, low, high)).flatten()
