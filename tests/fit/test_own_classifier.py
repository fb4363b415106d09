"""Kits for a classifier of one's own, with labels of its kind and without."""

import dataclasses
import json

import pytest
import torch

import graphflip as gf
from graphflip.errors import ConfigError, DataError, WrongOutput
from graphflip.fit.kit import fit_kit
from graphflip.schema import Schema

from .own_models import PLANTED, QUICK, EdgeCounter, Edges


def test_a_classifier_of_ones_own(tmp_path, few_models):
    own = EdgeCounter(PLANTED.schema)
    readiness = fit_kit(PLANTED, tmp_path / "kit", own, minutes=QUICK)
    assert not (tmp_path / "kit" / "classifier").exists()
    assert "classifier" in readiness.auroc
    assert json.loads((tmp_path / "kit" / "surrogate-linear" / "card.json").read_text())["training"]["teacher"]
    with pytest.raises(ConfigError, match="no classifier of its own"):
        gf.load(tmp_path / "kit")
    explainer = gf.load(tmp_path / "kit", classifier=own)
    assert explainer.kit.schema == PLANTED.schema
    assert list(explainer.predict(PLANTED.graphs([0]))) == list(PLANTED.classes)
    with pytest.raises(ConfigError, match="differ: classifier: "):
        fit_kit(PLANTED, tmp_path / "kit", "train", minutes=QUICK, resume=True)


def test_data_without_classes_are_labeled_by_the_classifier(tmp_path, few_models):
    unlabeled = dataclasses.replace(PLANTED, labels=torch.zeros(len(PLANTED)).long(), classes=("unlabeled",))
    readiness = fit_kit(unlabeled, tmp_path / "kit", EdgeCounter(PLANTED.schema), minutes=QUICK)
    assert list(readiness.classes) == ["0", "1"]
    assert "classifier" not in readiness.auroc  # it would be measured by its own answers
    assert any("judges too" in said for said in readiness.expect)


def test_without_labels_and_classifier_there_is_an_autoencoder(tmp_path):
    same = dataclasses.replace(PLANTED, labels=torch.ones(len(PLANTED)), classes=())
    with pytest.raises(DataError, match="labels that differ"):
        fit_kit(same, tmp_path / "kit")
    readiness = fit_kit(same, tmp_path / "kit", "none", minutes=QUICK)
    assert readiness.trial is None
    assert "no labels" in str(readiness)
    own = EdgeCounter(PLANTED.schema)
    assert gf.load(tmp_path / "kit", classifier=own).kit.vae is not None


def test_labels_that_are_numbers_make_models_of_values(tmp_path, few_models):
    numbers = dataclasses.replace(PLANTED, labels=PLANTED.num_edges.float(), classes=())
    readiness = fit_kit(numbers, tmp_path / "kit", minutes=QUICK)
    assert {"classifier", "surrogate-linear"} <= set(readiness.r2)
    assert set(readiness.agreement) == {"surrogate-linear"}
    assert (readiness.auroc, readiness.trial.graphs >= 1) == ({}, True)
    assert "labels are values" in str(readiness)
    assert "R² below 0.50" in str(readiness)
    explainer = gf.load(tmp_path / "kit")
    graph = PLANTED.graphs([0])
    assert set(explainer.predict(graph)) == {"value"}
    found = explainer.explain(graph, "raise by 100", constraints=gf.Constraints(budget=1))
    assert found.target.low == pytest.approx(explainer.predict(graph)["value"] + 100, rel=1e-4)


def test_a_model_of_values_of_ones_own_labels_what_has_no_values(tmp_path, few_models):
    own = Edges(PLANTED.schema)
    with pytest.raises(WrongOutput, match="this one has 1"):
        fit_kit(PLANTED, tmp_path / "kit", own)
    unlabeled = dataclasses.replace(PLANTED, labels=torch.zeros(len(PLANTED)), classes=())
    readiness = fit_kit(unlabeled, tmp_path / "kit", own, minutes=QUICK)
    assert "classifier" not in readiness.r2
    assert "surrogate-linear" in readiness.agreement
    card = json.loads((tmp_path / "kit" / "surrogate-linear" / "card.json").read_text())
    assert 1 < card["config"]["center"] < float(PLANTED.num_edges.max())
    kit = gf.load(tmp_path / "kit", classifier=own).kit
    assert len(kit.surrogates) == 1
    # A classifier of classes has nothing to learn from models of values, and the other way round.
    assert gf.load(tmp_path / "kit", classifier=EdgeCounter(PLANTED.schema)).kit.surrogates == ()


@pytest.mark.parametrize(
    ("classifier", "error", "message"),
    [
        ("tran", ConfigError, "`train`, `none` or package.module:factory; got 'tran'"),
        ("no.such.module:make", ConfigError, "must be importable"),
        (EdgeCounter(PLANTED.schema, num_classes=3), WrongOutput, "this one has 3"),
        (EdgeCounter(Schema(max_nodes=3)), ConfigError, "schema"),
        (3.5, ConfigError, "a PyG module"),
    ],
)
def test_a_classifier_that_cannot_be_used_is_refused(classifier, error, message, tmp_path):
    with pytest.raises(error, match=message):
        fit_kit(PLANTED, tmp_path / "kit", classifier)
    assert not (tmp_path / "kit").exists()
