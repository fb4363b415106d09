"""Message passing on dense, possibly relaxed graphs: the layers of the stronger models."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..coloring.refinement import Links
from ..errors import ConfigError
from ..graph import Graph
from .layers import MaskedBatchNorm
from .sharing import shared


def relations(graph: Graph) -> Float[Tensor, "b r n n"]:
    """One weighted adjacency matrix per kind of edge: existence, each edge column, and their transposes if directed.

    Without gradients they are kept, so that several models share them.
    """
    return shared(graph, "relations", _relations)


def _relations(graph: Graph) -> Float[Tensor, "b r n n"]:
    parts = [graph.A[..., None], graph.E]
    if graph.schema.directed:
        parts += [part.transpose(1, 2) for part in parts]
    return torch.cat(parts, -1).permute(0, 3, 1, 2)  # stored pair by pair, as layers read them


def num_relations(graph_columns: int, directed: bool) -> int:
    """Number of matrices `relations` gives for a schema with this many edge columns."""
    return (graph_columns + 1) * (2 if directed else 1)


class RelationalLayer(nn.Module):
    """h_i + MLP(h_i W_0 + sum over relations r and neighbors j of R_r[i, j] h_j W_r), normalized over nodes.

    With `average` the sum is divided by the number of neighbors: what counts is what they are, not how many. `dropout`
    is the share of inner units dropped while training.
    """

    def __init__(self, d: int, num_relations: int, average: bool = False, dropout: float = 0.0):
        super().__init__()
        self.average, self.dropout = average, dropout
        self.message = nn.Linear(d, d * (num_relations + 1), bias=False)
        self.inner, self.outer = MaskedBatchNorm(d), MaskedBatchNorm(d)
        self.update = nn.Linear(d, d, bias=False)
        self._kept: tuple[list[tuple[int, int]], _Folded] | None = None

    def forward(self, h: Float[Tensor, "b n d"], R: Float[Tensor, "b r n n"], B: Float[Tensor, "b n"]) -> Tensor:
        b, n, d = h.shape
        if self.average:  # a relaxed edge is a neighbor by its probability
            R = R / R[:, :1].sum(-1, keepdim=True).clamp(min=1.0)
        wide = R.permute(0, 2, 3, 1).reshape(b, n, -1)  # row i: node by node, relation by relation
        if self.training:
            own, sent = self.message.weight[:d], self.message.weight[d:]
            messages = nn.functional.linear(h, sent).view(b, -1, d)
            received = torch.baddbmm(nn.functional.linear(h, own), wide, messages)
            inner = nn.functional.dropout(self.inner(received, B).relu(), self.dropout)
            updated = self.outer(self.update(inner), B).relu()
        else:
            folded = self._folded()
            messages = nn.functional.linear(h, folded.sent).view(b, -1, d)
            received = torch.baddbmm(nn.functional.linear(h, folded.own, folded.bias), wide, messages)
            if not torch.is_grad_enabled():
                updated = nn.functional.linear(received.relu_(), folded.update, folded.offset).relu_()
                return updated.add_(h).mul_(B[..., None])
            updated = nn.functional.linear(received.relu(), folded.update, folded.offset).relu()
        return (h + updated) * B[..., None]

    def of_colors(self, h: Float[Tensor, "u d"], kinds: Float[Tensor, "k r"], links: Links) -> Float[Tensor, "v d"]:
        """The same, not training, for nodes of hard graphs taken once for each color: h before, color by color.

        `kinds` are the relations of each kind of edge.
        """
        d, folded = h.shape[1], self._folded()
        per_kind = (kinds @ folded.sent.view(-1, d * d)).view(-1, d)  # k d d
        messages = nn.functional.linear(h, per_kind).view(-1, d)  # by color, then by kind of edge
        received = nn.functional.embedding_bag(
            links.senders, messages, links.starts, mode="mean" if self.average else "sum"
        )
        received = received + nn.functional.linear(h, folded.own, folded.bias).index_select(0, links.own)
        updated = nn.functional.linear(received.relu_(), folded.update, folded.offset).relu_()
        return updated.add_(h.index_select(0, links.own))

    def messages(self, h: Float[Tensor, "t d"]) -> Float[Tensor, "t r d"]:
        """Messages that each node sends along an edge of each relation, not training."""
        return nn.functional.linear(h, self._folded().sent).view(len(h), -1, h.shape[1])

    def of_links(
        self,
        h: Float[Tensor, "t d"],
        messages: Float[Tensor, "t r d"],
        own: Int[Tensor, " u"],
        senders: Int[Tensor, " links"],
        R: Float[Tensor, "links r"],
        to: Int[Tensor, " links"],
    ) -> Float[Tensor, "u d"]:
        """The same as `forward`, not training, for some nodes of undirected graphs that are given as lists.

        `own` is the row of h of each node; link k brings node `to[k]` messages of row `senders[k]`, weighed by R[k].
        """
        folded = self._folded()
        received = nn.functional.linear(h, folded.own, folded.bias)[own]
        sent = (messages[senders] * R[..., None]).sum(1)
        if self.average:
            degree = torch.bincount(to, minlength=len(own)).clamp(min=1).to(h)
            sent = sent / degree[to][:, None]
        received = received.index_add(0, to, sent)
        updated = nn.functional.linear(received.relu_(), folded.update, folded.offset).relu_()
        return updated.add_(h[own])

    def _folded(self) -> "_Folded":
        """Weights with the normalization in them, which is a factor and an offset when the layer does not train.

        Without gradients they are kept until a weight changes.
        """
        if torch.is_grad_enabled():
            return self._fold()
        # `parameters()` takes longer than the layer itself.
        owners = [own for part in self._modules.values() for own in (part._parameters, part._buffers)]  # pyright: ignore
        versions = [(id(each), each._version) for own in owners for each in own.values() if each is not None]
        if self._kept is None or self._kept[0] != versions:
            self._kept = versions, self._fold()
        return self._kept[1]

    def _fold(self) -> "_Folded":
        d = self.update.weight.shape[0]
        factor, bias = self.inner.affine()
        last, offset = self.outer.affine()
        own, sent = self.message.weight[:d] * factor[:, None], self.message.weight[d:].view(-1, d, d) * factor[:, None]
        return _Folded(own, sent.reshape(-1, d), bias, self.update.weight * last[:, None], offset)


class _Folded(NamedTuple):
    """Weights of a `RelationalLayer` that does not train."""

    own: Float[Tensor, "d d"]
    sent: Float[Tensor, "rd d"]
    bias: Float[Tensor, " d"]
    update: Float[Tensor, "d d"]
    offset: Float[Tensor, " d"]


class AttentionLayer(nn.Module):
    """Multi-head attention over neighbors and oneself; edges enter as a bias on the scores, existence as a weight."""

    def __init__(self, d: int, heads: int, num_relations: int):
        super().__init__()
        self.heads = _divisor(heads, d)
        self.project = nn.Linear(d, 3 * d, bias=False)
        self.edge_bias = nn.Linear(num_relations, heads, bias=False)
        self.merge = nn.Linear(d, d)
        self.expand, self.shrink = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.first, self.second = MaskedBatchNorm(d), MaskedBatchNorm(d)

    def forward(self, h: Float[Tensor, "b n d"], R: Float[Tensor, "b r n n"], B: Float[Tensor, "b n"]) -> Tensor:
        b, n, d = h.shape
        parts = self.project(h).view(b, n, 3, self.heads, d // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) * (d // self.heads) ** -0.5
        scores = scores + self.edge_bias(R.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        # A missing edge has weight zero in the softmax; a relaxed one counts by its probability.
        there = R[:, :1] + torch.eye(n, device=h.device, dtype=h.dtype)
        highest = scores.detach().masked_fill(there == 0, -torch.inf).amax(-1, keepdim=True)
        # Absent edges may score higher: they stay finite, for a gradient that says what adding them would do.
        weight = there * (scores - highest).clamp(max=30).exp()
        attention = weight / weight.sum(-1, keepdim=True).clamp(min=1e-9)
        mixed = (attention @ value).transpose(1, 2).reshape(b, n, d)
        h = self.first(h + self.merge(mixed), B)
        return self.second(h + self.shrink(self.expand(h).relu()), B) * B[..., None]


class ExchangeLayer(nn.Module):
    """Multi-head attention among all existing nodes, whether they share an edge or not."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.heads = _divisor(heads, d)
        self.project, self.merge = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.expand, self.shrink = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.first, self.second = MaskedBatchNorm(d), MaskedBatchNorm(d)

    def forward(self, h: Float[Tensor, "b n d"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n d"]:
        b, n, d = h.shape
        parts = self.project(h).view(b, n, 3, self.heads, d // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        # A relaxed node counts by its probability, an empty slot not at all.
        weight = torch.where(B > 0, B.clamp(min=1e-30).log(), -1e9)[:, None, None, :].expand(b, 1, n, n)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=weight)
        h = self.first(h + self.merge(mixed.transpose(1, 2).reshape(b, n, d)), B)
        return self.second(h + self.shrink(self.expand(h).relu()), B) * B[..., None]


def _divisor(heads: int, width: int) -> int:
    if width % heads:
        raise ConfigError(f"`width` must be a multiple of {heads}, the number of attention heads; got {width}.")
    return heads
