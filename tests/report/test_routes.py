"""Routes: edges keep away from nodes, and end where they are cut."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.report.draw.routes import arc, cut, distance, free_arc, length, middle

POINTS = st.tuples(st.integers(-90, 90), st.integers(-90, 90)).map(lambda point: (float(point[0]), float(point[1])))


@given(a=POINTS, b=POINTS, others=st.lists(POINTS, max_size=4))
def test_edges_run_around_nodes_where_there_is_room(a, b, others):
    assume(abs(complex(*a) - complex(*b)) > 40)
    others = [point for point in others if min(abs(complex(*point) - complex(*end)) for end in (a, b)) > 30]
    route = free_arc(a, b, np.array(others).reshape(-1, 2), 10.0)
    assert route[0] == pytest.approx(a, abs=1e-6)
    assert route[-1] == pytest.approx(b, abs=1e-6)
    gap = distance(route, np.array(others).reshape(-1, 2))
    assert gap >= min(10.0, distance((a, b), np.array(others).reshape(-1, 2)))
    if len(others) == 1:
        assert gap >= 10


@given(a=POINTS, b=POINTS, height=st.integers(-40, 40), ends=st.tuples(st.integers(0, 80), st.integers(0, 80)))
def test_routes_are_cut_at_both_ends(a, b, height, ends):
    assume(abs(complex(*a) - complex(*b)) > 1)
    route = arc(a, b, float(height))
    whole, shorter = length(route), cut(route, *map(float, ends))
    assert length(shorter) == pytest.approx(max(whole - sum(ends), 0.1 * whole), abs=1e-3)
    assert abs(distance(route, np.array([middle(route)]))) < 1e-6
