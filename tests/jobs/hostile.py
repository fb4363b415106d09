"""Classifiers that no explainer should trust."""

import os
import signal
import sys
import time

import torch

from graphflip.models.adapters import BlackBox
from graphflip.models.networks.classifier import AbstractClassifier


class Hostile(AbstractClassifier):
    """Answers every graph with one thing, or with something worse for graphs of so many nodes."""

    def __init__(self, schema, logits, num_nodes=0, worse=None):
        super().__init__()
        self.schema, self.logits, self.num_nodes, self.worse = schema, logits, num_nodes, worse

    def embed(self, graph):
        if self.worse is not None and bool((graph.num_nodes == self.num_nodes).any()):
            self.worse()
        return graph.B.sum(1, keepdim=True)

    def head(self, embedding):
        return torch.tensor(self.logits, dtype=embedding.dtype).expand(len(embedding), -1)


def not_a_number(schema):
    return Hostile(schema, [float("nan"), 0.0])


def infinite(schema):
    return Hostile(schema, [float("inf"), 0.0])


def constant(schema):
    return Hostile(schema, [0.0, 0.0])


def saturated(schema):
    return Hostile(schema, [1e30, -1e30])


def deadly(schema):
    """What the system's killer of processes out of memory does, for molecules of three atoms."""
    return Hostile(schema, [0.0, 1.0], 3, lambda: os.kill(os.getpid(), signal.SIGKILL))


def patient(schema):
    """Waits at molecules of four atoms until the file is there that the environment names."""

    def wait():
        while not os.path.exists(os.environ["HOSTILE_GO"]):
            time.sleep(0.02)

    return Hostile(schema, [0.0, 1.0], 4, wait)


def sleepy(schema):
    """Never ends, for molecules of four atoms."""
    return Hostile(schema, [0.0, 1.0], 4, lambda: time.sleep(3600))


def leaving(schema):
    """Ends the program, for molecules of three atoms."""
    return Hostile(schema, [0.0, 1.0], 3, lambda: sys.exit(7))


def flat(schema):
    """One number for each graph, without rows."""
    return BlackBox(lambda graphs: torch.zeros(len(graphs), 2).flatten(), schema)


def greedy(schema):
    """More memory than there is, for molecules of three atoms."""
    return Hostile(schema, [0.0, 1.0], 3, lambda: torch.zeros(1 << 50))


def rude(schema):
    """An error of its own, for molecules of three atoms."""
    return Hostile(schema, [0.0, 1.0], 3, lambda: {}["no such key"])


def valueless(schema):
    """A model of values that predicts none."""
    return Hostile(schema, [float("nan")])


def frugal(schema):
    """May be asked a few times, and is sure of one class."""
    return BlackBox(lambda graphs: [0.1] * len(graphs), schema, budget=3)
