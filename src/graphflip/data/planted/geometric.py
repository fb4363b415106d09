"""Geometric graphs of six classes with a rule on positions and lengths, for which the fewest edits are known.

Graphs are networks of poles on a square site, joined to their nearest neighbors by cables. Nodes have a position x, y,
edges a length, in units of the typical distance of neighbors. A pole is displaced if it stands beyond the eastern fence
(x > `FENCE`); a cable is slack if it is longer than `SLACK`. The class is the number of displaced poles (none, one,
several), combined with the presence of a slack cable. Both are measured after the network was laid: a displaced pole
keeps the lengths of its cables.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...schema import Continuous, Schema
from ..dataset import GraphDataset

CLASSES = (
    *("in place, taut", "in place, slack", "one displaced, taut", "one displaced, slack"),
    *("several displaced, taut", "several displaced, slack"),
)
FENCE = 1.25
"""Poles stand at 0 to 1 in both directions; displaced ones at an x of 1.4 to 1.9."""
SLACK = 2.25
"""Lengths of slack cables are 2.6 to 4, those of others at most 2."""
_NEIGHBORS = 2


def geometric(num_graphs: int = 600, seed: int = 0, min_nodes: int = 20, max_nodes: int = 60) -> GraphDataset:
    """Draw networks of poles and cables; classes are of equal size.

    Args:
        num_graphs: Number of graphs.
        seed: Seed of all draws.
        min_nodes: Nodes of the smallest graphs, at least 8.
        max_nodes: Nodes of the largest graphs.

    Returns:
        The dataset, split 80/10/10.

    Raises:
        ConfigError: If there are no graphs, or sizes are out of range.

    Example:
        >>> dataset = geometric(num_graphs=12)
        >>> dataset.labels[:6].tolist() == [0, 1, 2, 3, 4, 5]
        True
    """
    if not 8 <= min_nodes <= max_nodes or num_graphs < 1:
        raise ConfigError(
            f"Graphs must be of 8 <= min_nodes <= max_nodes nodes, and at least one of them; got {min_nodes}, "
            f"{max_nodes} and {num_graphs} graphs."
        )
    rng = torch.Generator().manual_seed(seed)
    nodes, edges = (Continuous(name="x"), Continuous(name="y")), (Continuous(name="length"),)
    schema = Schema(nodes=nodes, edges=edges, max_nodes=max_nodes)
    sizes = torch.randint(min_nodes, max_nodes + 1, (num_graphs,), generator=rng).tolist()
    labels = [k % len(CLASSES) for k in range(num_graphs)]
    graphs = [_draw(schema, n, label, rng) for n, label in zip(sizes, labels, strict=True)]
    return GraphDataset.from_graphs("geometric", graphs, labels, CLASSES).split_randomly(seed).with_scales()


def true_class(graph: Graph) -> Int[Tensor, " b"]:
    """Class of each hard graph of this schema."""
    return 2 * displaced(graph).sum(1).clamp(max=2) + slack(graph).any(2).any(1).long()


def displaced(graph: Graph) -> Bool[Tensor, "b n"]:
    """True for poles beyond the fence."""
    return (graph.V[..., 0] > FENCE) & (graph.B > 0.5)


def slack(graph: Graph) -> Bool[Tensor, "b n n"]:
    """True for slack cables, in both directions."""
    return (graph.E[..., 0] > SLACK) & (graph.A > 0.5)


def answers(graph: Graph, target: int) -> Int[Tensor, " b"]:
    """Fewest edits that lead to a class, where an edit changes one pole or one cable.

    It takes one for each pole to displace or to put back, and one for each slack cable, or one to make a cable slack.
    A displaced pole at the end of a single slack cable could be removed with it, but that is two edits as well.
    """
    poles, cables = displaced(graph).sum(1), slack(graph).sum((1, 2)) // 2
    wanted, slacker = divmod(target, 2)
    moved = (wanted - poles).abs() if wanted < 2 else (2 - poles).clamp(min=0)
    return moved + ((cables == 0).long() if slacker else cables)


def _draw(schema: Schema, n: int, label: int, rng: torch.Generator) -> Graph:
    poles, is_slack = divmod(label, 2)
    poles += int(torch.randint(2, (), generator=rng)) if poles == 2 else 0
    place = torch.rand(n, 2, generator=rng)
    edges = _cables(place)
    length = (place[edges[:, 0]] - place[edges[:, 1]]).norm(dim=1) * n**0.5
    length = length.clamp(max=2.0)
    chosen = torch.randperm(len(edges), generator=rng)[: is_slack * int(torch.randint(1, 3, (), generator=rng))]
    length[chosen] = 2.6 + 1.4 * torch.rand(len(chosen), generator=rng)
    moved = torch.randperm(n, generator=rng)[:poles]
    place[moved, 0] = 1.4 + 0.5 * torch.rand(poles, generator=rng)
    order = torch.randperm(n, generator=rng)
    nodes = [{"x": x, "y": y} for x, y in place.tolist()]
    cables = [(i, j, {"length": size}) for (i, j), size in zip(edges.tolist(), length.tolist(), strict=True)]
    return Graph.build(schema, nodes, cables).permute(order)


def _cables(place: Float[Tensor, "n 2"]) -> Int[Tensor, "m 2"]:
    """Pairs of poles that are nearest neighbors, and those of a shortest tree through all, so that all are joined."""
    far = torch.cdist(place, place).fill_diagonal_(torch.inf)
    near = far.topk(_NEIGHBORS, largest=False).indices
    joined = torch.zeros(far.shape, dtype=torch.bool).scatter(1, near, True)
    reached = torch.zeros(len(place), dtype=torch.bool)
    reached[0] = True
    for _ in range(len(place) - 1):  # Prim's tree
        from_reached = far.masked_fill(~reached[:, None], torch.inf)[:, ~reached]
        at = int(from_reached.argmin())
        outside = (~reached).nonzero()[:, 0]
        i, j = at // len(outside), int(outside[at % len(outside)])
        joined[i, j] = reached[j] = True
    return (joined | joined.T).triu(1).nonzero()
