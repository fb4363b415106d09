"""CLEAR (Ma et al. 2022): a conditional variational autoencoder that is trained to return counterfactuals."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..data.dataset import GraphDataset
from ..explain.goals.batches import outputs_of_labels
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.plain import convolution
from ..nn.initialize import reset_parameters
from ..schema import Schema
from .edge_weights import both_ways, pairs, with_edges
from .rival import Abilities, About, AbstractRival, Asking


class ClearNetwork(nn.Module):
    """Encoder of a graph and a class into a Gaussian, decoder of a code and a class into edges and node attributes.

    As in the paper, the code is one vector for the whole graph and the decoder writes the matrix of edges slot by slot,
    so its answers depend on the order of nodes.

    Args:
        schema: Columns of the graphs.
        num_classes: Number of classes.
        code: Length of the code.
        width: Width of the layers.
    """

    def __init__(self, schema: Schema, num_classes: int, code: int = 16, width: int = 16):
        super().__init__()
        n = schema.max_nodes
        self.schema, self.num_classes, self.code = schema, num_classes, code
        self.lift = nn.Linear(1 + schema.dv, width)
        self.moments = nn.Linear(width + num_classes, 2 * code)
        self.decoder = nn.Sequential(
            nn.Linear(code + num_classes, 8 * width), nn.ReLU(), nn.Linear(8 * width, n * n + n * schema.dv)
        )

    def encode(self, graph: Graph, wanted: Float[Tensor, "b c"]) -> tuple[Tensor, Tensor]:
        """Mean and log-variance of the code."""
        nodes = torch.cat([graph.B[..., None], graph.V], -1)
        hidden = (convolution(graph) @ self.lift(nodes)).relu().sum(1) / graph.num_nodes[:, None].clamp(min=1)
        mean, log_variance = self.moments(torch.cat([hidden, wanted], 1)).chunk(2, 1)
        return mean, log_variance.clamp(-8, 8)

    def decode(self, graph: Graph, z: Tensor, wanted: Float[Tensor, "b c"]) -> tuple[Tensor, Tensor]:
        """Probabilities of edges, and attributes of nodes, for the nodes that the graph has."""
        n, dv = self.schema.max_nodes, self.schema.dv
        flat = self.decoder(torch.cat([z, wanted], 1))
        edges = both_ways(flat[:, : n * n].view(-1, n, n), self.schema.directed).sigmoid() * pairs(graph)
        raw, parts = flat[:, n * n :].view(-1, n, dv), []
        for column, at in self.schema.node_slices():
            values = raw[..., at]
            parts.append(column.mean + column.scale * values if column.is_continuous else values.softmax(-1))
        nodes = torch.cat(parts, -1) * graph.B[..., None] if parts else graph.V
        return edges, nodes


@dataclass(frozen=True)
class Clear(AbstractRival):
    """Decode a counterfactual from the factual's code and the wanted class; several codes are drawn.

    The paper's auxiliary variable, for causal relations, is left out: our sets have none. The loss is the distance to
    the factual in edges and attributes, the divergence from the prior, and the cross-entropy of the wanted class.

    Args:
        classifier: Model to explain; gradients passed through it in training.
        network: The trained network, see `Clear.fit`.
        draws: Codes that are drawn; the flip with the fewest changes is the answer.
        method: Name in tables and files.

    Example:
        >>> from graphflip.data.planted.motif import planted
        >>> from graphflip.models import RelationalGIN
        >>> data = planted(num_graphs=40)
        >>> clear = Clear.fit(RelationalGIN(data.schema).eval(), data.part("train"), steps=2)
        >>> clear.explain(data.graphs(0))[0].method
        'clear'
    """

    classifier: AbstractClassifier
    network: ClearNetwork
    draws: int = 3
    method: str = "clear"
    about: ClassVar[About] = About(
        "CLEAR",
        "Ma, Guo, Mishra, Zhang, Li. CLEAR: generative counterfactual explanations on graphs. NeurIPS 2022, "
        "arXiv 2210.08443",
        Abilities(adds_edges=True, changes_attributes=True, needs=("gradients", "training")),
        "Its sets (Community, Ogbg-molhiv, IMDB-M) are not here, and its causal figures need a causal model. It is "
        "trained for fewer steps than the paper's 2,000 epochs; the command says how many.",
    )

    @classmethod
    def fit(
        cls,
        classifier: AbstractClassifier,
        train: GraphDataset,
        steps: int = 6000,
        rate: float = 1e-3,
        weight: float = 5.0,
        batch_size: int = 64,
        seed: int = 0,
    ) -> "Clear":
        """Train the network on graphs, for all classes that are not predicted.

        Args:
            classifier: Model to explain.
            train: Graphs to learn from.
            steps: Steps of Adam.
            rate: Learning rate.
            weight: Weight of the cross-entropy of the wanted class.
            batch_size: Graphs in a step.
            seed: Seed of weights, batches and noise.
        """
        rng = torch.Generator().manual_seed(seed)
        with torch.random.fork_rng(devices=[]):  # layers draw weights when they are made; these are replaced
            network = ClearNetwork(train.schema, max(len(train.classes), 2))
        reset_parameters(network, rng)
        optimizer = torch.optim.Adam(network.parameters(), rate)
        with torch.enable_grad():
            for step in range(steps):
                rows = torch.randint(len(train), (batch_size,), generator=rng)
                graph = train.graphs(rows).pad(train.schema.max_nodes)
                # The first quarter learns to rebuild graphs, as the paper's pretraining does.
                loss = _loss(network, classifier, graph, weight if step >= steps // 4 else 0.0, rng)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return cls(classifier, network.eval().requires_grad_(False))

    @torch.no_grad()
    def search(self, asking: Asking) -> Graph | None:
        graph = asking.factual
        wanted = self._wanted(asking)
        mean, log_variance = self.network.encode(graph, wanted)
        best, least = None, torch.inf
        for turn in range(self.draws):
            noise = torch.randn(mean.shape, generator=asking.rng) * (0 if turn == 0 else 1)
            after = _hard(graph, *self.network.decode(graph, mean + noise * (log_variance / 2).exp(), wanted))
            size = float((after.A - graph.A).abs().sum() + (after.V - graph.V).abs().sum())
            if bool(asking.reached(after)[0]) and size < least:
                best, least = after, size
        return best

    def _wanted(self, asking: Asking) -> Float[Tensor, "1 c"]:
        """The class that reaches the goal, as a row of zeros and a one."""
        classes = torch.arange(self.network.num_classes)
        reached = asking.goal.reached(outputs_of_labels(classes))
        return reached[None].float()


def _loss(
    network: ClearNetwork, classifier: AbstractClassifier, graph: Graph, weight: float, rng: torch.Generator
) -> Tensor:
    """Distance, divergence and, where it has a weight, the cross-entropy of another class than the predicted."""
    with torch.no_grad():
        predicted = classifier(graph).argmax(1)
    other = torch.randint(1, network.num_classes, predicted.shape, generator=rng)
    target = (predicted + other) % network.num_classes
    wanted = nn.functional.one_hot(target, network.num_classes).to(graph.B)
    mean, log_variance = network.encode(graph, wanted)
    z = mean + torch.randn(mean.shape, generator=rng) * (log_variance / 2).exp()
    edges, nodes = network.decode(graph, z, wanted)
    there = pairs(graph)
    entropy = nn.functional.binary_cross_entropy(edges.clamp(1e-6, 1 - 1e-6), graph.A, weight=there, reduction="sum")
    distance = (entropy + (nodes - graph.V).square().sum()) / there.sum()
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1).mean()
    loss = 10 * distance + 0.01 * divergence
    if weight:
        soft = with_edges(graph, edges)
        outputs = classifier(Graph.trusted(soft.B, nodes, soft.A, soft.E, soft.schema))
        loss = loss + weight * nn.functional.cross_entropy(outputs, target)
    return loss


def _hard(graph: Graph, edges: Tensor, nodes: Tensor) -> Graph:
    after, parts = with_edges(graph, (edges > 0.5).float()), []
    for column, at in graph.schema.node_slices():
        values = nodes[..., at]
        hard = nn.functional.one_hot(values.argmax(-1), column.width).to(values) * graph.B[..., None]
        parts.append(values if column.is_continuous else hard)
    return Graph.trusted(graph.B, torch.cat(parts, -1) if parts else graph.V, after.A, after.E, graph.schema)
