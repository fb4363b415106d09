"""A classifier of moods: what it does with a graph depends on the elements in it."""

import os
import time

import torch

from graphflip.models.classifier import AbstractClassifier


class Moody(AbstractClassifier):
    """Answers by the share of nitrogen. A graph with sulfur makes it hang, one with phosphorus kills the process, one
    with fluorine makes it slow; bromine makes it print."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema
        self.num_classes = 2
        self.types = schema.nodes[0].values

    def embed(self, graph):
        there = {name for name, count in zip(self.types, graph.V.sum((0, 1)).tolist(), strict=True) if count}
        everywhere = {name for name, least in zip(self.types, graph.V.sum(1).amin(0).tolist(), strict=True) if least}
        if "S" in everywhere:
            time.sleep(600)
        if "P" in everywhere:
            os._exit(7)
        if "F" in everywhere:
            time.sleep(0.2)
        if "Br" in there:
            print("this must not reach the server's channel")
        share = graph.V[..., self.types.index("N")].sum(1) / graph.num_nodes.clamp(min=1)
        return torch.stack([share, torch.full_like(share, 2.0)], 1)

    def head(self, embedding):
        return embedding


def make(schema):
    return Moody(schema)
