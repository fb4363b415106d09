"""Which pairs may be joined and which edges may be cut, against slow and obvious answers."""

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.explain.moves.connectivity import PARTNERS, bridges, neighbors, partners
from graphflip.explain.moves.fragments import groups
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.schema import Schema


@st.composite
def edge_lists(draw):
    n = draw(st.integers(1, 9))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=14))
    return n, [(i, j) for i, j in pairs if i != j]


def sketch_of(n, pairs, directed=False):
    sketch = Sketch(dict.fromkeys(range(n), ()), {i: {} for i in range(n)}, directed)
    for i, j in pairs:
        sketch.join(i, j, ())
    return sketch


def hops(sketch, start):
    """Number of edges to every node that can be reached."""
    found, todo = {start: 0}, deque([start])
    while todo:
        i = todo.popleft()
        for j in sketch.around(i):
            if j not in found:
                found[j] = found[i] + 1
                todo.append(j)
    return found


@given(edge_lists(), st.booleans())
def test_a_bridge_is_an_edge_without_a_way_round(graph, directed):
    n, pairs = graph
    sketch = sketch_of(n, pairs, directed)
    joined = {(i, j) for i in sketch.nodes for j in sketch.around(i)}
    assert bridges(sketch) == {(i, j) for i, j in joined if j not in sketch.reach(i, block=j)}


@given(edge_lists(), st.booleans())
def test_neighbors_are_those_of_each_node(graph, directed):
    n, pairs = graph
    sketch = sketch_of(n, pairs, directed)
    around = neighbors(sketch)
    assert {i: sorted(others) for i, others in around.items()} == {i: sorted(sketch.around(i)) for i in sketch.nodes}


@given(edge_lists(), st.integers(1, 4))
def test_partners_are_the_nearest_and_see_each_other(graph, most):
    sketch = sketch_of(*graph)
    nodes = list(sketch.nodes)
    found = partners(sketch, nodes, most)
    assert list(found) == nodes
    if len(nodes) <= most + 1:
        assert all(others == nodes for others in found.values())
        return
    for i, others in found.items():
        assert list(others) == sorted(set(others) - {i})
        assert all(i in found[j] for j in others)
        far = hops(sketch, i)
        strangers = sorted((far.get(j, 99), j) for j in nodes if j != i and j not in sketch.near[i])
        assert len(set(others) - set(sketch.near[i])) >= min(most, len(strangers))
        if len(strangers) > most:
            limit = strangers[most - 1][0]
            assert {j for hop, j in strangers if hop < limit} <= set(others)


@settings(max_examples=5)
@given(st.integers(2, 8))
def test_hydrogens_are_passed_through_but_are_no_partners(most):
    sketch = sketch_of(21, [(i, i + 1) for i in range(20)])
    even = list(range(0, 21, 2))
    found = partners(sketch, even, most)
    assert all(set(others) <= set(even) for others in found.values())
    assert 4 in found[0]


@pytest.mark.parametrize("directed", [False, True])
def test_moves_of_large_graphs_grow_with_the_graph(directed):
    counts = {}
    for n in (PARTNERS + 1, 2 * PARTNERS, 4 * PARTNERS):
        schema = Schema(max_nodes=n, directed=directed)
        graph = Graph.build(schema, [{}] * n, [(i, i + 1, {}) for i in range(n - 1)])
        moves = Moves(schema).valid(graph)
        counts[n] = sum(move.kind == "add edge" for move in moves)
    assert counts[PARTNERS + 1] == (PARTNERS * (PARTNERS - 1) // 2 + directed * PARTNERS * (PARTNERS + 1) // 2)
    assert counts[4 * PARTNERS] < 2.5 * counts[2 * PARTNERS]
    assert counts[4 * PARTNERS] > 4 * PARTNERS * PARTNERS / 2


@given(edge_lists())
def test_groups_hang_on_one_edge_and_are_no_larger_than_asked(listed):
    sketch = sketch_of(*listed)
    hanging = {}
    for anchor in sketch.nodes:
        for root in sketch.around(anchor):
            side = sketch.reach(root, block=anchor)
            if anchor not in side:
                hanging[anchor, root] = side
    for limit in range(1, 10):
        found = {(anchor, root): members for anchor, root, members in groups(sketch, list(sketch.nodes), limit)}
        assert found == {edge: side for edge, side in hanging.items() if len(side) <= limit}
