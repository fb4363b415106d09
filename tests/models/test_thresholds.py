"""A tree goes left at its threshold and right above it, as the trees that are grown do."""

import torch

from graphflip import Schema
from graphflip.models.networks.trees import TreeClassifier, TreesConfig


def test_a_tree_goes_left_at_its_threshold():
    trees = TreeClassifier(Schema(max_nodes=3), TreesConfig(features="wl", num_trees=1, num_nodes=3, bins=4))
    trees.feature.fill_(2)
    trees.threshold.fill_(1.0)
    trees.child.copy_(torch.tensor([[[1, 2], [1, 1], [2, 2]]]))
    trees.value.copy_(torch.tensor([[0.0, -5.0, 5.0]]))
    counts = torch.zeros(3, 4)
    counts[:, 2] = torch.tensor([0.0, 1.0, 2.0])
    assert trees.head(counts)[:, 1].tolist() == [-5.0, -5.0, 5.0]
