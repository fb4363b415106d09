"""Classifiers that graphflip did not train, and a small planted dataset to fit kits on."""

import torch

from graphflip.data.planted.motif import planted
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.schema import Schema

QUICK = 1e-3  # minutes: one epoch for each model
PLANTED = planted(num_graphs=40, seed=5, min_nodes=4, max_nodes=6)


class EdgeCounter(AbstractClassifier):
    """Classes by the number of edges: a classifier that graphflip did not train."""

    def __init__(self, schema: Schema, num_classes: int = 2):
        super().__init__()
        self.schema, self.num_classes = schema, num_classes

    def embed(self, graph):
        return graph.num_edges[:, None]

    def head(self, embedding):
        return torch.cat([(embedding - 4.5) * k for k in range(self.num_classes)], 1)


class Edges(EdgeCounter):
    """Predicts a value: the number of edges."""

    def head(self, embedding):
        return embedding.float()
