"""Graph: equality and hash ignore the order of nodes and nothing else."""

import dataclasses

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.graph import Graph
from graphflip.schema import Categories, Schema
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
TYPE = Categories(name="type", values=("C", "O"))
BOND = Categories(name="bond", values=("single", "double"))
SCHEMA = Schema(nodes=(TYPE,), edges=(BOND,), max_nodes=6)
PLAIN = Schema(max_nodes=16)


def random_order(n, seed):
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))


def from_networkx(graph, schema=PLAIN):
    number = {node: i for i, node in enumerate(graph)}
    return Graph.build(schema, [{} for _ in graph], [(number[i], number[j], {}) for i, j in graph.edges])


@given(n=st.integers(0, 7), seed=SEEDS, relaxed=st.booleans())
def test_equality_and_hash_ignore_order_padding_and_precision(n, seed, relaxed):
    graph = random_graph(random_schema(seed), n=n, seed=seed, relaxed=relaxed)
    other = graph.pad(n + 2).permute(random_order(n + 2, seed)).to(torch.float64)
    assert graph == other
    assert hash(graph) == hash(other)


@given(n=st.integers(1, 7), seed=SEEDS, relaxed=st.booleans())
def test_any_difference_makes_graphs_unequal(n, seed, relaxed):
    graph = random_graph(n=n, num_graphs=1, seed=seed, relaxed=relaxed).trim()
    if graph.num_slots == 0:
        return
    V = graph.V.clone()
    V[0, 0, -1] += 1.0
    assert graph != dataclasses.replace(graph, V=V)
    V = graph.V.clone()
    V[0, 0, :3] = V[0, 0, :3].roll(1)
    if Graph(graph.B, V, graph.A, graph.E, graph.schema).nodes() != graph.nodes():
        assert graph != dataclasses.replace(graph, V=V)


def test_relaxed_graphs_compare_by_their_probabilities():
    graph = random_graph(Schema(nodes=(TYPE,), max_nodes=4), n=3, num_graphs=1, seed=1, relaxed=True)
    V = graph.V.clone()
    V[..., 0], V[..., 1] = 0.9 * graph.B, 0.1 * graph.B
    first = dataclasses.replace(graph, V=V)
    V = V.clone()
    V[..., 0], V[..., 1] = 0.8 * graph.B, 0.2 * graph.B
    assert first != dataclasses.replace(graph, V=V)
    assert first.nodes() == dataclasses.replace(graph, V=V).nodes()


def test_relaxed_graphs_compare_by_how_far_nodes_exist():
    empty = from_networkx(nx.empty_graph(2))
    half, full = (Graph(torch.full((1, 2), p), empty.V, empty.A, empty.E, PLAIN) for p in (0.6, 1.0))
    assert half != full
    assert half == half.permute(torch.tensor([1, 0]))


def test_graphs_differ_from_other_schemas_lengths_and_things():
    def path_of_three(schema):
        nodes = [{"type": "C"}, {"type": "C"}, {"type": "O"}]
        return Graph.build(schema, nodes, [(0, 1, {"bond": "single"}), (1, 2, {"bond": "double"})]).pad(4)

    graph = path_of_three(SCHEMA)
    assert graph != path_of_three(SCHEMA.model_copy(update={"max_nodes": 9}))
    assert graph != Graph.cat([graph, graph])
    assert graph != "C-C=O"
    assert len({graph, graph.trim(), path_of_three(SCHEMA)}) == 1


def test_names_with_separators_are_not_confused():
    columns = tuple(Categories(name=name, values=("a", "b", "a|b", "a b")) for name in ("first", "second"))
    schema = Schema(nodes=columns, max_nodes=2)
    graphs = [
        Graph.build(schema, [{"first": x, "second": y}], []) for x in columns[0].values for y in columns[0].values
    ]
    assert len(set(graphs)) == 16


REGULAR = {
    "two triangles": nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)),
    "hexagon": nx.cycle_graph(6),
    "prism": nx.circular_ladder_graph(3),
    "K33": nx.complete_bipartite_graph(3, 3),
    "cube": nx.hypercube_graph(3),
    "Wagner graph": nx.circulant_graph(8, [1, 4]),
    "two squares": nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(4)),
    "octagon": nx.cycle_graph(8),
    "rook's graph": nx.line_graph(nx.complete_bipartite_graph(4, 4)),
    "Shrikhande graph": nx.from_edgelist(
        ((a, b), ((a + i) % 4, (b + j) % 4)) for a in range(4) for b in range(4) for i, j in ((1, 0), (0, 1), (1, 1))
    ),
}


@pytest.mark.parametrize("first", REGULAR)
@pytest.mark.parametrize("second", REGULAR)
def test_regular_graphs_are_told_apart(first, second):
    g, h = from_networkx(REGULAR[first]), from_networkx(REGULAR[second])
    h = h.permute(random_order(h.num_slots, 5))
    assert (g == h) == (first == second)


def test_the_regular_graphs_defeat_color_refinement():
    assert hash(from_networkx(REGULAR["two triangles"])) == hash(from_networkx(REGULAR["hexagon"]))
    assert hash(from_networkx(REGULAR["rook's graph"])) == hash(from_networkx(REGULAR["Shrikhande graph"]))


@given(st.data(), st.integers(1, 5), st.booleans())
def test_equality_agrees_with_networkx(data, n, directed):
    schema = Schema(nodes=(TYPE,), edges=(BOND,), max_nodes=5, directed=directed)
    pairs = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]

    def draw():
        types = data.draw(st.lists(st.sampled_from("CO"), min_size=n, max_size=n))
        bonds = data.draw(
            st.lists(st.sampled_from([None, "single", "double"]), min_size=len(pairs), max_size=len(pairs))
        )
        edges = [(i, j, {"bond": bond}) for (i, j), bond in zip(pairs, bonds, strict=True) if bond]
        other = nx.DiGraph() if directed else nx.Graph()
        other.add_nodes_from((i, {"type": kind}) for i, kind in enumerate(types))
        other.add_edges_from(edges)
        return Graph.build(schema, [{"type": kind} for kind in types], edges), other

    (g, g_nx), (h, h_nx) = draw(), draw()
    assert (g == h) == nx.is_isomorphic(g_nx, h_nx, dict.__eq__, dict.__eq__)
