"""Sets in the style of tree-cycles and BA-shapes: the rule decides the class, and the fewest edits are the fewest."""

import pytest
import torch

from graphflip.data.planted.classes import num_rings
from graphflip.data.planted.shapes import ba_shapes, has_house, has_rings, house_answers, ring_answers, tree_cycles
from graphflip.errors import ConfigError
from graphflip.graph import Graph
from graphflip.rivals.edge_weights import pair_list, toggled
from graphflip.schema import Schema


@pytest.mark.parametrize(("draw", "rule"), [(tree_cycles, has_rings), (ba_shapes, has_house)])
def test_the_rule_decides_the_class_and_seeds_decide_the_graphs(draw, rule):
    data = draw(40, seed=3)
    assert rule(data.graphs()).long().tolist() == data.labels.tolist()
    assert data.labels.float().mean() == 0.5
    assert draw(40, seed=3).fingerprint() == data.fingerprint()
    assert draw(40, seed=4).fingerprint() != data.fingerprint()
    with pytest.raises(ConfigError, match="12 <= min_nodes"):
        draw(4, min_nodes=6)


def flips_by_one(graph, rule):
    before = bool(rule(graph)[0])
    return any(bool(rule(toggled(graph, [pair]))[0]) != before for pair in pair_list(graph))


def test_no_fewer_edits_change_the_class():
    trees = tree_cycles(8, seed=1).graphs()
    for k, fewest in enumerate(ring_answers(trees).tolist()):
        assert flips_by_one(trees[k], has_rings) == (fewest == 1)
    shapes = ba_shapes(4, seed=1).graphs()
    for k, fewest in enumerate(house_answers(shapes).tolist()):
        assert fewest == 1
        assert flips_by_one(shapes[k], has_house)


def test_two_rings_take_two_edits():
    graph = next(g for g in tree_cycles(40, seed=0).graphs() if int(num_rings(g)) == 2)
    edges = pair_list(graph, there=True)
    pairs = [(one, other) for k, one in enumerate(edges) for other in edges[k + 1 :]]
    assert any(not bool(has_rings(toggled(graph, list(pair)))[0]) for pair in pairs)


def test_a_house_is_five_nodes_with_a_roof():
    schema = Schema(max_nodes=6)
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    build = lambda edges: Graph.build(schema, [{}] * 6, [(i, j, {}) for i, j in edges])  # noqa: E731
    assert not bool(has_house(build(ring))[0])
    assert bool(has_house(build([*ring, (1, 4)]))[0])
    assert not bool(has_house(build([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]))[0]), "a triangle with a tail is none"
    assert has_house(build(ring)[torch.zeros(0, dtype=torch.long)]).tolist() == []
