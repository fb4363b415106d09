"""Counts of environments of graphs with nodes removed are those of the whole graphs."""

import torch

from graphflip import Categories, Graph, Schema
from graphflip.explain.moves.apply import Varied, apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.sketch import Sketch
from graphflip.models.networks.wl import wl_counts, wl_counts_of_variations

SCHEMA = Schema(nodes=(Categories(name="type", values=("a", "b", "c")),), max_nodes=8)


def test_nodes_that_are_gone_are_not_counted():
    path = Graph.build(SCHEMA, [{"type": "abc"[k % 3]} for k in range(7)], [(k, k + 1, {}) for k in range(6)])
    before = Sketch.of(path)
    shorter, shortest = before.copy(), before.copy()
    shorter.remove(6)
    shortest.remove(0)
    shortest.remove(6)
    differences = [Difference.between(before, after) for after in (shorter, shortest)]
    whole = apply_differences(path, differences)
    for rounds in (0, 1, 2):
        found = wl_counts_of_variations(Varied(path).of(differences), rounds, 64)
        assert torch.equal(found, wl_counts(whole, rounds, 64))
        assert found.sum(1).tolist() == [6.0 * (rounds + 1), 5.0 * (rounds + 1)]
