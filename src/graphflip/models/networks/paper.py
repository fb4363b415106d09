"""The paper's encoder and decoders (appendix A.2), with its factorization: V conditions A, and A conditions E."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...graph import Graph
from ...nn import packed
from ...nn.layers import EquivariantBlock, EquivariantLinear, append_edges
from ...schema import Schema


class PaperEncoder(nn.Module):
    """Four modules of 20 channels, the first on B and V alone, then one linear layer for means and log variances."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        d, directed = config.width, schema.directed
        self.pack = not directed  # undirected pairs are stored once
        self.lift = EquivariantBlock(1, 2, 1 + schema.dv, d, directed)
        first = EquivariantBlock(2, 2, d + 1 + schema.de, d, directed)
        self.pairs = nn.ModuleList([first, *(EquivariantBlock(2, 2, d, d, directed) for _ in range(config.depth - 3))])
        self.lower = EquivariantBlock(2, 1, d, d, directed)
        self.out = EquivariantLinear(1, 1, d + 1, 2 * config.dz)

    def draw_identity(self, graph: Graph, rngs: Any) -> Float[Tensor, "b n 0"]:
        """Return identities of width 0: in the paper automorphic nodes get the same mean."""
        return graph.B.new_zeros(*graph.B.shape, 0)

    def forward(self, graph: Graph, identity: Float[Tensor, "b n 0"]) -> tuple[Tensor, Tensor]:
        exists = graph.B[..., None]
        X = self.lift(torch.cat([exists, graph.V], -1), graph.B, self.pack)
        X = append_edges(X, graph.A, graph.E, self.pack)
        for block in self.pairs:
            X = block(X, graph.B, self.pack)
        # An empty slot sees what all nodes have in common and that it is empty, but none of its pairs.
        X = X * (packed.both_exist(graph.B)[:, None] if self.pack else exists[:, :, None] * exists[:, None])
        h = torch.cat([self.lower(X, graph.B, self.pack), exists], -1)
        mean, log_var = self.out(h, graph.B).chunk(2, -1)
        return mean, log_var.clamp(-12, 8)


class PaperDecoder(nn.Module):
    """Four decoders: one module each for B and V, two each for A and E, every one with a linear layer on top."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        d, dz, directed = config.width, config.dz, schema.directed
        self.pack = not directed
        node = dz + 1 + schema.dv
        self.nodes, self.nodes_out = EquivariantBlock(1, 1, dz, d), EquivariantLinear(1, 1, d, 1)
        self.values, self.values_out = EquivariantBlock(1, 1, dz + 1, d), EquivariantLinear(1, 1, d, schema.dv)
        self.edges = nn.ModuleList([EquivariantBlock(1, 2, node, d, directed), EquivariantBlock(2, 2, d, d, directed)])
        self.edges_out = EquivariantLinear(2, 2, d, 1, directed)
        self.edge_types = nn.ModuleList(
            [EquivariantBlock(1, 2, node, d, directed), EquivariantBlock(2, 2, d + 1, d, directed)]
        )
        self.edge_types_out = EquivariantLinear(2, 2, d, schema.de, directed)

    def node_logits(self, z: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n"]:
        everywhere = torch.ones_like(z[..., 0])
        return self.nodes_out(self.nodes(z, everywhere), everywhere)[..., 0]

    def node_values(self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n dv"]:
        return self.values_out(self.values(torch.cat([z, B[..., None]], -1), B), B)

    def edge_logits(
        self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"], V: Float[Tensor, "b n dv"]
    ) -> Float[Tensor, "b n n"]:
        X = torch.cat([z, B[..., None], V], -1)
        for block in self.edges:
            X = block(X, B, self.pack)
        logits = self.edges_out(X, B, self.pack)
        return (packed.unpack(logits) if self.pack else logits)[..., 0]

    def edge_values(self, z: Tensor, B: Tensor, V: Tensor, A: Tensor, at: tuple | None = None) -> Tensor:
        """Parameters of all pairs (`b n n de`), or of the pairs `at` (`m de`)."""
        lift, mix = self.edge_types
        X = lift(torch.cat([z, B[..., None], V], -1), B, self.pack)
        X = append_edges(X, A, A.new_zeros(*A.shape, 0), self.pack)
        parameters = self.edge_types_out(mix(X, B, self.pack), B, self.pack)
        if self.pack:
            return packed.unpack(parameters) if at is None else packed.take(parameters, at)
        return parameters if at is None else parameters[at]
