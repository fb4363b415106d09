"""Models that predict a value: what they minimize, the units they speak in, what cannot be learned."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.data.splits import Batch
from graphflip.errors import DataError
from graphflip.models.networks.classifier import (
    AttentionClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from graphflip.models.networks.counts import CountClassifier, CountConfig
from graphflip.models.storage.store import load_model, read_card
from graphflip.models.training.evaluate import measure_regressor, predict
from graphflip.models.training.objectives import Imitation, Regression
from graphflip.models.training.recipes import recipe
from graphflip.models.training.train import train_model
from graphflip.nn.initialize import reset_parameters

CLASSES = planted(96, seed=1)
SHARES = dataclasses.replace(CLASSES, labels=1000 + 500 * CLASSES.graphs().V[..., 0].mean(1), classes=())
"""The label is a large number that the nodes of one type say."""

SIZES = {"width": 8, "depth": 4, "hidden": 8}


def model_of(cls, **outputs):
    counts = cls is CountClassifier
    config = CountConfig(bins=32, hidden=(), **outputs) if counts else ClassifierConfig(**SIZES, **outputs)
    model = cls(CLASSES.schema, config)
    reset_parameters(model, torch.Generator().manual_seed(0))
    last = model.network[-1] if counts else model.out
    torch.nn.init.normal_(last.weight, generator=torch.Generator().manual_seed(1))
    return model.eval()


@pytest.mark.parametrize("cls", [RelationalGIN, AttentionClassifier, InvariantClassifier, CountClassifier])
def test_values_are_in_the_units_of_the_labels(cls):
    plain, scaled = (model_of(cls, num_classes=1, **more) for more in ({}, {"center": 7.0, "spread": 3.0}))
    graph = CLASSES.graphs(range(6))
    assert plain(graph).shape == (6, 1)
    torch.testing.assert_close(scaled(graph), 7 + 3 * plain(graph))
    assert model_of(cls, num_classes=3)(graph).shape == (6, 3)


@given(st.floats(0.5, 20), st.integers(0, 99))
def test_the_loss_is_the_squared_error_in_units_of_the_spread(spread, seed):
    model, rng = model_of(RelationalGIN, num_classes=1), torch.Generator().manual_seed(seed)
    index = torch.randperm(len(SHARES), generator=rng)[:8]
    batch = Batch(index, SHARES.graphs(index), SHARES.labels[index])
    errors = [(a - b) / spread for a, b in zip(model(batch.graph)[:, 0].tolist(), batch.labels.tolist(), strict=True)]
    loss = Regression(spread).loss(model, batch, rng, 0.0)
    assert float(loss.detach()) == pytest.approx(sum(error**2 for error in errors) / 8, rel=1e-4)


def test_figures_are_those_of_the_textbook():
    model = model_of(RelationalGIN, num_classes=1, center=1500.0, spread=10.0)
    values, labels = predict(model, SHARES)[:, 0].double(), SHARES.labels.double()
    figures = measure_regressor(model, SHARES)
    assert figures["rmse"] == pytest.approx(float((values - labels).square().mean().sqrt()), rel=1e-4)
    assert figures["mae"] == pytest.approx(float((values - labels).abs().mean()), rel=1e-4)
    total = (labels - labels.mean()).square().mean()
    assert figures["r2"] == pytest.approx(1 - float((values - labels).square().mean() / total), rel=1e-3)


@pytest.mark.parametrize(
    ("role", "preset"), [("classifier", "default"), ("judge", "gnn"), ("surrogate", "gin"), ("surrogate", "linear")]
)
def test_recipes_speak_the_units_of_the_train_part(role, preset):
    plan = recipe(role, preset, SHARES)
    labels = SHARES.part("train").labels
    assert plan.model.config.num_classes == 1
    assert plan.model.config.center == pytest.approx(float(labels.mean()))
    assert plan.model.config.spread == plan.objective.spread == pytest.approx(float(labels.std(correction=0)))
    assert recipe(role, preset, CLASSES).model.config.num_classes == 2


def test_large_labels_are_learned_at_once(tmp_path):
    quick = {"epochs": 25, "batch_size": 8, "average": 0.9, "rate": 4e-3}
    card = train_model("classifier", SHARES, tmp_path, changes=quick)
    assert card.figures["r2"] > 0.5
    assert card.figures["rmse"] < 60
    assert read_card(tmp_path).data.classes == ()
    assert measure_regressor(load_model(tmp_path), SHARES.part("test")) == pytest.approx(card.figures)


def test_a_pupil_learns_values():
    teacher, pupil = (model_of(RelationalGIN, num_classes=1, center=5.0, spread=2.0) for _ in range(2))
    objective = Imitation.of(teacher, CLASSES)
    train = CLASSES.part("train")
    batch = Batch(torch.arange(8), train.graphs(range(8)), train.labels[:8])
    assert float(objective.loss(pupil, batch, torch.Generator(), 0.0).detach()) == pytest.approx(0, abs=1e-9)
    assert objective.measure(pupil, CLASSES) == {"likeness": pytest.approx(1.0)}
    assert recipe("surrogate", "gin", CLASSES, teacher).model.config.spread == pytest.approx(objective.spread)


def test_labels_that_are_all_the_same_teach_nothing(tmp_path):
    flat = GraphDataset.from_graphs("flat", [CLASSES.graphs()], torch.full((96,), 2.5)).split_randomly()
    with pytest.raises(DataError, match=r"flat: a model of values needs labels that differ; all are 2\.5"):
        train_model("classifier", flat, tmp_path)
