"""Classifiers whose answers are known: by the planted rule, and by nothing that is in the data."""

import hashlib

import torch
from jaxtyping import Float
from torch import Tensor

from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.explain.explainer import Explainer
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.graph import Graph
from graphflip.models.networks.classifier import AbstractClassifier


class Rule(AbstractClassifier):
    """The planted rule itself: a blue node with thick edges to two red ones or more."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph: Graph) -> Float[Tensor, "b 1"]:
        blue, red, thick = graph.V[..., 2], graph.V[..., 3], graph.E[..., 1]
        arms = torch.einsum("bi,bij,bj->bi", blue, thick, red)
        return arms.amax(1)[:, None] - 1.5

    def head(self, embedding: Float[Tensor, "b 1"]) -> Float[Tensor, "b 2"]:
        return torch.cat([-embedding, embedding], -1)


class Noise(AbstractClassifier):
    """A class drawn for each graph by its digest, as a model gives that has learned shuffled labels by heart."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph: Graph) -> Float[Tensor, "b 1"]:
        bits = [hashlib.blake2b(graph.digest(k).encode()).digest()[0] & 1 for k in range(len(graph))]
        return torch.tensor(bits, dtype=torch.float32)[:, None] * 2 - 1

    def head(self, embedding: Float[Tensor, "b 1"]) -> Float[Tensor, "b 2"]:
        return torch.cat([-embedding, embedding], -1)


def explainer_of(
    model: type, num_graphs: int = 160, classes: tuple[str, ...] = ("no motif", "motif")
) -> tuple[Explainer, GraphDataset]:
    """An explainer of one of these models with the planted set; the rule is the judge of models of its classes."""
    dataset = planted(num_graphs)
    knowledge = Knowledge.mine(dataset.part("train"))
    judges = {"the rule": Rule(dataset.schema)} if classes == dataset.classes else {}
    return Explainer(Kit("planted", model(dataset.schema), knowledge, classes, judges=judges)), dataset


class Reds(AbstractClassifier):
    """Predicts a value: the number of red nodes."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph: Graph) -> Float[Tensor, "b 1"]:
        return graph.V[..., 3].sum(1, keepdim=True)

    def head(self, embedding: Float[Tensor, "b 1"]) -> Float[Tensor, "b 1"]:
        return embedding


class Majority(AbstractClassifier):
    """Three classes: more blue nodes than red ones, as many, or fewer."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph: Graph) -> Float[Tensor, "b 1"]:
        return (graph.V[..., 2] - graph.V[..., 3]).sum(1, keepdim=True)

    def head(self, embedding: Float[Tensor, "b 1"]) -> Float[Tensor, "b 3"]:
        return torch.cat([2 * embedding - 1, torch.zeros_like(embedding), -2 * embedding - 1], -1)


class Large(AbstractClassifier):
    """Says "motif" for graphs of five nodes or more: no recoloring changes that."""

    def __init__(self, schema):
        super().__init__()
        self.schema = schema

    def embed(self, graph: Graph) -> Float[Tensor, "b 1"]:
        return graph.B.sum(1, keepdim=True) - 4.5

    def head(self, embedding: Float[Tensor, "b 1"]) -> Float[Tensor, "b 2"]:
        return torch.cat([-embedding, embedding], -1)
