"""Laws of representative graphs: bounds that hold, the wanted class, nearness that is proved."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.edits import EditCosts
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch
from graphflip.ged.problem import alignment_problem
from graphflip.summary.graphs.alignment import align_pairs
from graphflip.summary.graphs.codes import Codebook, edits_between
from graphflip.summary.graphs.frames import CodeChange, Frame, all_changes, applied
from graphflip.summary.graphs.nearness import Profiles
from graphflip.summary.graphs.representatives import RepresentativeSearch
from graphflip.testing import random_graph

from .models import Rule, explainer_of


def coded(*graphs):
    slots = max(graph.num_slots for graph in graphs)
    return Codebook().read([Sketch.of(graph) for graph in graphs], slots)


def one_graph(n, seed):
    """A graph with a node or more, nodes in the first slots."""
    graph = random_graph(n=n, seed=seed, num_graphs=1).trim()
    return graph if graph.num_slots else one_graph(n + 1, seed + 1)


@given(n=st.integers(1, 5), m=st.integers(1, 5), seed=st.integers(0, 2**16))
@settings(max_examples=25)
def test_alignments_are_upper_bounds_and_counts_lower_bounds(n, m, seed):
    one, other = (one_graph(size, start).pad(8) for size, start in ((n, seed), (m, seed + 1)))
    graphs = coded(one, other)
    found = align_pairs(graphs[[0]], graphs[[1]], np.zeros(1))
    small, large = sorted((one.trim(), other.trim()), key=lambda graph: graph.num_slots)
    everywhere = brute_force(alignment_problem(small, large, EditCosts()))
    assert found.edits[0] >= everywhere - 1e-9
    assert Profiles(graphs[[1]]).at_least(Profiles(graphs[[0]]))[0, 0] <= found.edits[0]
    assert edits_between(graphs[[0]], graphs[[1]].reordered(found.images))[0] == found.edits[0]


def brute_force(problem):
    """The least cost of all alignments."""
    return min(problem.cost(np.array(image)) for image in permutations(range(problem.n)))


@given(n=st.integers(2, 7), seed=st.integers(0, 2**16))
@settings(max_examples=15)
def test_most_reordered_copies_are_found_to_be_equal(n, seed):
    graph = one_graph(n, seed).pad(8)
    order = torch.randperm(graph.num_slots, generator=torch.Generator().manual_seed(seed))
    graphs = coded(graph, graph.permute(order))
    assert align_pairs(graphs[[0]], graphs[[1]], np.zeros(1)).edits[0] <= 2


@given(seed=st.integers(0, 2**16))
@settings(max_examples=15)
def test_the_lookup_of_a_change_is_what_making_it_gives(seed):
    """For every change of a center, slack after it is the one of the frame that is made with it."""
    graphs = coded(*(one_graph(5, seed + k).pad(8) for k in range(4)))
    frame = Frame.around(graphs[[0]], graphs[[1, 2, 3]], 0.2)
    changes = all_changes(frame)
    told = frame.slack_after(changes)
    for change, slack in zip(changes, told, strict=True):
        assert np.allclose(frame.changed(change).slack, slack), change


def test_codes_go_there_and_back():
    graph = one_graph(6, 3).pad(8)
    book = Codebook()
    graphs = book.read([Sketch.of(graph)], graph.num_slots)
    again = book.sketch(graphs, 0)
    assert (again.nodes, again.near) == (Sketch.of(graph).nodes, Sketch.of(graph).near)
    gone = applied(graphs, [CodeChange(((0, 0),))])
    assert gone.num_nodes[0] == graphs.num_nodes[0] - 1


@pytest.fixture(scope="module")
def search():
    explainer, dataset = explainer_of(Rule, 24)
    with_motif = [graph for graph in dataset.graphs() if explainer.kit.classifier(graph)[0].argmax() == 1]
    moves = Moves(explainer.kit.schema, explainer.kit.knowledge.vocabulary)
    return RepresentativeSearch(with_motif, explainer.kit.classifier, ClassGoal(0), 0.15, moves)


def test_representatives_are_of_the_class_and_near(search):
    found = search.search(2)
    assert found.graphs
    for graph, near in zip(found.graphs, found.near, strict=True):
        assert search.goal.reached(search.classifier(graph))[0]
        distances = search.distances([graph], np.flatnonzero(near).tolist())
        assert (distances <= search.theta + 1e-9).all()
        assert near.any()


def test_kinds_of_edges_can_be_left_out(search):
    plain = RepresentativeSearch(search.inputs, search.classifier, search.goal, 0.15, kinds=False)
    graphs = search.inputs[:2]
    with_kinds, without = (one.distances(graphs, list(range(len(one.inputs)))) for one in (search, plain))
    assert (without <= with_kinds + 0.1).all()
    assert without.sum() <= with_kinds.sum()
