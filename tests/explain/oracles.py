"""Classifiers that are right by construction."""

import torch

from graphflip.data.planted.classes import HOT, hot_nodes, num_rings
from graphflip.data.planted.motif import answers, contains_motif
from graphflip.data.planted.relays import STRONG, relays
from graphflip.models.networks.classifier import AbstractClassifier


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


class Edges(AbstractClassifier):
    """The number of edges as a value; with more outputs, the class of that number, surer the nearer it is."""

    def __init__(self, schema, num_outputs):
        super().__init__()
        self.schema, self.num_outputs = schema, num_outputs

    def embed(self, graph):
        return graph.A.sum((1, 2))[:, None] / (1 if graph.schema.directed else 2)

    def head(self, embedding):
        if self.num_outputs == 1:
            return embedding
        return -((embedding - torch.arange(self.num_outputs)) ** 2)


class SixClasses(AbstractClassifier):
    """The classes of `planted_classes`; each is surer the fewer and the smaller the changes are that lead to it."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        over = (graph.V[..., 0] - HOT) * graph.B
        too_hot = (over.clamp(min=0) + hot_nodes(graph)).sum(1)
        too_cold = (-torch.where(graph.B > 0.5, over, -9.0).amax(1)).clamp(min=0) + (too_hot == 0)
        rings = num_rings(graph)
        more = torch.stack([rings.float(), (rings - 1).abs().float(), (2 - rings).clamp(min=0).float()], 1)
        return 2 * torch.stack([more + too_hot[:, None], more + too_cold[:, None]], 2).flatten(1)

    def head(self, embedding):
        return -embedding


class Relays(AbstractClassifier):
    """The classes of `planted_relays`, surer the farther weights are from what would change them."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph):
        over = torch.where(graph.A > 0.5, graph.E[..., 0], 0.0) - STRONG
        into, out = over.amax(1), over.amax(2)
        short = ((-into).clamp(min=0) + (-out).clamp(min=0) + 9 * (graph.B < 0.5)).amin(1)
        beyond = torch.minimum(into, out).clamp(min=0).sum(1)
        return 4 * torch.where(relays(graph).any(1), 0.1 + beyond, -0.1 - short)[:, None]

    def head(self, embedding):
        return torch.cat([-embedding, embedding], 1)
