"""The edit distance from g to h is that from h to g with the prices of adding and removing exchanged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.edits import EditCosts
from graphflip.ged.distance import graph_edit_distance
from graphflip.testing import random_graph, random_schema

PRICES = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0])


@settings(max_examples=40)
@given(seed=st.integers(0, 2**16), n=st.integers(0, 4), m=st.integers(0, 4), prices=st.tuples(*[PRICES] * 4))
def test_swapping_the_graphs_swaps_the_prices(seed, n, m, prices):
    add_node, remove_node, add_edge, remove_edge = prices
    rest = {"set_node": min(1.0, add_node + remove_node), "set_edge": min(0.5, add_edge + remove_edge)}
    there = EditCosts(add_node=add_node, remove_node=remove_node, add_edge=add_edge, remove_edge=remove_edge, **rest)
    back = EditCosts(add_node=remove_node, remove_node=add_node, add_edge=remove_edge, remove_edge=add_edge, **rest)
    schema = random_schema(seed)
    g, h = (random_graph(schema, n=size, num_graphs=1, seed=seed + k) for k, size in enumerate((n, m)))
    one = graph_edit_distance(g, h, costs=there, time_limit=5.0)
    other = graph_edit_distance(h, g, costs=back, time_limit=5.0)
    assert one.exact
    assert other.exact
    assert one.upper == pytest.approx(other.upper, abs=1e-4)
    assert one.lower <= there.total(one.edits, g.schema) + 1e-6


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), prices=st.tuples(*[PRICES] * 4))
def test_swapping_holds_for_bounds_without_a_proof(seed, prices):
    """The larger graph comes second inside: prices of edges, too, change places on the way there."""
    add_node, remove_node, add_edge, remove_edge = prices
    rest = {"set_node": min(1.0, add_node + remove_node), "set_edge": min(0.5, add_edge + remove_edge)}
    there = EditCosts(add_node=add_node, remove_node=remove_node, add_edge=add_edge, remove_edge=remove_edge, **rest)
    back = EditCosts(add_node=remove_node, remove_node=add_node, add_edge=remove_edge, remove_edge=add_edge, **rest)
    schema = random_schema(seed)
    g, h = (random_graph(schema, n=size, num_graphs=1, seed=seed + k) for k, size in enumerate((8, 5)))
    one = graph_edit_distance(g, h, costs=there, time_limit=0.0)
    other = graph_edit_distance(h, g, costs=back, time_limit=0.0)
    assert (one.lower, one.upper) == (pytest.approx(other.lower, abs=1e-4), pytest.approx(other.upper, abs=1e-4))
