"""The planted set: the oracle is right, the motif alone decides, and the least edits are what a search finds."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip import Graph
from graphflip.data import GraphDataset
from graphflip.data.planted.motif import (
    EDGE_TYPES,
    NODE_TYPES,
    answers,
    contains_motif,
    motif_edges,
    motif_nodes,
    planted,
)
from graphflip.errors import ConfigError
from graphflip.testing import assert_batch_free, assert_equivariant, assert_invariant, assert_padding_free, random_graph

SCHEMA = planted(2).schema


@pytest.fixture(scope="module")
def dataset() -> GraphDataset:
    return planted()


def plainly_contains(graph: Graph) -> bool:
    """The definition, word by word."""
    nodes, thick = graph.nodes(), [(i, j) for i, j, edge in graph.edges() if edge["type"] == "thick"]
    for center, node in enumerate(nodes):
        ends = [j if i == center else i for i, j in thick if center in (i, j)]
        if node == {"type": "blue"} and sum(nodes[end] == {"type": "red"} for end in ends) >= 2:
            return True
    return False


def single_edits(graph: Graph) -> list[Graph]:
    """Every graph one edit away: another node type, an edge added, removed or of the other type, a node added.

    Removing a node, which must have lost its edges first, cannot be a step of a shortest path here.
    """
    nodes, edges = graph.nodes(), {(i, j): edge for i, j, edge in graph.edges()}
    n = len(nodes)
    found = []
    for i in range(n):
        found += [([*nodes[:i], {"type": t}, *nodes[i + 1 :]], edges) for t in NODE_TYPES if {"type": t} != nodes[i]]
        for j in range(i + 1, n):
            rest = {pair: edge for pair, edge in edges.items() if pair != (i, j)}
            options = [rest] if (i, j) in edges else []
            options += [rest | {(i, j): {"type": t}} for t in EDGE_TYPES]
            found += [(nodes, option) for option in options if option != edges]
    if n < SCHEMA.max_nodes:
        found += [([*nodes, {"type": t}], edges) for t in NODE_TYPES]
    return [Graph.build(SCHEMA, ns, [(i, j, edge) for (i, j), edge in es.items()]) for ns, es in found]


@given(seed=st.integers(0, 2**16), n=st.integers(1, 7))
def test_the_oracle_is_the_definition(seed, n):
    graph = random_graph(SCHEMA, n=n, num_graphs=6, seed=seed)
    assert contains_motif(graph).tolist() == [plainly_contains(single.trim()) for single in graph]


@given(seed=st.integers(0, 2**16))
def test_oracle_and_answers_obey_the_laws(seed):
    graph = random_graph(SCHEMA, n=6, seed=seed)
    for f in (lambda g: contains_motif(g).float(), lambda g: answers(g).float()):
        assert_invariant(f, graph, seed=seed)
        assert_padding_free(f, graph)
        assert_batch_free(f, graph)
    assert_equivariant(lambda g: motif_nodes(g).float(), graph, seed=seed)


@given(seed=st.integers(0, 2**16), n=st.integers(1, 6))
def test_answers_are_the_length_of_the_shortest_path(seed, n):
    # A count that is 1 exactly where one edit changes the class, and elsewhere 1 more than the least of its neighbors,
    # is the distance that breadth-first search would find.
    graph = random_graph(SCHEMA, n=n, num_graphs=1, seed=seed).trim()
    around = Graph.cat(single_edits(graph))
    flips = contains_motif(around) != contains_motif(graph)
    assert int(answers(graph)) == (1 if bool(flips.any()) else 1 + int(answers(around).min()))


def test_two_motifs_that_share_an_arm_need_one_edit():
    nodes = [{"type": t} for t in ("red", "blue", "red", "blue", "red")]
    chain = Graph.build(SCHEMA, nodes, [(i, i + 1, {"type": "thick"}) for i in range(4)])
    assert int(answers(chain)) == 1
    apart = Graph.build(SCHEMA, nodes[:3] * 2, [(i, i + 1, {"type": "thick"}) for i in (0, 1, 3, 4)])
    assert int(answers(apart)) == 2


def test_every_graph_is_valid_and_labelled_by_the_oracle(dataset):
    graph = dataset.graphs()
    Graph(graph.B, graph.V, graph.A, graph.E, graph.schema)
    assert torch.equal(contains_motif(graph).long(), dataset.labels)
    assert dataset.labels.bincount().tolist() == [300, 300]
    assert (int(dataset.num_nodes.min()), int(dataset.num_nodes.max())) == (8, 16)


def test_positives_have_one_motif_that_one_edit_takes_away(dataset):
    graph = dataset.graphs((dataset.labels == 1).nonzero()[:, 0])
    assert bool((motif_nodes(graph).sum(1) == 3).all())
    assert bool((motif_edges(graph).sum((1, 2)) == 4).all())
    assert bool((answers(graph) == 1).all())


def test_most_negatives_are_near_misses(dataset):
    graph = dataset.graphs((dataset.labels == 0).nonzero()[:, 0])
    assert not bool(motif_nodes(graph).any())
    # Half are made to be, and about three in four of the shuffled ones happen to be.
    assert float((answers(graph) == 1).float().mean()) > 0.82


def test_no_count_tells_the_classes_apart(dataset):
    graph = dataset.graphs()
    counts = torch.cat([graph.V.sum(1), graph.E.sum((1, 2)), graph.num_nodes[:, None]], 1)
    for count in counts.T:
        positive, negative = count[dataset.labels == 1, None], count[dataset.labels == 0]
        auroc = ((positive > negative).float() + 0.5 * (positive == negative).float()).mean()
        assert 0.4 < float(auroc) < 0.6


def test_the_seed_sets_everything():
    assert planted(40, seed=3).fingerprint() == planted(40, seed=3).fingerprint() != planted(40, seed=4).fingerprint()


@pytest.mark.parametrize("num_graphs", [2, 3, 5, 41])
def test_any_number_of_graphs(num_graphs):
    counts = planted(num_graphs, min_nodes=4, max_nodes=5).labels.bincount().tolist()
    assert counts == [num_graphs // 2, num_graphs - num_graphs // 2]


def test_impossible_sizes_are_refused():
    with pytest.raises(ConfigError, match=r"4 <= min_nodes <= max_nodes; got .* min_nodes=9, max_nodes=8"):
        planted(min_nodes=9, max_nodes=8)
