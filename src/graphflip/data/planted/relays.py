"""A directed set whose edges have a continuous weight, and for which the fewest edits to the other class are known.

A relay is a node that a strong edge leads to and from which a strong edge leads away. The classes are graphs without a
relay and graphs with one: turn an edge round, or weaken it, and the class may change.
"""

from itertools import combinations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...schema import Continuous, Schema
from ..dataset import GraphDataset

CLASSES = ("no relay", "relay")
STRONG = 0.5
"""Edges are drawn with a weight of 0 to 0.4, strong ones 0.6 to 1."""


def planted_relays(num_graphs: int = 600, seed: int = 0, min_nodes: int = 5, max_nodes: int = 8) -> GraphDataset:
    """Draw trees of random directions with up to two edges more; a third of the edges are strong, and half of the
    graphs have a relay."""
    if not 3 <= min_nodes <= max_nodes or num_graphs < 1:
        raise ConfigError(
            f"Graphs must be of 3 <= min_nodes <= max_nodes nodes, and at least one of them; got {min_nodes}, "
            f"{max_nodes} and {num_graphs} graphs."
        )
    rng = torch.Generator().manual_seed(seed)
    schema = Schema(edges=(Continuous(name="weight"),), max_nodes=max_nodes, directed=True)
    graphs: list[Graph] = []
    while len(graphs) < num_graphs:
        n = int(torch.randint(min_nodes, max_nodes + 1, (), generator=rng))
        graph = _draw(schema, n, rng)
        if bool(relays(graph).any()) == bool(len(graphs) % 2):
            graphs.append(graph)
    labels = [k % 2 for k in range(num_graphs)]
    return GraphDataset.from_graphs("relays", graphs, labels, CLASSES).split_randomly(seed).with_scales()


def true_class(graph: Graph) -> Int[Tensor, " b"]:
    """Class of each hard graph of this schema."""
    return relays(graph).any(1).long()


def relays(graph: Graph) -> Bool[Tensor, "b n"]:
    """True for nodes that are relays."""
    strong = strong_edges(graph)
    return strong.any(1) & strong.any(2)


def strong_edges(graph: Graph) -> Bool[Tensor, "b n n"]:
    """True for edges that are strong."""
    return (graph.E[..., 0] > STRONG) & (graph.A > 0.5)


def answers(graph: Graph) -> Int[Tensor, " b"]:
    """Fewest edits that change the true class of graphs of two nodes or more.

    Making a relay takes as many strong edges as the best node lacks of two. Removing all relays takes the smallest set
    of strong edges whose weakening leaves none.
    """
    strong = strong_edges(graph)
    lacks = 2 - strong.any(1).long() - strong.any(2).long() + 9 * (graph.B < 0.5).long()
    least = [_fewest(matrix) for matrix in strong]
    return torch.where(relays(graph).any(1), torch.tensor(least, device=strong.device), lacks.amin(1))


def _fewest(strong: Bool[Tensor, "n n"]) -> int:
    edges = strong.nonzero().tolist()
    for count in range(len(edges)):
        for chosen in combinations(edges, count):
            rest = strong.clone()
            for i, j in chosen:
                rest[i, j] = False
            if not bool((rest.any(0) & rest.any(1)).any()):
                return count
    return len(edges)


def _draw(schema: Schema, n: int, rng: torch.Generator) -> Graph:
    pairs = {(int(torch.randint(j, (), generator=rng)), j) for j in range(1, n)}
    more = [sorted(torch.randperm(n, generator=rng)[:2].tolist()) for _ in range(2)]
    pairs |= {(i, j) for i, j in more if float(torch.rand((), generator=rng)) < 0.5}
    edges = []
    for i, j in sorted(pairs):
        strong, turned = (torch.rand(2, generator=rng) < torch.tensor([1 / 3, 0.5])).tolist()
        weight = 0.6 * strong + 0.4 * float(torch.rand((), generator=rng))
        edges.append((*((j, i) if turned else (i, j)), {"weight": weight}))
    return Graph.build(schema, [{}] * n, edges).permute(torch.randperm(n, generator=rng))
