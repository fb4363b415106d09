"""A synthetic set in which a planted motif alone decides the class, so that the right counterfactual is known.

The motif is a blue node with thick edges to at least two red nodes. Half of the graphs have it, exactly once, so one
edit takes it away (another type for the blue node or for one of the red; one edge made thin or removed). Of the others,
half miss it by one edit, and half have the nodes of a graph with the motif in another order: neither the numbers of
types nor those of edges tell the classes apart.
"""

from itertools import combinations
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...errors import ConfigError
from ...graph import Graph
from ...schema import Categories, Schema
from ..dataset import GraphDataset

NODE_TYPES = ("gray", "green", "blue", "red")
EDGE_TYPES = ("thin", "thick")
CLASSES = ("no motif", "motif")
_CENTER, _ARM = NODE_TYPES.index("blue"), NODE_TYPES.index("red")
_THICK = EDGE_TYPES.index("thick")


def planted(num_graphs: int = 600, seed: int = 0, min_nodes: int = 8, max_nodes: int = 16) -> GraphDataset:
    """Draw random trees, some with a ring, of typed nodes and edges, half of them with the motif."""
    if num_graphs < 2 or not 4 <= min_nodes <= max_nodes:
        raise ConfigError(
            "The planted set needs num_graphs >= 2 and 4 <= min_nodes <= max_nodes; "
            f"got num_graphs={num_graphs}, min_nodes={min_nodes}, max_nodes={max_nodes}."
        )
    rng = torch.Generator().manual_seed(seed)
    wanted = {"near miss": num_graphs // 4, "shuffled": num_graphs // 2 - num_graphs // 4}
    kinds = [_draw(kind, count, min_nodes, max_nodes, rng) for kind, count in wanted.items()]
    kinds.append(_draw("motif", num_graphs - num_graphs // 2, min_nodes, max_nodes, rng))
    graphs = Graph.cat([kind for kind in kinds if len(kind)])
    graphs = graphs.select(torch.randperm(num_graphs, generator=rng))
    return GraphDataset.from_graphs("planted", [graphs], contains_motif(graphs).long(), CLASSES).split_randomly(seed)


def contains_motif(graph: Graph) -> Bool[Tensor, " b"]:
    """True for hard graphs of this schema that contain the motif: their true class."""
    return (_arms(graph).sum(2) >= 2).any(1)


def motif_nodes(graph: Graph) -> Bool[Tensor, "b n"]:
    """Nodes that belong to the motif: each center and its arms."""
    return motif_edges(graph).any(2)


def motif_edges(graph: Graph) -> Bool[Tensor, "b n n"]:
    """Edges that belong to the motif, in both directions."""
    arms = _arms(graph)
    arms = arms & (arms.sum(2, keepdim=True) >= 2)
    return arms | arms.transpose(1, 2)


def answers(graph: Graph) -> Int[Tensor, " b"]:
    """Least number of edits, each of cost 1, that change the true class; exact for any hard graph of this schema."""
    return torch.where(contains_motif(graph), _edits_to_destroy(graph), _edits_to_create(graph))


def _arms(graph: Graph) -> Bool[Tensor, "b n n"]:
    """Thick edges from a blue node i to a red node j."""
    center, arm, thick = graph.V[..., _CENTER] > 0.5, graph.V[..., _ARM] > 0.5, graph.E[..., _THICK] > 0.5
    return thick & center[:, :, None] & arm[:, None, :]


def _edits_to_create(graph: Graph) -> Int[Tensor, " b"]:
    # A node that is not there costs 1 like one of the wrong type, an edge that is not there 1 like a thin one.
    missing = max(3 - graph.num_slots, 0)
    center, arm = (1 - torch.nn.functional.pad(graph.V[..., k], (0, missing)) for k in (_CENTER, _ARM))  # b n
    thin = 1 - torch.nn.functional.pad(graph.E[..., _THICK], (0, missing, 0, missing))  # b n n
    reach = (thin + arm[:, None, :]).diagonal_scatter(torch.full_like(center, torch.inf), dim1=1, dim2=2)
    return (center + reach.topk(2, dim=2, largest=False).values.sum(2)).amin(1).long()


def _edits_to_destroy(graph: Graph) -> Int[Tensor, " b"]:
    # Turning a node gray removes whatever changing one of its edges would: count the fewest nodes to turn gray.
    arms = _arms(graph)
    return torch.tensor([_fewest_gray(matrix) for matrix in arms], device=arms.device)


def _fewest_gray(arms: Bool[Tensor, "n n"]) -> int:
    centers = int((arms.sum(1) >= 2).sum())
    nodes = (arms | arms.T).any(1).nonzero()[:, 0].tolist()
    for count in range(centers):
        for chosen in combinations(nodes, count):
            rest = arms.clone()
            rest[list(chosen)] = False
            rest[:, list(chosen)] = False
            if not bool((rest.sum(1) >= 2).any()):
                return count
    return centers


class _Plan(NamedTuple):
    """Drafts of graphs: number of nodes, their types, symmetric edges and which are thick, and the motif's nodes."""

    sizes: Int[Tensor, " b"]
    types: Int[Tensor, "b n"]
    edges: Bool[Tensor, "b n n"]
    thick: Bool[Tensor, "b n n"]
    motif: Int[Tensor, "b 3"]


def _draw(kind: str, count: int, min_nodes: int, max_nodes: int, rng: torch.Generator) -> Graph:
    """Draw `count` graphs of one kind, by rejection."""
    schema = Schema(
        nodes=(Categories(name="type", values=NODE_TYPES),),
        edges=(Categories(name="type", values=EDGE_TYPES),),
        max_nodes=max_nodes,
    )
    accepted = _to_graph(_draft(1, min_nodes, max_nodes, rng), schema).select(slice(0, 0))
    while len(accepted) < count:
        plan = _draft(2 * count, min_nodes, max_nodes, rng)
        once = _arms(_to_graph(plan, schema)).sum(2)
        once = ((once >= 2).sum(1) == 1) & (once.amax(1) == 2)
        if kind == "near miss":
            plan = _spoil(plan, rng)
        if kind == "shuffled":
            plan = _shuffle(plan, rng)
        graph = _to_graph(plan, schema)
        right = once & (contains_motif(graph) == (kind == "motif"))
        accepted = Graph.cat([accepted, graph.select(right.nonzero()[:, 0])])
    return accepted.select(slice(0, count))


def _draft(b: int, min_nodes: int, max_nodes: int, rng: torch.Generator) -> _Plan:
    n = max_nodes
    sizes = torch.randint(min_nodes, max_nodes + 1, (b,), generator=rng)
    slots = torch.arange(n)
    exists = slots < sizes[:, None]
    parent = (torch.rand(b, n, generator=rng) * slots).long()  # node k hangs on one of 0..k-1
    edges = torch.zeros(b, n, n, dtype=torch.bool).scatter(2, parent[:, :, None], True)
    ring = (torch.rand(b, 2, generator=rng) * sizes[:, None]).long()
    edges[torch.arange(b), ring[:, 0], ring[:, 1]] |= torch.rand(b, generator=rng) < 0.5
    edges = (edges | edges.transpose(1, 2)) & exists[:, :, None] & exists[:, None, :] & ~torch.eye(n, dtype=torch.bool)
    thick = (torch.rand(b, n, n, generator=rng) < 0.5).triu(1)
    thick = (thick | thick.transpose(1, 2)) & edges
    types = torch.randint(len(NODE_TYPES), (b, n), generator=rng)
    return _plant(_Plan(sizes, types, edges, thick, torch.zeros(b, 3, dtype=torch.long)), rng)


def _plant(plan: _Plan, rng: torch.Generator) -> _Plan:
    batch = torch.arange(len(plan.sizes))
    able = (plan.edges.sum(2) >= 2).float()  # a tree of three nodes or more has such a node
    center = torch.multinomial(able, 1, generator=rng)[:, 0]
    arms = torch.multinomial(plan.edges[batch, center].float(), 2, generator=rng)  # b 2
    types, thick = plan.types.clone(), plan.thick.clone()
    types[batch, center] = _CENTER
    types[batch[:, None], arms] = _ARM
    thick[batch[:, None], center[:, None], arms] = True
    thick[batch[:, None], arms, center[:, None]] = True
    return plan._replace(types=types, thick=thick, motif=torch.cat([center[:, None], arms], 1))


def _spoil(plan: _Plan, rng: torch.Generator) -> _Plan:
    """One edit at the motif: another type for its center or for an arm, or a thin edge."""
    batch = torch.arange(len(plan.sizes))
    what = torch.randint(3, (len(batch),), generator=rng)
    center, arm = plan.motif[:, 0], plan.motif[:, 1]
    node = torch.where(what == 0, center, arm)
    shift = torch.randint(1, len(NODE_TYPES), (len(batch),), generator=rng) * (what < 2)
    types, thick = plan.types.clone(), plan.thick.clone()
    types[batch, node] = (types[batch, node] + shift) % len(NODE_TYPES)
    thick[batch, center, arm] = thick[batch, arm, center] = what < 2
    return plan._replace(types=types, thick=thick)


def _shuffle(plan: _Plan, rng: torch.Generator) -> _Plan:
    """The types of the nodes in another order."""
    b, n = plan.types.shape
    absent = torch.arange(n) >= plan.sizes[:, None]
    order = (torch.rand(b, n, generator=rng) + absent).argsort(1)
    return plan._replace(types=plan.types.gather(1, order))


def _to_graph(plan: _Plan, schema: Schema) -> Graph:
    B = (torch.arange(plan.types.shape[1]) < plan.sizes[:, None]).float()
    V = torch.nn.functional.one_hot(plan.types, len(NODE_TYPES)) * B[..., None]
    A = plan.edges.float()
    E: Float[Tensor, "b n n de"] = torch.stack([A * ~plan.thick, A * plan.thick], 3)
    return Graph.trusted(B, V, A, E, schema)
