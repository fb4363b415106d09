"""A kit asks for no more certainty than its models have about real graphs, and consults no useless surrogate."""

import dataclasses
import json
import shutil

import pytest
import torch

import graphflip as gf
from graphflip.explain.preferences import PREFERENCES
from graphflip.fit.levels import AskedLevel, lower_levels, write_levels
from graphflip.fit.useful import UNUSED, bring_back, likeness, set_judges_aside, set_useless_aside, useless
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.storage.store import load_model
from graphflip.models.training.evaluate import predict

from .own_models import PLANTED


class Certain(AbstractClassifier):
    """Gives every graph the same probability of the class that its number of edges, even or odd, stands for."""

    def __init__(self, probability: float):
        super().__init__()
        self.schema, self.odds = PLANTED.schema, torch.tensor(probability).logit()

    def embed(self, graph):
        return (graph.num_edges % 2)[:, None] * 2.0 - 1

    def head(self, embedding):
        return torch.cat([-embedding, embedding], 1) * self.odds / 2


class Said(AbstractClassifier):
    """Gives the graphs of the planted set, in their order, the outputs that it was made with."""

    num_classes = 2

    def __init__(self, logits):
        super().__init__()
        self.schema, self.logits, self.at = PLANTED.schema, logits, 0

    def embed(self, graph):
        self.at += len(graph)
        return self.logits[self.at - len(graph) : self.at]

    def head(self, embedding):
        return embedding


def levels(confidence, agreement):
    return lower_levels(Certain(confidence), [Certain(agreement)], PLANTED, PREFERENCES)


def test_usual_levels_stay_where_real_graphs_reach_them():
    assert levels(0.9, 0.9) == {}


def test_levels_are_those_of_real_graphs_where_these_are_lower():
    usual = PREFERENCES["balanced"]
    assert levels(0.9, 0.6)["balanced"] == AskedLevel(usual.confidence, 0.6)
    assert levels(0.55, 0.9)["balanced"] == AskedLevel(0.55, usual.agreement)
    assert levels(0.7, 0.9) == {"believable": AskedLevel(0.7, PREFERENCES["believable"].agreement)}
    assert levels(0.9, 0.2)["balanced"].agreement == 0.5  # not less than chance


def test_half_of_the_real_graphs_of_each_class_have_both_levels():
    """Those that the classifier is sure of need not be those that the surrogates are sure of."""
    count = len(PLANTED)
    torch.manual_seed(0)
    sign, nothing = torch.randint(0, 2, (count,)) * 2.0 - 1, torch.zeros(count)
    logits, others = (torch.stack([nothing, sign * torch.rand(count)], 1) for _ in range(2))
    level = lower_levels(Said(logits), [Said(others)], PLANTED, PREFERENCES)["balanced"]
    predicted = logits.argmax(1)
    sure, agreed = (each.softmax(1).gather(1, predicted[:, None])[:, 0] for each in (logits, others))
    both = (sure >= level.confidence - 1e-3) & (agreed >= level.agreement - 1e-3)
    shares = [float(both[predicted == one].float().mean()) for one in (0, 1)]
    assert 0.5 <= min(shares)
    assert level.confidence > sure.min()  # a level that all graphs have would ask for nothing


def test_levels_are_written_for_the_search_and_taken_back(kit, tmp_path):
    folder = shutil.copytree(kit[0], tmp_path / "kit")
    own = gf.load(folder, classifier=Certain(0.55), surrogates=[Certain(0.6)]).kit
    written = write_levels(folder, own, PLANTED)
    asked = gf.load(folder).kit.preferences["balanced"]
    assert (asked.confidence, asked.agreement) == written["balanced"] == (0.55, 0.6)
    search = gf.load(folder).search()
    assert (search.confidence, search.agreement) == (0.55, 0.6)
    sure = gf.load(folder, classifier=Certain(0.99), surrogates=[Certain(0.99)]).kit
    assert write_levels(folder, sure, PLANTED) == {}
    assert gf.load(folder).kit.preferences == gf.explain.preferences.usual_preferences(PLANTED.schema)


def test_a_fit_writes_its_levels_and_says_them(kit):
    folder, readiness, _ = kit
    stored = folder / "preferences.json"
    written = json.loads(stored.read_text()) if stored.exists() else {}
    assert written == {name: level._asdict() for name, level in readiness.levels.items()}
    assert written  # one epoch makes nobody sure
    assert "less than usual: they are not surer of real graphs" in str(readiness)


def test_a_surrogate_that_knows_nothing_is_set_aside(kit, tmp_path):
    folder = shutil.copytree(kit[0], tmp_path / "kit")
    bring_back(folder)
    before = {path.name for path in folder.glob("surrogate-*")}
    aside = set_useless_aside(folder, Certain(0.9), PLANTED)  # even or odd: no model counts like that
    left = {path.name for path in folder.glob("surrogate-*")}
    assert aside
    assert left
    assert left | set(aside) == before
    assert {path.name for path in (folder / UNUSED).iterdir()} == set(aside)
    assert len(gf.load(folder).kit.surrogates) == len(left)
    bring_back(folder)
    assert {path.name for path in folder.glob("surrogate-*")} == before


def test_likeness_is_that_to_the_classifier():
    answers = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    assert likeness(answers, answers) == 1
    assert likeness(-answers, answers) == 0
    assert likeness(torch.zeros(3, 2), answers) == pytest.approx(0.5)
    values = torch.tensor([[1.0], [2.0], [4.0]])
    assert likeness(values, values) == pytest.approx(1)
    assert likeness(values.mean().expand(3, 1), values) == pytest.approx(0, abs=1e-6)
    assert likeness(torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])) == 1  # one class: nothing can be said


def test_surrogates_must_know_half_of_what_the_best_one_knows():
    assert useless({"a": 0.95, "b": 0.70, "c": 0.75}, are_values=False) == {"b": 0.70}  # 0.5 is to know nothing
    assert useless({"a": 0.75, "b": 0.70}, are_values=False) == {}
    assert useless({"a": 0.95, "b": 0.40}, are_values=True) == {"b": 0.40}
    assert useless({"a": 0.05, "b": 0.04}, are_values=True) == {"b": 0.04}  # the best one stays
    assert useless({}, are_values=True) == {}


def test_a_judge_that_hardly_knows_the_labels_is_set_aside(kit, tmp_path):
    folder = shutil.copytree(kit[0], tmp_path / "kit")
    bring_back(folder)
    said = predict(load_model(folder / "judge"), PLANTED).diff(dim=1)[:, 0]
    as_it_says = (said > said.median()).long()
    assert set_judges_aside(folder, ["judge", "absent"], dataclasses.replace(PLANTED, labels=as_it_says)) == {}
    assert set(gf.load(folder).kit.judges) == {"another GNN", "trees"}
    aside = set_judges_aside(folder, ["judge", "absent"], dataclasses.replace(PLANTED, labels=1 - as_it_says))
    assert aside == {"judge": pytest.approx(0, abs=0.01)}
    assert set(gf.load(folder).kit.judges) == {"trees"}
    bring_back(folder)
    assert (folder / "judge").is_dir()
    few = dataclasses.replace(PLANTED, labels=1 - as_it_says).subset([int(said.argmin()), int(said.argmax())])
    assert "judge" in set_judges_aside(folder, ["judge"], few.subset([0, 1] * 8))
    bring_back(folder)
    assert set_judges_aside(folder, ["judge"], few) == {}  # two graphs: nothing can be said
