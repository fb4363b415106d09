"""Recipes: a role and a preset give a trained folder, by one process or two; what cannot be trained is said."""

import csv
import dataclasses
import sys

import pytest
import torch

from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, DataError
from graphflip.models.networks.classifier import RelationalGIN
from graphflip.models.storage.store import load_model, read_card
from graphflip.models.training.curves import save_curves
from graphflip.models.training.objectives import Classification
from graphflip.models.training.recipes import PRESETS, recipe
from graphflip.models.training.schedule import Epoch, TrainConfig
from graphflip.models.training.train import train_model

DATA = planted(40, seed=1)
QUICK = {"epochs": 2, "batch_size": 16}


def curves(folder):
    return list(csv.DictReader((folder / "curves.csv").read_text().splitlines()))


@pytest.mark.parametrize(
    ("role", "preset"), [(role, preset) for role, presets in PRESETS.items() for preset in presets]
)
def test_every_preset_has_a_recipe_for_its_data(role, preset):
    if preset != "trees":
        plan = recipe(role, preset, DATA)
        assert plan.model.schema == DATA.schema
        assert isinstance(plan.training, TrainConfig)


@pytest.mark.parametrize("classes", [("small", "large"), ()])
def test_graphs_of_all_sizes_meet_in_a_batch_where_size_tells_the_label(classes):
    sizes = DATA.num_nodes
    told = (sizes > sizes.median()).long() if classes else sizes.float()
    mixed = dataclasses.replace(DATA, labels=told, classes=classes)
    assert recipe("classifier", "default", mixed).training.pool == 1
    assert recipe("surrogate", "gin", mixed).training.pool == 1
    assert recipe("surrogate", "counts", mixed).training.pool == 1
    assert recipe("vae", "modern", mixed).training.pool > 1
    assert recipe("classifier", "default", DATA).training.pool > 1


def test_details_are_hidden_where_size_tells_the_label():
    sizes = DATA.num_nodes
    told = dataclasses.replace(DATA, labels=(sizes > sizes.median()).long())
    for role, preset in (("classifier", "default"), ("judge", "gnn"), ("surrogate", "gin")):
        assert recipe(role, preset, told).objective.settings["hide"] == 0.8
    assert recipe("surrogate", "types", told).objective.settings["hide"] == 0
    taught = recipe("surrogate", "gin", told, teacher=recipe("classifier", "default", told).model)
    assert taught.objective.settings["hide"] == 0.8
    assert recipe("classifier", "paper", told).objective.settings["hide"] == 0
    assert recipe("classifier", "default", DATA).objective.settings["hide"] == 0


def test_all_classes_count_the_same_where_one_is_rare():
    rare = (torch.arange(len(DATA)) % 8 == 0).long()
    skewed = dataclasses.replace(DATA, labels=rare)
    objective = recipe("classifier", "default", skewed).objective
    assert isinstance(objective, Classification)
    train = skewed.part("train").labels
    totals = [weight * int((train == one).sum()) for one, weight in enumerate(objective.weights)]
    assert totals == pytest.approx([len(train) / 2] * 2)
    assert recipe("classifier", "paper", skewed).objective == Classification()
    even = dataclasses.replace(DATA, labels=torch.arange(len(DATA)) % 2)
    assert recipe("classifier", "default", even).objective == Classification()
    alone = dataclasses.replace(DATA, labels=torch.zeros(len(DATA), dtype=torch.long))
    assert recipe("classifier", "default", alone).objective == Classification()


def test_small_graphs_have_answers_of_their_own_where_size_tells_the_label(tmp_path):
    """Without a leak the last hidden layer is zero for all small graphs: one answer for all of them."""
    sizes = DATA.num_nodes
    data = dataclasses.replace(DATA, labels=(sizes > sizes.sort().values[len(sizes) // 10]).long())
    model = recipe("classifier", "default", data).model
    assert isinstance(model, RelationalGIN)
    with torch.no_grad():
        model.join.bias -= 100.0
        assert len(model.embed(data.graphs()).unique(dim=0)) > len(data) // 2


def test_unknown_roles_and_presets_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"must be one of classifier: default, .*got classifier: huge"):
        recipe("classifier", "huge", DATA)
    with pytest.raises(ConfigError, match="got painter: "):
        train_model("painter", DATA, tmp_path)


@pytest.mark.parametrize(("role", "preset"), [("classifier", None), ("judge", "trees"), ("surrogate", "counts")])
def test_training_writes_a_folder_that_loads(role, preset, tmp_path):
    seen = []
    card = train_model(role, DATA, tmp_path, preset, QUICK, watch=lambda p: seen.append(p.epoch))
    assert read_card(tmp_path) == card
    assert card.training["role"] == role
    assert card.training["preset"] == (preset or "default")
    assert card.data.fingerprint == DATA.fingerprint()
    assert {"accuracy", "log_likelihood"} <= card.figures.keys()
    logits = load_model(tmp_path)(DATA.part("test").graphs())
    accuracy = float((logits.argmax(-1) == DATA.part("test").labels).float().mean())
    assert card.figures["accuracy"] == pytest.approx(accuracy)
    if preset != "trees":
        assert seen == [1, 2]
        assert card.training["epochs"] == 2
        assert [row["epoch"] for row in curves(tmp_path)] == ["1", "2"]
        assert "<svg" in (tmp_path / "curves.svg").read_text()


def test_curves_are_data_where_nothing_can_draw(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    save_curves(
        [Epoch(epoch=1, loss=0.5, rate=0.1, figures={"auroc": 0.7}), Epoch(epoch=2, loss=0.4, rate=0.1)], tmp_path
    )
    assert (tmp_path / "curves.csv").read_text() == "epoch,loss,rate,auroc\n1,0.5,0.1,0.7\n2,0.4,0.1,\n"
    assert not (tmp_path / "curves.svg").exists()


@pytest.mark.parametrize("role", ["classifier", "judge", "surrogate"])
def test_one_class_is_not_enough(role, tmp_path):
    graphs, labels = DATA.graphs(), torch.zeros(len(DATA))
    for classes in (("only",), ("only", "other")):
        data = GraphDataset.from_graphs("mono", [graphs], labels, classes).split_randomly()
        with pytest.raises(DataError, match="mono: a classifier needs graphs of at least two classes; got only `only`"):
            train_model(role, data, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", [{"epochs": 0}, {"rate": "fast"}, {"speed": 3}])
def test_wrong_settings_are_named(change, tmp_path):
    (name,) = change
    with pytest.raises(ConfigError, match=f"`{name}`: .*got"):
        train_model("classifier", DATA, tmp_path, changes=change)


def test_a_part_of_one_class_is_trained_on_and_loads(tmp_path):
    """AUROC is no number there; the rest is measured, and the folder can be read."""
    labels = DATA.labels.clone()
    order = torch.cat([(labels == 0).nonzero()[:, 0], (labels == 1).nonzero()[:, 0]])
    split = {"train": order[3:], "validation": order[:2], "test": order[2:3]}
    data = GraphDataset.from_graphs("lopsided", [DATA.graphs()], labels, DATA.classes, split=split)
    card = train_model("classifier", data, tmp_path, changes=QUICK)
    assert "auroc" not in card.figures
    assert read_card(tmp_path) == card


def last_loss(folder):
    return float(curves(folder)[-1]["loss"])


@pytest.mark.parametrize("role", ["classifier", "vae"])
def test_two_processes_end_near_one(role, tmp_path):
    settings = {"epochs": 2, "batch_size": 16}
    for processes in (1, 2):
        train_model(role, DATA, tmp_path / str(processes), changes=settings, processes=processes)
    one, two = (load_model(tmp_path / name).state_dict() for name in "12")
    assert any(not torch.equal(one[name], two[name]) for name in one)
    assert last_loss(tmp_path / "2") == pytest.approx(last_loss(tmp_path / "1"), rel=0.35)
