"""Sets with known answers: six classes with a continuous attribute, and directed graphs with weights."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.planted import classes as classes
from graphflip.data.planted import relays as relays
from graphflip.data.tu.reading import load_tu
from graphflip.data.tu.writing import write_tu
from graphflip.errors import ConfigError
from graphflip.graph import Graph
from graphflip.testing import assert_batch_free, assert_invariant, assert_padding_free

SIX = classes.planted_classes(60, seed=2, min_nodes=5, max_nodes=7)
TWO = relays.planted_relays(40, seed=2, min_nodes=4, max_nodes=6)


def neighbors(graph: Graph, numbers: list[float]) -> Graph:
    """Every graph one edit away: a number set to one of these, an edge more or less, a node more; without a node that
    has no edges."""
    schema, nodes, edges = graph.schema, graph.nodes(), {(i, j): label for i, j, label in graph.edges()}
    names = [column.name for column in schema.nodes], [column.name for column in schema.edges]
    found = []
    for i in range(len(nodes)):
        found += [([*nodes[:i], {name: x}, *nodes[i + 1 :]], edges) for name in names[0] for x in numbers]
        for j in range(len(nodes)):
            if i < j or (schema.directed and i != j):
                rest = {pair: label for pair, label in edges.items() if pair != (i, j)}
                labels = [{name: x} for name in names[1] for x in numbers] or [{}]
                found += [(nodes, rest)] + [(nodes, rest | {(i, j): label}) for label in labels]
    if len(nodes) < schema.max_nodes:
        found += [([*nodes, dict.fromkeys(names[0], x)], edges) for x in numbers]
    built = [Graph.build(schema, ns, [(i, j, label) for (i, j), label in es.items()]) for ns, es in found]
    return Graph.cat([one.pad(schema.max_nodes) for one in built])


@given(st.integers(0, 59), st.integers(0, 5))
def test_one_edit_is_enough_where_the_answer_says_so(k, target):
    graph = SIX.graphs([k])
    reached = bool((classes.true_class(neighbors(graph, [0.0, 2.0])) == target).any())
    answer = int(classes.answers(graph, target))
    assert (answer == 0) == (int(SIX.labels[k]) == target)
    assert reached == (answer == 1) or answer == 0


@given(st.integers(0, 39))
def test_one_edit_changes_relays_where_the_answer_says_so(k):
    graph = TWO.graphs([k])
    around = neighbors(graph, [0.1, 0.9])
    reached = bool((relays.true_class(around) != TWO.labels[k]).any())
    assert reached == (int(relays.answers(graph)) == 1)
    if not reached:
        assert bool((relays.answers(around) == int(relays.answers(graph)) - 1).any())


@pytest.mark.parametrize(("dataset", "rule"), [(SIX, classes.true_class), (TWO, relays.true_class)])
def test_labels_are_the_rule_and_the_rule_is_of_the_graph(dataset, rule):
    graph = dataset.graphs()
    assert torch.equal(rule(graph), dataset.labels)
    assert len(dataset.labels.bincount()) == len(dataset.classes)
    assert int(dataset.labels.bincount().min()) >= len(dataset) // len(dataset.classes)
    small = graph[(graph.num_nodes <= graph.schema.max_nodes - 2).nonzero()[:, 0]].trim()  # there must be room to pad
    for law in (assert_invariant, assert_padding_free, assert_batch_free):
        law(lambda one: rule(one).float(), small)


@pytest.mark.parametrize(
    ("make", "smallest"), [(classes.planted_classes, 5), (relays.planted_relays, 3)], ids=["classes", "relays"]
)
def test_the_seed_sets_everything_and_sizes_are_checked(make, smallest):
    assert make(12, seed=4).fingerprint() == make(12, seed=4).fingerprint() != make(12, seed=5).fingerprint()
    with pytest.raises(ConfigError, match="min_nodes"):
        make(12, min_nodes=smallest - 1)
    with pytest.raises(ConfigError, match="0 graphs"):
        make(0)


def test_turning_edges_round_changes_the_class():
    graph = Graph.build(TWO.schema, [{}] * 3, [(0, 1, {"weight": 0.9}), (1, 2, {"weight": 0.9})])
    turned = Graph.build(TWO.schema, [{}] * 3, [(0, 1, {"weight": 0.9}), (2, 1, {"weight": 0.9})])
    assert (int(relays.true_class(graph)), int(relays.true_class(turned))) == (1, 0)


def test_node_attributes_of_tu_folders_are_read(tmp_path):
    write_tu(SIX, tmp_path)
    again = load_tu(tmp_path)
    torch.testing.assert_close(again.V, SIX.V)
    assert torch.equal(again.edges, SIX.edges)
    assert torch.equal(again.labels, SIX.labels)
    assert [column.kind for column in again.schema.nodes] == ["continuous"]
