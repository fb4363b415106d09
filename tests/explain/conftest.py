"""Small models with random weights on the planted set: enough for laws that hold whatever the weights are."""

import pytest
import torch

from graphflip.data.planted.motif import planted
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.models.networks.pegvae import PAPER, PEGVAE
from graphflip.nn.initialize import reset_parameters


@pytest.fixture(scope="session")
def dataset():
    return planted(num_graphs=60, seed=3)


@pytest.fixture(scope="session")
def vae(dataset):
    model = PEGVAE(dataset.schema, PAPER)
    return _settled(model, dataset, seed=0)


@pytest.fixture(scope="session")
def classifier(dataset):
    model = InvariantClassifier(dataset.schema, ClassifierConfig(width=8, hidden=16))
    model = _settled(model, dataset, seed=1)
    # A random last layer, shifted so that the classes are balanced on the data: both can be reached.
    torch.nn.init.normal_(model.out.weight, std=1.0, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        logits = model(dataset.graphs())
        model.out.bias -= logits.median(0).values
    return model


def _settled(model, dataset, seed):
    """Random weights, and batch statistics of real graphs."""
    rng = torch.Generator().manual_seed(seed)
    reset_parameters(model, rng)
    model.train()
    with torch.no_grad():
        for _ in range(20):
            graph = dataset.graphs()
            model.neg_elbo(graph, rng) if isinstance(model, PEGVAE) else model(graph)
    return model.eval().requires_grad_(False)
