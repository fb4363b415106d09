"""The graph edit distance against exhaustive search, against networkx, and against what a distance must obey."""

import operator
import random
import time
from itertools import permutations

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip import Categories, Continuous, Graph, Schema
from graphflip.data import load_paper_dataset
from graphflip.edits import Edit, EditCosts, apply_edits, edits_between
from graphflip.errors import ConfigError, GraphError, SchemaError
from graphflip.ged.distance import EditDistance, closer_alignment, graph_edit_distance
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
SIZES = st.integers(0, 4)
COSTS = st.sampled_from(
    [
        EditCosts(),
        EditCosts(1.0, 2.0, 1.0, 3.0, 1.0, 2.0),
        EditCosts(0.5, 1.5, 0.75, 1.0, 0.25, 1.25),
        EditCosts(set_edge=0.0),
    ]
)


def graph_of(schema: Schema, n: int, seed: int) -> Graph:
    return random_graph(schema, n=n, num_graphs=1, seed=seed)


def shuffled(graph: Graph, seed: int) -> Graph:
    rng = torch.Generator().manual_seed(seed)
    return graph.permute(torch.randperm(graph.num_slots, generator=rng))


def exhaustive(g: Graph, h: Graph, costs: EditCosts) -> float:
    """Every way to align nodes, removing and adding those without a counterpart, costed by its edits."""
    g, h = g.trim(), h.trim()
    n = g.num_slots + h.num_slots
    wide = Schema.from_dict(g.schema.to_dict() | {"max_nodes": max(n, 1)})
    g, h = (Graph(x.B, x.V, x.A, x.E, wide) for x in (g, h))
    orders = {order[: g.num_slots] + tuple(sorted(order[g.num_slots :])) for order in permutations(range(n))}
    return min(
        costs.total(edits_between(g, h.pad(n).permute(torch.tensor(order, dtype=torch.long))), wide) for order in orders
    )


def assert_path_leads_there(g: Graph, h: Graph, distance: EditDistance, costs: EditCosts) -> None:
    assert apply_edits(g, distance.edits) == h
    assert costs.total(distance.edits, g.schema) == distance.upper
    kept = distance.alignment[distance.alignment >= 0]
    assert len(set(kept.tolist())) == len(kept) == min(int(g.num_nodes), int(h.num_nodes))


@given(SEEDS, st.integers(0, 3), st.integers(0, 3), COSTS)
@settings(max_examples=40)
def test_equal_to_exhaustive_search(seed, n, m, costs):
    schema = random_schema(seed, max_nodes=8)
    g, h = graph_of(schema, n, seed + 1), graph_of(schema, m, seed + 2)
    distance = graph_edit_distance(g, h, costs=costs, time_limit=3.0)
    assert distance.exact
    assert distance.upper == pytest.approx(exhaustive(g, h, costs), abs=1e-4)
    assert_path_leads_there(g, h, distance, costs)


@given(SEEDS, st.integers(2, 7), st.integers(2, 7))
def test_agrees_with_networkx(seed, n, m):
    columns = (Categories(name="type", values=("a", "b")),)
    schema = Schema(nodes=columns, edges=columns, max_nodes=8, directed=bool(seed % 2))
    g, h = graph_of(schema, min(n, 5), seed + 1), graph_of(schema, min(m, 5), seed + 2)

    def to_networkx(graph: Graph) -> nx.Graph:
        converted = nx.DiGraph() if schema.directed else nx.Graph()
        converted.add_nodes_from((i, node) for i, node in enumerate(graph.nodes()) if node is not None)
        converted.add_edges_from(graph.edges())
        return converted

    expected = nx.graph_edit_distance(to_networkx(g), to_networkx(h), node_match=operator.eq, edge_match=operator.eq)
    distance = graph_edit_distance(g, h, time_limit=3.0)
    assert (distance.lower, distance.upper) == (expected, expected)


@given(SEEDS, SIZES, SIZES, COSTS)
def test_symmetric_and_independent_of_order(seed, n, m, costs):
    schema = random_schema(seed)
    g, h = graph_of(schema, n, seed + 1), graph_of(schema, m, seed + 2)
    back = EditCosts(
        costs.remove_node, costs.add_node, costs.set_node, costs.remove_edge, costs.add_edge, costs.set_edge
    )
    there = graph_edit_distance(g, h, costs=costs, time_limit=3.0)
    assert graph_edit_distance(h, g, costs=back, time_limit=3.0).upper == pytest.approx(there.upper, abs=1e-4)
    moved = graph_edit_distance(shuffled(g, seed), shuffled(h, seed + 1), costs=costs, time_limit=3.0)
    assert moved.upper == pytest.approx(there.upper, abs=1e-4)


@given(SEEDS, st.integers(0, 9))
def test_zero_on_shuffled_copies(seed, n):
    g = graph_of(random_schema(seed), n, seed)
    distance = graph_edit_distance(g, shuffled(g, seed).pad(n + 1), time_limit=0.0)
    assert (distance.lower, distance.upper, distance.edits) == (0, 0, [])


@given(SEEDS, st.integers(1, 4))
def test_zero_only_on_equal_graphs(seed, n):
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=8, directed=bool(seed % 2))
    g, h = graph_of(schema, n, seed), graph_of(schema, n, seed + 1)
    assert (graph_edit_distance(g, h, time_limit=3.0).lower == 0) == (g == h)


@given(SEEDS, SIZES, SIZES, SIZES)
def test_triangle_inequality(seed, n, m, k):
    schema = random_schema(seed)
    a, b, c = (graph_of(schema, size, seed + i) for i, size in enumerate((n, m, k)))
    ab, bc, ac = (graph_edit_distance(*pair, time_limit=3.0).upper for pair in ((a, b), (b, c), (a, c)))
    assert ac <= ab + bc + 1e-4


@given(SEEDS, st.integers(5, 9), st.integers(5, 9))
@settings(max_examples=15)
def test_bounds_enclose_the_distance_however_little_time_there_is(seed, n, m):
    schema = random_schema(seed, max_nodes=20)
    g, h = graph_of(schema, n, seed + 1), graph_of(schema, m, seed + 2)
    quick, slow = (graph_edit_distance(g, h, time_limit=limit) for limit in (0.0, 0.3))
    for distance in (quick, slow):
        assert_path_leads_there(g, h, distance, EditCosts())
        assert distance.exact == (distance.lower == distance.upper)
    assert quick.lower <= slow.lower + 1e-4
    assert slow.lower <= slow.upper <= quick.upper + 1e-4


def test_nodes_of_many_edges():
    """Degrees beyond what stars enumerate: a wheel whose hub moved to a rim node loses and gains what it must."""
    schema = Schema(max_nodes=9)
    star = Graph.build(schema, [{}] * 9, [(0, i, {}) for i in range(1, 9)])
    wheel = Graph.build(schema, [{}] * 9, [(0, i, {}) for i in range(1, 9)] + [(i, i % 8 + 1, {}) for i in range(1, 9)])
    distance = graph_edit_distance(star, shuffled(wheel, 3), time_limit=5.0)
    assert (distance.lower, distance.upper) == (8, 8)


def test_a_node_joined_to_three_others_costs_four():
    schema = Schema(max_nodes=4)
    three = Graph.build(schema, [{}] * 3, [])
    joined = Graph.build(schema, [{}] * 4, [(0, i, {}) for i in range(1, 4)])
    assert graph_edit_distance(three, joined).upper == graph_edit_distance(joined, three).lower == 4


@pytest.mark.parametrize(("directed", "cost"), [(False, 1), (True, 2)])
def test_an_undirected_edge_is_counted_once(directed, cost):
    schema = Schema(max_nodes=2, directed=directed)
    empty, full = (Graph.build(schema, [{}] * 2, edges) for edges in ([], [(0, 1, {}), (1, 0, {})]))
    assert graph_edit_distance(empty, full).lower == graph_edit_distance(empty, full).upper == cost


def test_a_directed_edge_turned_round_costs_two():
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=2, directed=True)
    nodes = [{"type": "a"}, {"type": "b"}]
    g, h = (Graph.build(schema, nodes, [edge]) for edge in ((0, 1, {}), (1, 0, {})))
    assert graph_edit_distance(g, h).upper == 2


def test_continuous_attributes_cost_their_scaled_difference():
    schema = Schema(nodes=(Continuous(name="size", scale=4.0),), max_nodes=2)
    g, h = (Graph.build(schema, [{"size": a}, {"size": b}], []) for a, b in ((0.0, 8.0), (8.5, 1.0)))
    distance = graph_edit_distance(g, h)
    assert distance.exact
    assert distance.upper == 1.0 / 4 + 0.5 / 4
    assert distance.alignment.tolist() == [1, 0]


def test_a_known_alignment_is_used():
    g = graph_of(random_schema(1), 8, 1)
    distance = graph_edit_distance(g, g, alignment=torch.arange(8), time_limit=0.0)
    assert distance.upper == 0
    partial = torch.full((8,), -1)
    assert graph_edit_distance(g, g, alignment=partial, time_limit=5.0).upper == 0


@pytest.mark.parametrize(
    ("alignment", "message"), [(torch.arange(2), "one entry for each"), (torch.zeros(3, dtype=torch.long), "two slots")]
)
def test_a_wrong_alignment_is_refused(alignment, message):
    g = graph_of(random_schema(1), 3, 1)
    with pytest.raises(GraphError, match=message):
        graph_edit_distance(g, g, alignment=alignment)


def test_wrong_input_is_refused():
    g = graph_of(random_schema(1), 3, 1)
    with pytest.raises(SchemaError, match="same schema"):
        graph_edit_distance(g, graph_of(Schema(max_nodes=3), 3, 1))
    with pytest.raises(ConfigError, match="time_limit"):
        graph_edit_distance(g, g, time_limit=-1.0)
    with pytest.raises(GraphError, match="batch of 2"):
        graph_edit_distance(random_graph(n=3), random_graph(n=3))


def test_near_molecules_are_proved_fast(data_folder):
    """Up to 8 random edits of Mutagenicity graphs, nodes shuffled: proved, and not above the edits made."""
    dataset = load_paper_dataset("mutagenicity")
    rng = random.Random(0)
    graphs = [graph.trim() for graph in dataset.graphs(range(0, 400, 20))]
    pairs = [(g, edited(g, rng.randint(1, 8), rng)) for g in graphs]
    start, proved = time.perf_counter(), 0
    for g, h in pairs:
        distance = graph_edit_distance(g, shuffled(h.trim(), 0), time_limit=1.0)
        assert distance.upper <= len(edits_between(g, h)) or not distance.exact
        assert_path_leads_there(g, h, distance, EditCosts())
        proved += distance.exact
    assert proved >= 0.95 * len(pairs)
    assert time.perf_counter() - start < len(pairs)


def edited(graph: Graph, count: int, rng: random.Random) -> Graph:
    """A few single edits, each at a random place: a type, a bond's type, a bond, or a leaf that goes."""
    for _ in range(count):
        nodes, edges = graph.nodes(), graph.edges()
        i, j, bond = rng.choice(edges)
        other = rng.choice([value for value in graph.schema.edges[0].values if value != bond["type"]])
        atom = rng.choice([k for k, node in enumerate(nodes) if node is not None])
        element = rng.choice([value for value in graph.schema.nodes[0].values if value != nodes[atom]["type"]])
        choices = [
            [Edit("set_edge", (i, j), bond, {"type": other})],
            [Edit("remove_edge", (i, j), bond)],
            [Edit("set_node", (atom,), nodes[atom], {"type": element})],
        ]
        if sum(j in edge[:2] for edge in edges) == 1:
            choices.append([Edit("remove_edge", (i, j), bond), Edit("remove_node", (j,), nodes[j])])
        graph = apply_edits(graph, rng.choice(choices))
    return graph


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_a_closer_alignment_takes_no_more_edits_and_is_always_the_same(seed, n, m):
    schema = random_schema(seed, max_nodes=8)
    g, h = (graph_of(schema, size, seed + k).trim().pad(8) for k, size in enumerate((n, m)))
    alignment = closer_alignment(g, h, torch.arange(8))
    order = alignment.tolist()
    rest = iter(sorted(set(range(8)) - set(order)))
    again = h.permute(torch.tensor([k if k >= 0 else next(rest) for k in order]))
    total = EditCosts().total
    assert total(edits_between(g, again), schema) <= total(edits_between(g, h), schema) + 1e-5
    assert torch.equal(alignment, closer_alignment(g, h, torch.arange(8)))
