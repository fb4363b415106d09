"""The classifier on counts of environments: what it computes, what it refuses, and that it learns."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphflip.data.planted.motif import planted
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.models.networks.wl import wl_counts
from graphflip.models.training.evaluate import measure_classifier
from graphflip.models.training.loop import fit
from graphflip.models.training.objectives import Classification
from graphflip.models.training.schedule import TrainConfig
from graphflip.nn.initialize import reset_parameters
from graphflip.testing import random_graph, random_schema


def drawn(schema, **settings):
    model = CountClassifier(schema, CountConfig(**settings))
    reset_parameters(model, torch.Generator().manual_seed(1))
    last = model.network[-1]
    torch.nn.init.normal_(last.weight, generator=torch.Generator().manual_seed(2))
    return model.eval().requires_grad_(False)


@given(seed=st.integers(0, 2**16), n=st.integers(0, 7), radius=st.integers(0, 3))
def test_without_hidden_layers_it_is_logistic_regression_on_logarithms_of_counts(seed, n, radius):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed)
    model = drawn(graph.schema, bins=64, radius=radius, hidden=(), num_classes=3)
    weight, bias = model.state_dict().values()
    expected = (1 + wl_counts(graph, radius, 64)).log() @ weight.T + bias
    torch.testing.assert_close(model(graph), expected)


@pytest.mark.parametrize("hidden", [(), (5,), (5, 4)])
def test_hidden_layers_have_the_sizes_asked_for(hidden):
    model = drawn(random_schema(0), bins=16, hidden=hidden)
    widths = [tuple(tensor.shape) for name, tensor in model.state_dict().items() if name.endswith("weight")]
    assert widths == list(zip((*hidden, 2), (16, *hidden), strict=True))


def test_more_than_two_hidden_layers_are_refused():
    with pytest.raises(ValidationError, match="hidden"):
        CountConfig(hidden=(8, 8, 8))


def test_counts_are_hidden_while_training_and_only_then():
    schema = random_schema(0)
    model, graph = drawn(schema, bins=16, hidden=(), blind=0.5), random_graph(schema, n=6, seed=1)
    assert torch.equal(model(graph), model(graph))
    model.train()
    assert not torch.equal(model(graph), model(graph))


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_it_learns(hidden):
    data = planted(200, seed=3)
    model = CountClassifier(data.schema, CountConfig(bins=256, hidden=hidden))
    fit(model, Classification(), data, TrainConfig(epochs=12, batch_size=32, rate=0.01, average=0.9))
    assert measure_classifier(model, data.part("test"))["auroc"] > 0.9
