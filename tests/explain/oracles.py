"""Classifiers that are right by construction."""

import torch

from graphflip.data.planted import answers, contains_motif
from graphflip.models.classifier import AbstractClassifier


class SignedDistance(AbstractClassifier):
    """Whether the motif of the planted set is in a graph; surer the more edits it would take to change that."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        distance = answers(graph).float() - 0.5
        return torch.where(contains_motif(graph), distance, -distance)[:, None]

    def head(self, embedding):
        return torch.cat([-embedding, embedding], 1)


class CountsType(AbstractClassifier):
    """Whether a graph has at least so many nodes of a type; each one more makes it surer."""

    def __init__(self, schema, value, enough):
        super().__init__()
        self.schema, self.column, self.enough = schema, schema.nodes[0].values.index(value), enough

    def embed(self, graph):
        return graph.V[..., self.column].sum(1, keepdim=True) - self.enough + 0.5

    def head(self, embedding):
        return torch.cat([-embedding, embedding], 1)
