"""Encoder and decoder for faithful reconstruction: message passing, slot identities, and pair features with feedback.

An exactly equivariant code gives automorphic atoms (a benzene ring) the same numbers, so their bonds could not be told
apart. Here each slot carries an identity, random numbers and noise-perturbed Laplacian eigenvectors, that is permuted
along with the nodes: the encoder stays equivariant in the pair (graph, identity), and rings can be rebuilt.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...graph import Graph
from ...nn.basis import node_mean
from ...nn.layers import EquivariantBlock, MaskedBatchNorm, QuietLinear
from ...nn.messages import ExchangeLayer, RelationalLayer, num_relations, relations
from ...schema import Schema

NUM_RANDOM = 8
NUM_EIGENVECTORS = 16
# Large enough to part the eigenvectors of symmetric molecules, small enough to keep their shape.
_PERTURBATION = 0.1


class ModernEncoder(nn.Module):
    """Relational message passing over atoms, bonds and identities; a mean and a log variance for each slot."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        d, self.max_nodes = config.width, schema.max_nodes
        self.enter = nn.Linear(1 + schema.dv + NUM_RANDOM + NUM_EIGENVECTORS, d)
        kinds = num_relations(schema.de, schema.directed)
        self.layers = nn.ModuleList([RelationalLayer(d, kinds) for _ in range(config.depth)])
        self.join = nn.Linear(2 * d + 1, 2 * d)
        # With little noise in the code at first, the decoder learns to read it before it is compressed.
        self.mean, self.log_var = nn.Linear(2 * d, config.dz), QuietLinear(2 * d, config.dz, start=-4.0)

    def draw_identity(self, graph: Graph, rngs: Sequence[torch.Generator] | torch.Generator) -> Float[Tensor, "b n di"]:
        """Random numbers and perturbed eigenvectors for each slot; zero where slots are empty."""
        n, width = graph.num_slots, NUM_RANDOM + 1
        if isinstance(rngs, torch.Generator):
            noise = torch.randn(len(graph), n, width, generator=rngs)
        else:  # all N slots are drawn: what a graph gets must not depend on how far its batch is padded
            slots = self.max_nodes
            noise = torch.stack([torch.randn(slots, width, generator=rng)[:n] for rng in rngs])
        noise = noise.to(graph.B) * graph.B[..., None]
        return torch.cat([noise[..., 1:], eigenvectors(graph, noise[..., 0])], -1)

    def forward(self, graph: Graph, identity: Float[Tensor, "b n di"]) -> tuple[Tensor, Tensor]:
        B, R = graph.B, relations(graph)
        h = self.enter(torch.cat([B[..., None], graph.V, identity], -1)) * B[..., None]
        for layer in self.layers:
            h = layer(h, R, B)
        everyone = node_mean(h, B)[:, None].expand_as(h)
        h = self.join(torch.cat([h, everyone, B[..., None]], -1)).relu()
        return self.mean(h), self.log_var(h).clamp(-12, 8)


class ModernDecoder(nn.Module):
    """Nodes from their own code and the mean of all; edges from what attention among all nodes makes of the codes."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        self.directed = schema.directed
        d, dz, c = config.width, config.dz, config.pair_width
        self.nodes = nn.Sequential(nn.Linear(2 * dz, d), nn.ReLU(), nn.Linear(d, 1))
        self.values = nn.Sequential(nn.Linear(2 * dz, d), nn.ReLU(), _linear(d, schema.dv))
        self.enter = nn.Sequential(nn.Linear(2 * dz + schema.dv, d), nn.ReLU(), nn.Linear(d, d))
        self.exchange = nn.ModuleList([ExchangeLayer(d, 4) for _ in range(config.decoder_depth)])
        self.pairs = PairFeatures(d, c, self.directed)
        self.block = EquivariantBlock(2, 2, c, c, self.directed)
        self.edges_out = nn.Linear(c, 1)
        self.enter_types = nn.Sequential(nn.Linear(2 * dz + schema.dv, d), nn.ReLU(), nn.Linear(d, d))
        self.type_layers = nn.ModuleList([RelationalLayer(d, num_relations(0, self.directed)) for _ in range(2)])
        self.types = nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), _linear(d, schema.de))

    def node_logits(self, z: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n"]:
        everywhere = torch.ones_like(z[..., 0])
        return self.nodes(_with_mean(z, everywhere))[..., 0]

    def node_values(self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n dv"]:
        return self.values(_with_mean(z, B))

    def edge_logits(
        self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"], V: Float[Tensor, "b n dv"]
    ) -> Float[Tensor, "b n n"]:
        h = self.enter(torch.cat([_with_mean(z, B), V], -1)) * B[..., None]
        for layer in self.exchange:
            h = layer(h, B)
        return self.edges_out(self.block(self.pairs(h, B), B))[..., 0]

    def edge_values(self, z: Tensor, B: Tensor, V: Tensor, A: Tensor, at: tuple | None = None) -> Tensor:
        """Parameters of all pairs (`b n n de`), or of the pairs `at` (`m de`)."""
        h = self.enter_types(torch.cat([_with_mean(z, B), V], -1)) * B[..., None]
        R = torch.stack([A, A.transpose(1, 2)], 1) if self.directed else A[:, None]
        for layer in self.type_layers:
            h = layer(h, R, B)
        if at is None:
            source, target = torch.broadcast_tensors(h[:, :, None], h[:, None])
        else:
            source, target = h[at[0], at[1]], h[at[0], at[2]]
        ends = (source, target) if self.directed else (source + target, source * target)
        return self.types(torch.cat(ends, -1))


class PairFeatures(nn.Module):
    """c bilinear forms of the two nodes of each pair, plus a term for each node, normalized, through a ReLU."""

    def __init__(self, d: int, c: int, directed: bool, rank: int = 8):
        super().__init__()
        self.shape, self.directed = (c, rank), directed
        self.left, self.right = nn.Linear(d, c * rank, bias=False), nn.Linear(d, c * rank, bias=False)
        self.ends = nn.Linear(d, 2 * c, bias=False)
        self.norm = MaskedBatchNorm(c)

    def forward(self, h: Float[Tensor, "b n d"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n n c"]:
        b, n, _ = h.shape
        left, right = (
            part(h).view(b, n, *self.shape).transpose(1, 2) for part in (self.left, self.right)
        )  # b c n rank
        at_i, at_j = self.ends(h).chunk(2, -1)
        if self.directed:
            forms = left @ right.transpose(2, 3)
        else:  # symmetric, and of either sign
            forms, at_j = left @ left.transpose(2, 3) - right @ right.transpose(2, 3), at_i
        X = forms.permute(0, 2, 3, 1) * left.shape[-1] ** -0.5 + at_i[:, :, None] + at_j[:, None]
        return self.norm.normalize_relu(X, B) if self.training else self.norm(X, B).relu()


@torch.no_grad()
def eigenvectors(graph: Graph, noise: Float[Tensor, "b n"]) -> Float[Tensor, "b n 16"]:
    """The smoothest eigenvectors of the normalized Laplacian with `noise` on its diagonal, scaled to unit variance.

    The sign of each is fixed by its product with the noise, so the result is permuted with (graph, noise).
    """
    A = ((graph.A + graph.A.transpose(1, 2)) / 2).double()
    B, noise = graph.B.double(), noise.double()
    inverse = A.sum(2).clamp(min=1e-6).rsqrt() * B
    L = -inverse[:, :, None] * A * inverse[:, None]
    # Empty slots get a large eigenvalue of their own: their vectors come last and are cut off.
    L.diagonal(dim1=1, dim2=2).add_(B + _PERTURBATION * noise + 1e3 * (1 - B))
    _, vectors = torch.linalg.eigh(L)
    vectors = vectors * B[..., None]
    sign = torch.where((vectors * noise[..., None]).sum(1, keepdim=True) < 0, -1.0, 1.0)
    there = (vectors.square().sum(1, keepdim=True) > 0.5).double()
    vectors = vectors * sign * there * B.sum(1).sqrt()[:, None, None]
    vectors = vectors[..., :NUM_EIGENVECTORS]
    missing = NUM_EIGENVECTORS - vectors.shape[-1]
    return nn.functional.pad(vectors, (0, missing)).to(graph.B)


def _linear(d: int, e: int) -> nn.Linear:
    """A linear layer; no columns to predict (e = 0) is nothing to warn about."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element tensors")
        return nn.Linear(d, e)


def _with_mean(z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n dw"]:
    """Each code beside the mean code of existing nodes."""
    return torch.cat([z, node_mean(z, B)[:, None].expand_as(z)], -1)
