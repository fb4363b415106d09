"""A set of six classes whose nodes have a continuous attribute, and for which the fewest edits to each class are known.

The class is the number of rings of a graph (none, one, more), combined with the presence of a hot node. The number of
rings is that of edges less that of nodes, plus the number of connected parts.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...schema import Continuous, Schema
from ..dataset import GraphDataset

CLASSES = ("cold tree", "hot tree", "cold ring", "hot ring", "cold rings", "hot rings")
HOT = 1.25
"""Nodes are drawn with a heat of 0 to 1, hot ones 1.5 to 2.5."""


def planted_classes(num_graphs: int = 600, seed: int = 0, min_nodes: int = 6, max_nodes: int = 10) -> GraphDataset:
    """Draw trees with up to three edges more; half of them have one or two hot nodes. Classes are of equal size."""
    if not 5 <= min_nodes <= max_nodes or num_graphs < 1:
        raise ConfigError(
            f"Graphs must be of 5 <= min_nodes <= max_nodes nodes, and at least one of them; got {min_nodes}, "
            f"{max_nodes} and {num_graphs} graphs."
        )
    rng = torch.Generator().manual_seed(seed)
    schema = Schema(nodes=(Continuous(name="heat"),), max_nodes=max_nodes)
    sizes = torch.randint(min_nodes, max_nodes + 1, (num_graphs,), generator=rng).tolist()
    graphs = [_draw(schema, n, k % len(CLASSES), rng) for k, n in enumerate(sizes)]
    labels = [k % len(CLASSES) for k in range(num_graphs)]
    return GraphDataset.from_graphs("classes", graphs, labels, CLASSES).split_randomly(seed).with_scales()


def true_class(graph: Graph) -> Int[Tensor, " b"]:
    """Class of each hard graph of this schema."""
    return 2 * num_rings(graph).clamp(max=2) + hot_nodes(graph).any(1).long()


def hot_nodes(graph: Graph) -> Bool[Tensor, "b n"]:
    """True for hot nodes."""
    return (graph.V[..., 0] > HOT) & (graph.B > 0.5)


def num_rings(graph: Graph) -> Int[Tensor, " b"]:
    """Number of independent rings of each graph."""
    reach = ((graph.A + torch.diag_embed(graph.B)) > 0.5).float()
    for _ in range(max(graph.num_slots - 1, 1).bit_length()):
        reach = ((reach @ reach) > 0.5).float()
    parts = (graph.B / reach.sum(2).clamp(min=1)).sum(1).round()
    return (graph.A.sum((1, 2)) / 2 - graph.B.sum(1) + parts).long()


def answers(graph: Graph, target: int) -> Int[Tensor, " b"]:
    """Fewest edits that lead to a class.

    It takes one for each ring to add or remove, one for each hot node to cool, or one to heat a node; no edit does two
    of these.
    """
    rings, hot = num_rings(graph), hot_nodes(graph).sum(1)
    wanted, hotter = divmod(target, 2)
    more = (wanted - rings).abs() if wanted < 2 else (2 - rings).clamp(min=0)
    return more + ((hot == 0).long() if hotter else hot)


def _draw(schema: Schema, n: int, label: int, rng: torch.Generator) -> Graph:
    rings, hot = divmod(label, 2)
    rings += int(torch.randint(2, (), generator=rng)) if rings == 2 else 0
    edges = {(int(torch.randint(j, (), generator=rng)), j) for j in range(1, n)}
    while len(edges) < n - 1 + rings:
        i, j = sorted(torch.randperm(n, generator=rng)[:2].tolist())
        edges.add((i, j))
    heat = torch.rand(n, generator=rng)
    chosen = torch.randperm(n, generator=rng)[: hot * int(torch.randint(1, 3, (), generator=rng))]
    heat[chosen] += 1.5
    order = torch.randperm(n, generator=rng)
    graph = Graph.build(schema, [{"heat": float(value)} for value in heat], [(i, j, {}) for i, j in sorted(edges)])
    return graph.permute(order)
