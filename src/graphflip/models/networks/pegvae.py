"""PEGVAE: the permutation equivariant graph variational autoencoder (Hansen et al., 2025, section 2.3).

The latent code has `dz` numbers for each of the N node slots; relabelling nodes relabels the code. The likelihood
(Eq. 3) is

    p(G | z) = p(B | z) p(V | z, B) p(A | z, B, V) p(E | z, B, V, A),

and training minimizes the bound of Eq. 4, with a weight beta on its second term,

    -ELBO = E_q[-log p(G | z)] + beta KL(q(z | G) || N(0, 1)).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from ...graph import Graph
from ...nn.descent import Adam
from ...nn.packed import pack, unpack
from ...nn.standardize import from_standard, standardized, to_standard
from ...schema import Schema
from .decode import Inference, draw_columns, needed_slots, spread
from .likelihood import bernoulli, column_likelihood, off_diagonal
from .linear import LinearDecoder, LinearEncoder, linear_width
from .modern import ModernDecoder, ModernEncoder
from .paper import PaperDecoder, PaperEncoder


class PEGVAEConfig(BaseModel):
    """Design and sizes of a PEGVAE; `PAPER` has those of the paper's appendix.

    Args:
        design: `"paper"` for the networks of the appendix, `"modern"` for faithful reconstruction, `"linear"` for the
            same after little training, from few graphs or of large ones.
        dz: Latent numbers for each slot.
        width: Channels of nodes; of the linear design, random numbers of each node's identity.
        pair_width: Channels of pairs.
        depth: Layers of the encoder.
        decoder_depth: Attention layers of the modern decoder.
        refine_steps: Steps that `PEGVAE.locate` takes from the encoder's mean towards a code that rebuilds the graph.

    Example:
        >>> vae_config = PEGVAEConfig(dz=8, refine_steps=20)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    design: Literal["paper", "modern", "linear"] = "modern"
    dz: int = Field(default=24, gt=0, le=2**16)
    width: int = Field(default=64, gt=0, le=2**16)
    pair_width: int = Field(default=16, gt=0, le=2**16)
    depth: int = Field(default=5, gt=0, le=1000)
    decoder_depth: int = Field(default=3, ge=0, le=1000)
    refine_steps: int = Field(default=0, ge=0, le=100_000)


PAPER = PEGVAEConfig(design="paper", dz=1, width=20, pair_width=20, depth=4)

_ENCODERS = {"paper": PaperEncoder, "modern": ModernEncoder, "linear": LinearEncoder}
_DECODERS = {"paper": PaperDecoder, "modern": ModernDecoder, "linear": LinearDecoder}


def linear_config(schema: Schema, refine_steps: int = 20) -> PEGVAEConfig:
    """Sizes of the linear design for graphs of a schema: identities of three quarters of its nodes, 8 to 48 numbers."""
    width = min(max(-(-3 * schema.max_nodes // 4), 8), 48)
    return PEGVAEConfig(design="linear", dz=linear_width(schema, width), width=width, refine_steps=refine_steps)


@dataclass(frozen=True)
class Posterior:
    """Approximate posterior q(z | G): mean and logarithm of the variance for each of the N slots of the schema."""

    mean: Float[Tensor, "b n dz"]
    log_var: Float[Tensor, "b n dz"]

    def sample(self, rng: torch.Generator) -> Float[Tensor, "b n dz"]:
        """Draw one code for each graph."""
        noise = torch.randn(self.mean.shape, generator=rng, dtype=self.mean.dtype).to(self.mean.device)
        return self.mean + (self.log_var / 2).exp() * noise

    def kl(self) -> Float[Tensor, " b"]:
        """KL(q || N(0, 1)) of each graph, in nats, summed over slots."""
        return 0.5 * (self.mean**2 + self.log_var.exp() - 1 - self.log_var).sum((1, 2))


@dataclass(frozen=True)
class LogLikelihood:
    """log p(G | z) in its four parts, in nats for each graph; an undirected edge counts once."""

    nodes: Float[Tensor, " b"]
    node_values: Float[Tensor, " b"]
    edges: Float[Tensor, " b"]
    edge_values: Float[Tensor, " b"]

    @property
    def total(self) -> Float[Tensor, " b"]:
        """Sum of the four parts: log p(G | z)."""
        return self.nodes + self.node_values + self.edges + self.edge_values


class PEGVAE(nn.Module):
    """Permutation equivariant autoencoder of graphs: encoder F, decoder D and evidence lower bound.

    Encoding draws an identity for each slot from `rngs` where the design uses one (see `ModernEncoder`); pass the same
    `identity`, permuted with the nodes, and the code is permuted with them exactly (Eq. 2).

    Args:
        schema: Columns and number of slots N of the graphs.
        config: Design and sizes.

    Example:
        >>> from graphflip.models import MostLikely
        >>> from graphflip.testing import random_graph
        >>> graph = random_graph(n=5, num_graphs=2, seed=0)
        >>> vae = PEGVAE(graph.schema).eval()
        >>> z = vae.encode(graph).mean
        >>> z.shape == (2, graph.schema.max_nodes, vae.config.dz)
        True
        >>> vae.decode(z, MostLikely()).is_hard
        True
    """

    default: ClassVar[PEGVAEConfig] = PEGVAEConfig(refine_steps=20)

    def __init__(self, schema: Schema, config: PEGVAEConfig = default):
        super().__init__()
        self.schema, self.config = schema, config
        self.encoder = _ENCODERS[config.design](schema, config)
        self.decoder = _DECODERS[config.design](schema, config)
        columns = sum(column.is_continuous for column in schema.nodes + schema.edges)
        self.log_scale = nn.Parameter(torch.zeros(columns))  # of continuous columns, node columns first

    def draw_identity(self, graph: Graph, rngs: Sequence[torch.Generator] | torch.Generator) -> Float[Tensor, "b n di"]:
        """Draw noise that tells automorphic slots apart, from one generator or from one for each graph."""
        return self.encoder.draw_identity(graph, rngs)

    def encode(
        self,
        graph: Graph,
        rngs: Sequence[torch.Generator] | torch.Generator | None = None,
        identity: Float[Tensor, "b n di"] | None = None,
    ) -> Posterior:
        """Compute q(z | G) over all N slots: the paper's encoder F.

        Args:
            graph: Batch of hard or relaxed graphs.
            rngs: Generator of the slots' identities, or one for each graph; by default of seed 0 for each graph.
            identity: Identities themselves, instead of drawing them.
        """
        if identity is None:
            rngs = rngs or [torch.Generator().manual_seed(0) for _ in range(len(graph))]
            identity = self.draw_identity(graph, rngs)
        # Empty slots are all alike: one of them stands for those that the batch does not carry.
        spare = self.schema.max_nodes - graph.num_slots
        if spare > 0:
            graph, identity = graph.pad(graph.num_slots + 1), nn.functional.pad(identity, (0, 0, 0, 1))
        mean, log_var = self.encoder(standardized(graph), identity)
        if spare > 1:
            fill = (len(graph), spare - 1, mean.shape[-1])
            mean, log_var = (torch.cat([part, part[:, -1:].expand(fill)], 1) for part in (mean, log_var))
        return Posterior(mean, log_var)

    def locate(
        self, graph: Graph, rngs: Sequence[torch.Generator] | torch.Generator | None = None, rate: float = 0.05
    ) -> Float[Tensor, "b n dz"]:
        """Find the code z_F that stands for each graph: the posterior mean, moved uphill on log p(G | z).

        An encoder's one guess misses some bonds of graphs it has not seen; `refine_steps` steps of Adam from there find
        them (semi-amortized inference; Kim et al., 2018). The paper's design takes none. Each graph moves by its own
        gradient alone.

        Args:
            graph: Batch of hard graphs.
            rngs: Generators of the slots' identities, as in `encode`.
            rate: Learning rate of Adam.

        Returns:
            Codes of all N slots, without gradients.
        """
        with torch.no_grad():
            z = self.encode(graph, rngs).mean
        adam = Adam(z, rate, betas=(0.9, 0.99), eps=1e-4, lerp=True)
        for _ in range(self.config.refine_steps):
            with torch.enable_grad():
                z = z.detach().requires_grad_()
                (gradient,) = torch.autograd.grad(self.log_likelihood(graph, z).total.sum(), z)
            z = z + adam.step(gradient)
        return z.detach()

    def log_likelihood(self, graph: Graph, z: Float[Tensor, "b n dz"]) -> LogLikelihood:
        """Compute log p(G | z) of hard graphs (Eq. 3): B on all N slots, the rest where nodes and edges exist."""
        n = graph.num_slots
        B = nn.functional.pad(graph.B, (0, z.shape[1] - n))
        nodes = bernoulli(self.node_logits(z), B).sum(1)
        near = z[:, :n]
        node_scales, edge_scales = self._scales()
        values = column_likelihood(
            self.node_values(near, graph.B), graph.V, list(self.schema.node_slices()), node_scales
        )
        pairs = graph.B[:, :, None] * graph.B[:, None, :]
        pairs = off_diagonal(pairs) if self.schema.directed else pairs.triu(1)
        edges = bernoulli(self.edge_logits(near, graph.B, graph.V), graph.A)
        edge_values = torch.zeros_like(nodes)
        if self.schema.de:
            there = graph.A if self.schema.directed else graph.A.triu(1)
            at = there.nonzero().unbind(1)
            parameters = self.edge_values(near, graph.B, graph.V, graph.A, at)
            scores = column_likelihood(parameters, graph.E[at], list(self.schema.edge_slices()), edge_scales)
            edge_values = edge_values.index_add(0, at[0], scores)
        return LogLikelihood(nodes, (values * graph.B).sum(1), (edges * pairs).sum((1, 2)), edge_values)

    def neg_elbo(
        self, graph: Graph, rng: torch.Generator, beta: float = 1.0, identity: Tensor | None = None
    ) -> tuple[Float[Tensor, " b"], LogLikelihood, Float[Tensor, " b"]]:
        """Estimate the loss of training (Eq. 4), -E[log p(G | z)] + beta KL, with one draw of z.

        Args:
            graph: Batch of hard graphs.
            rng: Generator of identities and of z.
            beta: Weight of the KL term; 1 gives the true bound.
            identity: Identities of the slots, instead of drawing them.

        Returns:
            The loss of each graph, its likelihood and its KL term.
        """
        posterior = self.encode(graph, rng, identity)
        likelihood = self.log_likelihood(graph, posterior.sample(rng))
        kl = posterior.kl()
        return -likelihood.total + beta * kl, likelihood, kl

    def decode(self, z: Float[Tensor, "b n dz"], infer: Inference) -> Graph:
        """Decode graphs in the order of the factorization (Eq. 3): B, then V, then A, then E. The paper's decoder D.

        Args:
            z: Codes.
            infer: Way to get values from the decoder's distributions: `MostLikely`, `Gumbel` or `Soft`.

        Returns:
            Graphs of all N slots: slot i of the graph is slot i of z. They carry gradients to z.
        """
        B = infer.binary(self.node_logits(z))
        kept = needed_slots(B, infer)
        return (
            self._decode_rest(z, B, infer)
            if kept is None
            else spread(self._decode_rest(z[:, kept], B[:, kept], infer), kept, z.shape[1])
        )

    def _decode_rest(self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"], infer: Inference) -> Graph:
        """Decode attributes and edges of the nodes B."""
        schema = self.schema
        V = draw_columns(infer, self.node_values(z, B), list(schema.node_slices())) * B[..., None]
        both = B[:, :, None] * B[:, None, :]
        A = self._draw_pairs(infer.binary, self.edge_logits(z, B, V)[..., None])[..., 0] * both
        E = A.new_zeros(*A.shape, 0)
        if schema.de:
            slices = list(schema.edge_slices())
            E = self._draw_pairs(
                lambda parameters: draw_columns(infer, parameters, slices), self.edge_values(z, B, V, A)
            )
            E = E * A[..., None]
        return Graph.trusted(B, V, A, E, schema)

    def node_logits(self, z: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n"]:
        """Logits of p(B | z): log-odds that slots are nodes."""
        return self.decoder.node_logits(z)

    def node_values(self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n dv"]:
        """Parameters of p(V | z, B): logits of categories, and continuous attributes in the units of the data."""
        return from_standard(self.decoder.node_values(z, B), self.schema.nodes)

    def edge_logits(
        self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"], V: Float[Tensor, "b n dv"]
    ) -> Float[Tensor, "b n n"]:
        """Logits of p(A | z, B, V): log-odds that pairs of nodes are joined."""
        return self.decoder.edge_logits(z, B, to_standard(V, B[..., None], self.schema.nodes))

    def edge_values(self, z: Tensor, B: Tensor, V: Tensor, A: Tensor, at: tuple | None = None) -> Tensor:
        """Parameters of p(E | z, B, V, A): of all pairs (`b n n de`), or of the pairs `at` (`m de`)."""
        V = to_standard(V, B[..., None], self.schema.nodes)
        return from_standard(self.decoder.edge_values(z, B, V, A, at), self.schema.edges)

    def _draw_pairs(self, draw: Callable[[Tensor], Tensor], parameters: Float[Tensor, "b n n d"]) -> Tensor:
        """Draw for every pair but the diagonal; in undirected graphs one draw decides for both directions."""
        if self.schema.directed:
            drawn = draw(parameters)
        else:
            once = draw(pack(parameters).permute(0, 2, 3, 1))
            drawn = unpack(once.permute(0, 3, 1, 2))
        return drawn * (1 - torch.eye(drawn.shape[1], device=drawn.device, dtype=drawn.dtype))[..., None]

    def _scales(self) -> tuple[Tensor, Tensor]:
        nodes = sum(column.is_continuous for column in self.schema.nodes)
        return self.log_scale[:nodes], self.log_scale[nodes:]
