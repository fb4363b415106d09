"""Starts of the alignment: a renumbered copy is aligned at once if colors tell its nodes apart."""

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from graphflip.edits import EditCosts
from graphflip.ged.problem import alignment_problem
from graphflip.ged.search import starting_alignments
from graphflip.testing import random_graph, random_schema


@given(st.integers(0, 2**16), st.integers(4, 9))
def test_a_renumbered_copy_is_aligned_at_once(seed, n):
    graph = random_graph(random_schema(seed), n=n, num_graphs=1, seed=seed).trim()
    assume(len(graph.refinement.colors(4).unique()) == graph.num_slots)
    order = torch.randperm(graph.num_slots, generator=torch.Generator().manual_seed(seed))
    problem = alignment_problem(graph, graph.permute(order), EditCosts())
    assert problem.cost(next(starting_alignments(problem))) == 0
