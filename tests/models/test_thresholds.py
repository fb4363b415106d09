"""A tree goes left at its threshold and right above it, and every way down ends in a leaf."""

import pytest
import torch

from graphflip import Schema
from graphflip.errors import ModelFileError
from graphflip.models.networks.trees import TreeClassifier, TreesConfig

LEFT_OR_RIGHT = [[1, 2], [1, 1], [2, 2]]


def one_tree(child=LEFT_OR_RIGHT):
    trees = TreeClassifier(Schema(max_nodes=3), TreesConfig(features="wl", num_trees=1, num_nodes=3, bins=4))
    trees.feature.fill_(2)
    trees.threshold.fill_(1.0)
    trees.child.copy_(torch.tensor([child]))
    trees.value.copy_(torch.tensor([[0.0, -5.0, 5.0]]))
    return trees


def test_a_tree_goes_left_at_its_threshold():
    counts = torch.zeros(3, 4)
    counts[:, 2] = torch.tensor([0.0, 1.0, 2.0])
    assert one_tree().head(counts)[:, 1].tolist() == [-5.0, -5.0, 5.0]


@pytest.mark.parametrize("root", [[0, 1], [1, 0], [1, 3], [0, 0], [2, 1]])
def test_a_node_is_a_leaf_or_goes_down_on_both_sides(root):
    stored = one_tree([root, *LEFT_OR_RIGHT[1:]]).state_dict()
    if root in ([0, 0], [2, 1]):
        one_tree().load_state_dict(stored)
        return
    with pytest.raises(ModelFileError, match="children of larger numbers"):
        one_tree().load_state_dict(stored)
