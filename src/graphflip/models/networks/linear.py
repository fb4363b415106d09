"""Encoder and decoder whose code is linear in the graph, so that they rebuild graphs after very little training.

Each node draws an identity r_i of m random numbers. Beside it the code has a summary s_i of the node's neighbors, such
that r_i s_j + s_i r_j is close to the adjacency matrix A. With R the identities of all nodes and P the projection onto
their span, the summaries of least norm that come closest are

    S = A R G - 1/2 R G (R' A R) G,    G = (R' R)^-1,    so that    S R' + R S' = A - (1 - P) A (1 - P):

exact for graphs of up to m nodes, and nearly so for twice as many. What is left, `PEGVAE.locate` finds by gradient.
Columns of E have summaries of their own. The rest is learned: attributes, and which of them are likely to be joined.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...errors import ConfigError
from ...graph import Graph
from ...nn.initialize import draw_normal
from ...schema import Column, Schema

MAX_CHANNELS = 8
"""Largest number of columns of E that have summaries of their own; more columns are mixed into as many."""

_RIDGE = 1e-3
_SURE = 12.0  # first difference between the logits of an edge and of no edge, or of a category and another
_QUIET = -6.0  # first logarithm of the variance of codes


def linear_width(schema: Schema, num_identity: int) -> int:
    """Numbers of a code with identities of `num_identity` numbers: identity, summaries, and one for each attribute."""
    return num_identity * (2 + min(schema.de, MAX_CHANNELS)) + 1 + schema.dv


class _Layout:
    """Places of a code: identities, summaries of A, summaries of E, and attributes."""

    def __init__(self, schema: Schema, config: Any):
        self.m, self.channels = config.width, min(schema.de, MAX_CHANNELS)
        self.rest = config.dz - self.m * (2 + self.channels)
        if self.rest < 1:
            raise ConfigError(
                f"A linear design with width={self.m} and {schema.de} edge columns must have `dz` of at least "
                f"{config.dz + 1 - self.rest}; got {config.dz}. `linear_width` gives a fitting number."
            )

    def split(self, z: Float[Tensor, "b n dz"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        identity, joined, edges, rest = z.split([self.m, self.m, self.m * self.channels, self.rest], -1)
        return identity, joined, edges.unflatten(-1, (self.channels, self.m)), rest


class LinearEncoder(nn.Module):
    """Identities, summaries by least squares, and a linear code of attributes; one log variance for each number."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        self.layout, self.max_nodes, self.directed = _Layout(schema, config), schema.max_nodes, schema.directed
        self.attributes = _Straight(1 + schema.dv, self.layout.rest)
        self.mix = _Straight(schema.de, self.layout.channels) if schema.de else None
        self.log_var = _Constant(config.dz, _QUIET)

    def draw_identity(self, graph: Graph, rngs: Sequence[torch.Generator] | torch.Generator) -> Float[Tensor, "b n di"]:
        """Random numbers for each slot; zero where slots are empty."""
        n, m = graph.num_slots, self.layout.m
        if isinstance(rngs, torch.Generator):
            noise = torch.randn(len(graph), n, m, generator=rngs)
        else:  # all N slots are drawn: what a graph gets must not depend on how far its batch is padded
            noise = torch.stack([torch.randn(self.max_nodes, m, generator=rng)[:n] for rng in rngs])
        return noise.to(graph.B) * graph.B[..., None]

    def forward(self, graph: Graph, identity: Float[Tensor, "b n di"]) -> tuple[Tensor, Tensor]:
        exists = graph.B[..., None]
        matrices = graph.A[..., None]
        if self.mix is not None:
            matrices = torch.cat([matrices, self.mix(graph.E)], -1)
        S = summaries(identity, matrices.movedim(-1, 1), self.directed) * _gain(self.layout.m)  # b c n m
        rest = self.attributes(torch.cat([2 * exists - 1, graph.V], -1))
        mean = torch.cat([identity, S.transpose(1, 2).flatten(2), rest], -1)
        return mean, self.log_var.value.clamp(-12, 8).expand_as(mean)


class LinearDecoder(nn.Module):
    """Nodes and attributes from the code of attributes; edges from products of identities and summaries."""

    def __init__(self, schema: Schema, config: Any):
        super().__init__()
        self.layout, self.directed = _Layout(schema, config), schema.directed
        k, d = self.layout.rest, 2 * self.layout.rest + 16
        self.nodes, self.nodes_more = _Straight(k, 1, (_SURE / 2,)), _corrections(k, d, 1)
        self.values, self.values_more = (
            _Straight(k, schema.dv, _factors(schema.nodes), 1),
            _corrections(k, d, schema.dv),
        )
        self.scale, self.offset = _Constant(1, _SURE), _Constant(1, -_SURE / 2)
        self.affinity = _Affinity(k + schema.dv, self.directed)
        if schema.de:
            self.types = _Straight(self.layout.channels, schema.de, _factors(schema.edges))
            self.types_more = _corrections(self.layout.channels + 2 * (k + schema.dv), d, schema.de)

    def node_logits(self, z: Float[Tensor, "b n dz"]) -> Float[Tensor, "b n"]:
        rest = self.layout.split(z)[-1]
        return (self.nodes(rest) + self.nodes_more(rest))[..., 0]

    def node_values(self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"]) -> Float[Tensor, "b n dv"]:
        rest = self.layout.split(z)[-1]
        return self.values(rest) + self.values_more(rest)

    def edge_logits(
        self, z: Float[Tensor, "b n dz"], B: Float[Tensor, "b n"], V: Float[Tensor, "b n dv"]
    ) -> Float[Tensor, "b n n"]:
        R, S, _, rest = self.layout.split(z)
        A = products(R, S[:, :, None], self.directed)[..., 0] / _gain(self.layout.m)
        return self.scale.value * A + self.offset.value + self.affinity(torch.cat([rest, V], -1))

    def edge_values(self, z: Tensor, B: Tensor, V: Tensor, A: Tensor, at: tuple | None = None) -> Tensor:
        """Parameters of all pairs (`b n n de`), or of the pairs `at` (`m de`)."""
        R, _, S, rest = self.layout.split(z)
        E = products(R, S, self.directed) / _gain(self.layout.m)
        h = torch.cat([rest, V], -1)
        if at is None:
            source, target = torch.broadcast_tensors(h[:, :, None], h[:, None])
        else:
            E, source, target = E[at], h[at[0], at[1]], h[at[0], at[2]]
        ends = (source, target) if self.directed else (source + target, source * target)
        return self.types(E) + self.types_more(torch.cat([E, *ends], -1))


def summaries(
    R: Float[Tensor, "b n m"], matrices: Float[Tensor, "b c n n"], directed: bool
) -> Float[Tensor, "b c n m"]:
    """Summaries S of each node's row in each matrix X, such that S R' + R S' (directed: S R') is close to X."""
    gram = R.transpose(1, 2) @ R
    ridge = _RIDGE * R.shape[-1] * torch.eye(R.shape[-1], dtype=R.dtype, device=R.device)
    inverse = torch.linalg.inv(gram + ridge)[:, None]  # b 1 m m
    wide = R[:, None]
    S = matrices @ wide @ inverse
    return S if directed else S - 0.5 * wide @ (inverse @ (wide.transpose(2, 3) @ S))


def products(R: Float[Tensor, "b n m"], S: Float[Tensor, "b n c m"], directed: bool) -> Float[Tensor, "b n n c"]:
    """Matrices that identities and summaries stand for: S R', and in undirected graphs its transpose is added."""
    X = S.transpose(1, 2) @ R[:, None].transpose(2, 3)  # b c n n
    return (X if directed else X + X.transpose(2, 3)).movedim(1, -1)


def _gain(m: int) -> float:
    """Factor on summaries that brings their numbers to the size of those of identities, for nodes of a few edges."""
    return m / 2


class _Constant(nn.Module):
    """A learned vector that starts at one number."""

    def __init__(self, d: int, start: float):
        super().__init__()
        self.start, self.value = start, nn.Parameter(torch.full((d,), start))

    def reset(self, rng: torch.Generator) -> None:
        nn.init.constant_(self.value, self.start)


class _Straight(nn.Module):
    """A linear map that starts by copying: output k is input `first + k` times a factor, as far as there are both."""

    def __init__(self, d: int, e: int, factors: tuple[float, ...] = (), first: int = 0):
        super().__init__()
        self.factors, self.first = factors or (1.0,) * e, first
        self.weight, self.bias = nn.Parameter(torch.empty(e, d)), nn.Parameter(torch.empty(e))
        self.reset()

    def reset(self, rng: torch.Generator | None = None) -> None:
        e, d = self.weight.shape
        draw_normal(self.weight, 0.01, rng)
        with torch.no_grad():
            k = torch.arange(min(e, d - self.first))
            if not self.weight.is_meta:
                self.weight[k, k + self.first] += torch.tensor(self.factors[: len(k)])
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight, self.bias)


class _Affinity(nn.Module):
    """Logits of pairs by the attributes of their ends alone: bilinear forms, which start near zero."""

    def __init__(self, d: int, directed: bool, rank: int = 8):
        super().__init__()
        self.directed = directed
        self.left, self.right = nn.Linear(d, rank), nn.Linear(d, rank)

    def forward(self, h: Float[Tensor, "b n d"]) -> Float[Tensor, "b n n"]:
        left, right = self.left(h), self.right(h)
        forms = left @ right.transpose(1, 2)
        return (forms if self.directed else forms + forms.transpose(1, 2)) * 0.1


def _factors(columns: Sequence[Column]) -> tuple[float, ...]:
    """Factor for each column: numbers are copied as they are, categories become logits."""
    return tuple(1.0 if column.is_continuous else _SURE for column in columns for _ in range(column.width))


def _corrections(d: int, hidden: int, e: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), _Straight(hidden, e, (0.0,) * e))
