"""Anchored decoding: graphs near a factual, read off the decoder relative to what it says of the factual itself.

A decoder rebuilds a graph it has not seen with errors, and such errors are no edits. So its logits at a code z count
only by their difference from those at the factual's code, added to a margin around the real graph: the factual's own
code decodes to exactly the factual, slot by slot, however well the autoencoder knows it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...columns import map_categories
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.pegvae import PEGVAE
from ...schema import Schema
from ..goals.stored import Target, goal_of

MARGIN = 3.0


@dataclass(frozen=True, eq=False)
class Logits:
    """Decoder outputs of a batch: existence of nodes, their attributes, existence of edges, their attributes."""

    B: Float[Tensor, "b n"]
    V: Float[Tensor, "b n dv"]
    A: Float[Tensor, "b n n"]
    E: Float[Tensor, "b n n de"]

    def __add__(self, other: "Logits") -> "Logits":
        return Logits(self.B + other.B, self.V + other.V, self.A + other.A, self.E + other.E)

    def __sub__(self, other: "Logits") -> "Logits":
        return Logits(self.B - other.B, self.V - other.V, self.A - other.A, self.E - other.E)

    def __mul__(self, factor: Float[Tensor, " b"]) -> "Logits":
        column = factor[:, None]
        return Logits(
            self.B * column, self.V * column[..., None], self.A * column[..., None], self.E * column[..., None, None]
        )

    def expand(self, size: int) -> "Logits":
        """Repeat the logits of one graph `size` times."""
        return Logits(*(part.expand(size, *part.shape[1:]) for part in (self.B, self.V, self.A, self.E)))


@dataclass(frozen=True, eq=False)
class Anchor:
    """Factuals, their codes, and the decoder's logits at these codes."""

    vae: PEGVAE
    graph: Graph
    z: Float[Tensor, "b n dz"]
    logits: Logits
    margin: float = MARGIN

    @classmethod
    @torch.no_grad()
    def at(cls, vae: PEGVAE, graph: Graph, margin: float = MARGIN) -> "Anchor":
        graph = graph.pad(graph.schema.max_nodes)
        z = vae.encode(graph).mean
        return cls(vae, graph, z, raw_logits(vae, z, graph), margin)

    def moved(self, z: Float[Tensor, "b n dz"]) -> Logits:
        """Difference of each logit from its value at the factual's code."""
        return raw_logits(self.vae, z, self.graph) - self.logits

    def soft(self, z: Float[Tensor, "b n dz"]) -> Graph:
        """Relaxed graph at a code."""
        return relaxed(true_logits(self.graph, self.margin) + self.moved(z), self.graph)

    def hard(self, z: Float[Tensor, "b n dz"]) -> Graph:
        """Likeliest graph at a code; a continuous attribute stays if it moves by less than a quarter of its scale."""
        graph = self.graph
        B, V, A, E = _likeliest(true_logits(graph, self.margin) + self.moved(z), graph.schema)
        B = B * graph.B
        V = _settled(V, graph.V, graph.B, list(graph.schema.node_slices())) * B[..., None]
        A = A * B[:, :, None] * B[:, None, :]
        E = _settled(E, graph.E, graph.A, list(graph.schema.edge_slices())) * A[..., None]
        return Graph.trusted(B, V, A, E, graph.schema)

    def repeated(self, size: int) -> "Anchor":
        """Repeat the anchor of one graph for `size` codes."""
        parts = _repeated(self.graph, size), self.z.expand(size, *self.z.shape[1:]), self.logits.expand(size)
        return Anchor(self.vae, *parts, self.margin)


def raw_logits(vae: PEGVAE, z: Float[Tensor, "b n dz"], graph: Graph) -> Logits:
    """Logits of the decoder at a code, every stage conditioned on a hard graph, for the slots that this has."""
    n = graph.num_slots
    B, z = vae.node_logits(z)[:, :n], z[:, :n]
    E = graph.E if not graph.schema.de else vae.edge_values(z, graph.B, graph.V, graph.A)
    return Logits(B, vae.node_values(z, graph.B), vae.edge_logits(z, graph.B, graph.V), E)


def true_logits(graph: Graph, margin: float) -> Logits:
    """Logits of plus and minus `margin` that decode to a hard graph; continuous attributes stay as they are."""
    V, E = (
        map_categories(lambda values: values * margin, part, slices)
        for part, slices in ((graph.V, graph.schema.node_slices()), (graph.E, graph.schema.edge_slices()))
    )
    return Logits((2 * graph.B - 1) * margin, V, (2 * graph.A - 1) * margin, E)


def relaxed(logits: Logits, graph: Graph) -> Graph:
    """Relaxed graph of probabilities from logits; slots that are empty in `graph` stay empty."""
    B = graph.B * logits.B.sigmoid()
    A = logits.A.sigmoid() * B[:, :, None] * B[:, None, :]
    A = A * (1 - torch.eye(A.shape[1], dtype=A.dtype, device=A.device))
    V = map_categories(_probabilities, logits.V, graph.schema.node_slices()) * B[..., None]
    E = map_categories(_probabilities, logits.E, graph.schema.edge_slices()) * A[..., None]
    return Graph.trusted(B, V, A, E, graph.schema)


def _one_hot(logits: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)


def _probabilities(logits: Tensor) -> Tensor:
    return logits.softmax(-1)


def _settled(values: Tensor, was: Tensor, there: Tensor, slices: list) -> Tensor:
    """Keep continuous attributes as they were where they existed and hardly moved."""
    parts = []
    for column, at in slices:
        part = values[..., at]
        if column.is_continuous:
            near = ((part - was[..., at]).abs() < column.scale / 4) & (there[..., None] > 0)
            part = torch.where(near, was[..., at], part)
        parts.append(part)
    return torch.cat(parts, -1) if parts else values


@dataclass(frozen=True, eq=False)
class LatentPath:
    """Hard graphs on the way from a factual to its counterfactual, with the probability of the target (or the predicted
    value) and the position from 0 to 1 of each."""

    graphs: Graph
    probabilities: list[float]
    positions: list[float]


@torch.no_grad()
def latent_path(
    vae: PEGVAE,
    classifier: AbstractClassifier,
    factual: Graph,
    counterfactual: Graph,
    target: Target,
    steps: int = 24,
    margin: float = MARGIN,
) -> LatentPath:
    """Decode graphs along the straight line between the codes of factual and counterfactual, anchored at both ends.

    The path starts at exactly the factual and ends at exactly the counterfactual; all that these share stays. The
    decoder decides which change comes first.
    """
    # Slots that are empty at both ends stay so; few have to be decoded.
    n = max(_last_node(factual), _last_node(counterfactual)) + 1
    ends = [_first_slots(end, n) for end in (factual, counterfactual)]
    z = [vae.encode(end).mean for end in ends]
    # Every stage sees the nodes of both ends, so that what is to come, or has gone, has a code to be read from.
    union = _union(*ends)
    t = torch.linspace(0, 1, steps)
    logits = raw_logits(vae, z[0] + t[:, None, None] * (z[1] - z[0]), _repeated(union, steps))
    for end, code, weight in zip(ends, z, (1 - t, t), strict=True):
        logits = logits + (true_logits(end, margin) - raw_logits(vae, code, union)).expand(steps) * weight
    graphs = _between(logits, *ends)
    probability = goal_of(target).shown(classifier(graphs))
    return LatentPath(graphs.pad(graphs.schema.ample_slots(n)), probability.tolist(), t.tolist())


def _last_node(graph: Graph) -> int:
    """The last slot of a single graph that is a node; 0 if there is none."""
    return max(graph.B[0].nonzero().flatten().tolist(), default=0)


def _first_slots(graph: Graph, n: int) -> Graph:
    """The first n slots of a graph, which are all that it fills."""
    graph = graph.pad(max(n, graph.num_slots))
    return Graph.trusted(graph.B[:, :n], graph.V[:, :n], graph.A[:, :n, :n], graph.E[:, :n, :n], graph.schema)


def _between(logits: Logits, one: Graph, other: Graph) -> Graph:
    """Likeliest graphs, with all that the two ends share."""
    schema = one.schema
    B, V, A, E = _likeliest(logits, schema)
    B = torch.where(one.B == other.B, one.B, B)
    V = torch.where((one.V == other.V).all(-1, keepdim=True), one.V, V) * B[..., None]
    A = torch.where(one.A == other.A, one.A, A) * B[:, :, None] * B[:, None, :]
    E = torch.where((one.E == other.E).all(-1, keepdim=True), one.E, E) * A[..., None]
    return Graph.trusted(B, V, A, E, schema)


def _likeliest(logits: Logits, schema: Schema) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Likeliest B, V, A and E, each by itself."""
    B, A = (logits.B > 0).to(logits.B), (logits.A > 0).to(logits.B)
    V = map_categories(_one_hot, logits.V, schema.node_slices())
    E = map_categories(_one_hot, logits.E, schema.edge_slices())
    pairs = torch.ones_like(A[0]).triu(1)
    if schema.directed:
        pairs = pairs + pairs.T
    A, E = A * pairs, E * pairs[..., None]
    if not schema.directed:  # rounding may decide a tie one way here and another way there
        A, E = A + A.transpose(1, 2), E + E.transpose(1, 2)
    return B, V, A, E


def _union(one: Graph, other: Graph) -> Graph:
    """Graph with the nodes and edges of both; attributes are those of the first where it has them."""
    B, A = torch.maximum(one.B, other.B), torch.maximum(one.A, other.A)
    V = torch.where(one.B[..., None] > 0, one.V, other.V)
    E = torch.where(one.A[..., None] > 0, one.E, other.E)
    return Graph.trusted(B, V, A, E, one.schema)


def _repeated(graph: Graph, size: int) -> Graph:
    B, V, A, E = (part.expand(size, *part.shape[1:]) for part in (graph.B, graph.V, graph.A, graph.E))
    return Graph.trusted(B, V, A, E, graph.schema)
