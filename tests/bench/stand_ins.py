"""Models that are there at once: what they say of a planted graph can be told by counting."""

import torch

from graphflip.bench.quality.material import Material
from graphflip.data.planted.motif import planted
from graphflip.explain.kit import Kit
from graphflip.explain.knowledge import Knowledge
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE

NUM_GRAPHS = 5


class CountsRed(AbstractClassifier):
    """Class 1 if more than a quarter of the nodes are red: differentiable, and no training needed."""

    def __init__(self, schema, scale=20.0):
        super().__init__()
        self.schema, self.scale = schema, torch.nn.Parameter(torch.tensor(scale), requires_grad=False)

    def embed(self, graph):
        return graph.V.sum(1) / graph.B.sum(1, keepdim=True).clamp(min=1)

    def head(self, embedding):
        logit = self.scale * (embedding[:, 3] - 0.25)
        return torch.stack([-logit, logit], 1)


class SeesOneClass(CountsRed):
    """A judge that no counterfactual for class 1 convinces."""

    def head(self, embedding):
        return torch.tensor([[1.0, 0.0]]).expand(len(embedding), 2)


def random_vae(schema):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return PEGVAE(schema, PAPER).eval().requires_grad_(False)


def red_kit(dataset, judge=CountsRed, other=SeesOneClass):
    """A kit whose first judge is the classifier itself."""
    schema = dataset.schema
    return Kit(
        "planted",
        CountsRed(schema),
        Knowledge.mine(dataset.part("train")),
        dataset.classes,
        random_vae(schema),
        (CountsRed(schema, 10.0),),
        {"another GNN": judge(schema), "trees": other(schema)},
    )


def red_material(name):
    """Some graphs of a small planted set."""
    dataset = planted(200, max_nodes=6, min_nodes=5)
    return Material(dataset, red_kit(dataset), "test", NUM_GRAPHS)
