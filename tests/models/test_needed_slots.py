"""Slots that a decoder leaves out are those that no graph of the batch has a node in."""

import torch

from graphflip.models.networks.decode import MostLikely, Soft, needed_slots


def test_slots_that_no_graph_needs_are_left_out():
    B = torch.tensor([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    with torch.no_grad():
        assert needed_slots(B, MostLikely()).tolist() == [0, 2, 3]
        assert needed_slots(B[:1], MostLikely()).tolist() == [0, 3]
        assert needed_slots(torch.ones(2, 3), MostLikely()) is None
        assert needed_slots(torch.zeros(2, 3), MostLikely()) is None
        assert needed_slots(B, Soft()) is None
    assert needed_slots(B, MostLikely()) is None
