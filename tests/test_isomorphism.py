"""Isomorphism: the mapping is one, colors respect it, and the answer is that of trying every order."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflip.coloring.isomorphism import color_refinement, find_isomorphism, isomorphic


@st.composite
def plain_graphs(draw, directed, max_nodes=5):
    n = draw(st.integers(0, max_nodes))
    labels = draw(st.lists(st.sampled_from(["", "a", "b"]), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]
    kinds = draw(st.lists(st.sampled_from([None, None, "", "x"]), min_size=len(pairs), max_size=len(pairs)))
    return labels, [(i, j, kind) for (i, j), kind in zip(pairs, kinds, strict=True) if kind is not None]


def renumber(graph, order):
    """Node i becomes node order[i]."""
    labels = [""] * len(order)
    for i, k in enumerate(order):
        labels[k] = graph[0][i]
    return labels, [(order[i], order[j], label) for i, j, label in graph[1]]


def canonical(graph, directed):
    return graph[0], {(i, j, label) if directed else (frozenset((i, j)), label) for i, j, label in graph[1]}


@pytest.mark.parametrize("directed", [False, True])
@given(st.data())
def test_a_renumbered_graph_is_recognized(directed, data):
    g = data.draw(plain_graphs(directed, max_nodes=8))
    h = renumber(g, data.draw(st.permutations(range(len(g[0])))))
    image = find_isomorphism(g, h, directed)
    assert image is not None
    assert canonical(renumber(g, image), directed) == canonical(h, directed)


@pytest.mark.parametrize("directed", [False, True])
@given(st.data())
def test_colors_travel_with_nodes(directed, data):
    g = data.draw(plain_graphs(directed, max_nodes=8))
    order = data.draw(st.permutations(range(len(g[0]))))
    before, after = color_refinement(*g, directed=directed), color_refinement(*renumber(g, order), directed=directed)
    assert [after[k] for k in order] == before


@pytest.mark.parametrize("directed", [False, True])
@given(st.data())
def test_agrees_with_trying_every_order(directed, data):
    g, h = data.draw(plain_graphs(directed, 4)), data.draw(plain_graphs(directed, 4))
    target = canonical(h, directed)
    orders = permutations(range(len(g[0]))) if len(g[0]) == len(h[0]) else ()
    assert isomorphic(g, h, directed) == any(canonical(renumber(g, order), directed) == target for order in orders)


def test_refinement_goes_on_until_it_is_stable():
    """On a path of nine a color is the distance from the nearer end."""
    colors = color_refinement(["a"] * 9, [(i, i + 1, "x") for i in range(8)])
    assert len(set(colors)) == 5
    assert colors == colors[::-1]


def test_direction_matters():
    source, sink = [(0, 1, "x"), (0, 2, "x")], [(1, 0, "x"), (2, 0, "x")]
    labels = ["a"] * 3
    assert not isomorphic((labels, source), (labels, sink), directed=True)
    assert isomorphic((labels, source), (labels, sink), directed=False)


def test_two_arrows_with_labels_swapped_are_the_same_pair():
    assert isomorphic((["a", "a"], [(0, 1, "x"), (1, 0, "y")]), (["a", "a"], [(0, 1, "y"), (1, 0, "x")]), directed=True)


def test_backtracking_finds_what_the_first_choice_misses():
    """Every node has the same color, so only the search can tell a cycle of nine from three triangles."""
    nine = (["a"] * 9, [(i, (i + 1) % 9, "x") for i in range(9)])
    triangles = (["a"] * 9, [(i, i - i % 3 + (i + 1) % 3, "x") for i in range(9)])
    assert set(color_refinement(*nine)) == set(color_refinement(*triangles))
    assert not isomorphic(nine, triangles)


def test_large_symmetric_graphs_are_fast():
    """A star of 300 leaves and a ring of 300: as many automorphisms as can be, and deep search."""
    star = (["a"] * 301, [(0, i, "x") for i in range(1, 301)])
    ring = (["a"] * 300, [(i, (i + 1) % 300, "x") for i in range(300)])
    assert isomorphic(star, renumber(star, list(reversed(range(301)))))
    assert isomorphic(ring, renumber(ring, [(7 * i + 3) % 300 for i in range(300)]))
