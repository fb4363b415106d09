"""Geometric graphs: labels follow the rule, and known answers are reached by as many edits as they count."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.planted.geometric import CLASSES, FENCE, SLACK, answers, displaced, geometric, slack, true_class
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError
from graphflip.graph import Graph

DATASET = geometric(num_graphs=36, seed=3, min_nodes=20, max_nodes=40)


def test_labels_follow_the_rule():
    graphs = DATASET.graphs()
    assert true_class(graphs).tolist() == DATASET.labels.tolist()
    assert DATASET.labels.bincount().tolist() == [6] * len(CLASSES)
    assert 20 <= int(DATASET.num_nodes.min()) <= int(DATASET.num_nodes.max()) <= 40
    assert bool((graphs.num_edges >= graphs.num_nodes - 1).all())


def put(graph: Graph, part: str, at, value: float) -> Graph:
    B, V, A, E = graph.B, graph.V.clone(), graph.A, graph.E.clone()
    {"V": V, "E": E}[part][at] = value
    return Graph.trusted(B, V, A, E, graph.schema)


@settings(max_examples=20)
@given(index=st.integers(0, 35), target=st.integers(0, 5))
def test_as_many_edits_as_the_answer_says_lead_to_the_target(index, target):
    graph = DATASET.graphs([index])
    edits, wanted, slacker = int(answers(graph, target)), *divmod(target, 2)
    done = 0
    while (count := int(displaced(graph).sum())) != wanted and not (wanted == 2 and count > 2):
        nodes = displaced(graph)[0] if count > wanted else (graph.B[0] > 0.5) & ~displaced(graph)[0]
        value = FENCE - 0.5 if count > wanted else FENCE + 0.5
        graph, done = put(graph, "V", (0, int(nodes.nonzero()[0, 0]), 0), value), done + 1
    while bool(slack(graph).any()) != bool(slacker):
        i, j = (slack(graph)[0] if not slacker else graph.A[0] > 0.5).nonzero()[0].tolist()
        value = SLACK - 1 if not slacker else SLACK + 1
        graph, done = put(put(graph, "E", (0, i, j, 0), value), "E", (0, j, i, 0), value), done + 1
    assert int(true_class(graph)) == target
    assert done == edits


def test_an_answer_is_zero_for_the_own_class_alone():
    graphs, labels = DATASET.graphs(), DATASET.labels
    for target in range(len(CLASSES)):
        assert torch.equal(answers(graphs, target) == 0, labels == target)


def test_sizes_are_checked():
    with pytest.raises(ConfigError, match="8 <= min_nodes"):
        geometric(num_graphs=4, min_nodes=3)
    assert planted(num_graphs=4).schema != DATASET.schema
