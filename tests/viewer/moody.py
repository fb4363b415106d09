"""A classifier of moods: what it does with a graph depends on the elements in it."""

import os
import time

import torch

from graphflip.models.networks.classifier import AbstractClassifier


class Moody(AbstractClassifier):
    """Answers by the share of nitrogen. Three sulfur atoms make it hang, three of phosphorus kill the process; bromine
    makes it print, and fluorine makes it blind for nitrogen, so that a search goes on for several rounds."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema
        self.num_classes = 2
        self.types = schema.nodes[0].values

    def embed(self, graph):
        least = dict(zip(self.types, graph.V.sum(1).amin(0).tolist(), strict=True))
        if least["S"] >= 3:
            time.sleep(600)
        if least["P"] >= 3:
            os._exit(7)
        if least["Br"]:
            print("this must not reach the server's channel")
        nitrogen, fluorine = (graph.V[..., self.types.index(name)].sum(1) for name in ("N", "F"))
        share = nitrogen * (fluorine == 0) / graph.num_nodes.clamp(min=1)
        return torch.stack([20 * share, torch.full_like(share, 2.0)], 1)

    def head(self, embedding):
        return embedding


def make(schema):
    return Moody(schema)
