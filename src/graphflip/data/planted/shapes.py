"""Sets in the style of the literature's tree-cycles and BA-shapes, drawn anew, with the fewest edits known.

Tree-cycles: random trees, and random trees with rings that are tied to them by an edge. Rings decide the class.
BA-shapes: a Barabási-Albert tree to which either a house (a ring of five with a chord) or a ring of five is tied.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...schema import Schema
from ..dataset import GraphDataset
from .classes import num_rings

TREE_CLASSES = ("tree", "rings")
SHAPE_CLASSES = ("ring", "house")
_RING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
_CHORD = (1, 4)  # splits the ring of five into a square and a roof


def tree_cycles(num_graphs: int = 600, seed: int = 0, min_nodes: int = 12, max_nodes: int = 20) -> GraphDataset:
    """Draw trees, half of them with one or two rings of 3 to 5 nodes tied to them.

    Args:
        num_graphs: Number of graphs.
        seed: Seed of all draws.
        min_nodes: Nodes of the smallest graphs, at least 12.
        max_nodes: Nodes of the largest graphs.

    Returns:
        The dataset, split 80/10/10.

    Raises:
        ConfigError: The sizes do not fit.

    Example:
        >>> dataset = tree_cycles(num_graphs=6)
        >>> has_rings(dataset.graphs()).long().tolist() == dataset.labels.tolist()
        True
    """
    rng = _checked(num_graphs, seed, min_nodes, max_nodes)
    schema = Schema(max_nodes=max_nodes)
    graphs = []
    for k in range(num_graphs):
        n = _whole(min_nodes, max_nodes, rng)
        sizes = [_whole(3, 5, rng) for _ in range(_whole(1, 2, rng))] if k % 2 else []
        edges, first = _tree(n - sum(sizes), rng, preferential=False), n - sum(sizes)
        for size in sizes:
            edges += [(first + i, first + (i + 1) % size) for i in range(size)]
            edges.append((_whole(0, n - sum(sizes) - 1, rng), first))
            first += size
        graphs.append(_shuffled(schema, n, edges, rng))
    labels = [k % 2 for k in range(num_graphs)]
    return GraphDataset.from_graphs("tree_cycles", graphs, labels, TREE_CLASSES).split_randomly(seed)


def ba_shapes(num_graphs: int = 600, seed: int = 0, min_nodes: int = 12, max_nodes: int = 20) -> GraphDataset:
    """Draw trees by preferential attachment, half of them with a house tied to them, half with a ring of five.

    Args and errors are those of `tree_cycles`.

    Example:
        >>> dataset = ba_shapes(num_graphs=6)
        >>> has_house(dataset.graphs()).long().tolist() == dataset.labels.tolist()
        True
    """
    rng = _checked(num_graphs, seed, min_nodes, max_nodes)
    schema = Schema(max_nodes=max_nodes)
    graphs = []
    for k in range(num_graphs):
        n = _whole(min_nodes, max_nodes, rng)
        shape = [*_RING, _CHORD] if k % 2 else _RING
        edges = _tree(n - 5, rng, preferential=True) + [(n - 5 + i, n - 5 + j) for i, j in shape]
        edges.append((_whole(0, n - 6, rng), n - 5 + _whole(0, 4, rng)))
        graphs.append(_shuffled(schema, n, edges, rng))
    labels = [k % 2 for k in range(num_graphs)]
    return GraphDataset.from_graphs("ba_shapes", graphs, labels, SHAPE_CLASSES).split_randomly(seed)


def has_rings(graph: Graph) -> Bool[Tensor, " b"]:
    """True for hard graphs with a ring: the true class of tree-cycles."""
    return num_rings(graph) > 0


def ring_answers(graph: Graph) -> Int[Tensor, " b"]:
    """Fewest edits that change the class of tree-cycles: each ring loses an edge, or a tree gains one."""
    return num_rings(graph).clamp(min=1)


def has_house(graph: Graph) -> Bool[Tensor, " b"]:
    """True for hard graphs in which five nodes are joined as a house, with or without further edges among them."""
    A = graph.A > 0.5
    return torch.stack([_find_house(matrix) for matrix in A]) if len(A) else torch.zeros(0, dtype=torch.bool)


def house_answers(graph: Graph) -> Int[Tensor, " b"]:
    """Fewest edits that change the class of a graph of `ba_shapes`: 1, a chord that comes or an edge that goes."""
    return torch.ones(len(graph), dtype=torch.long)


def _find_house(A: Bool[Tensor, "n n"]) -> Bool[Tensor, ""]:
    """True if an edge b-c has a common neighbor a, and neighbors d of b and e of c that are joined, all different."""
    for b, c in A.triu(1).nonzero().tolist():
        roofs = (A[b] & A[c]).nonzero()[:, 0].tolist()
        walls = (A & A[b][:, None] & A[c][None, :]).nonzero().tolist()
        if any(len({a, b, c, d, e}) == 5 for a in roofs for d, e in walls):
            return torch.tensor(True)
    return torch.tensor(False)


def _tree(n: int, rng: torch.Generator, preferential: bool) -> list[tuple[int, int]]:
    """A random tree; preferential attachment favors nodes that have many edges."""
    edges: list[tuple[int, int]] = []
    degree = torch.zeros(n)
    for j in range(1, n):
        weight = degree[:j].clamp(min=1) if preferential else torch.ones(j)
        i = int(torch.multinomial(weight, 1, generator=rng))
        edges.append((i, j))
        degree[i] += 1
        degree[j] += 1
    return edges


def _shuffled(schema: Schema, n: int, edges: list[tuple[int, int]], rng: torch.Generator) -> Graph:
    graph = Graph.build(schema, [{}] * n, [(i, j, {}) for i, j in edges])
    return graph.permute(torch.randperm(n, generator=rng))


def _whole(least: int, most: int, rng: torch.Generator) -> int:
    return int(torch.randint(least, most + 1, (), generator=rng))


def _checked(num_graphs: int, seed: int, min_nodes: int, max_nodes: int) -> torch.Generator:
    if num_graphs < 2 or not 12 <= min_nodes <= max_nodes:
        raise ConfigError(
            "Graphs must be of 12 <= min_nodes <= max_nodes nodes, and at least two of them; got "
            f"{min_nodes}, {max_nodes} and {num_graphs} graphs."
        )
    return torch.Generator().manual_seed(seed)
