"""Kits load and explain, say what to expect, and a run that was stopped continues."""

import shutil

import pytest
import torch

import graphflip as gf
from graphflip.errors import ConfigError, DataError
from graphflip.fit import kit as fit
from graphflip.fit.kit import fit_kit
from graphflip.fit.measure import without_times
from graphflip.fit.readiness import Readiness
from graphflip.models.adapters import DenseClassifier

from .own_models import PLANTED, QUICK


def test_a_kit_loads_and_explains(kit):
    folder, _, _ = kit
    explainer = gf.load(folder)
    assert len(explainer.kit.surrogates) == 5
    assert set(explainer.kit.judges) == {"another GNN", "trees"}
    assert explainer.kit.classes == PLANTED.classes
    graph = PLANTED.graphs([0])
    assert sum(explainer.predict(graph).values()) == pytest.approx(1)
    found = explainer.explain(graph, prefer="minimal", constraints=gf.Constraints(budget=1))
    assert found.factual == graph
    assert not list(folder.glob("*/checkpoint*"))


def test_a_kit_takes_a_plain_model_and_wraps_it(kit):
    folder, _, _ = kit
    explainer = gf.load(folder, classifier=lambda A, B: torch.stack([A.sum((1, 2)), 2 * B.sum(1)], 1))
    assert isinstance(explainer.kit.classifier, DenseClassifier)
    assert explainer.explain(PLANTED.graphs([0]), prefer="minimal").flipped
    with pytest.raises(ConfigError, match="PyG module"):
        gf.load(folder, classifier="moon")


def test_readiness_is_written_and_says_what_to_expect(kit):
    folder, readiness, _ = kit
    assert Readiness.model_validate_json((folder / "readiness.json").read_text()) == without_times(readiness)
    assert readiness.parts == {"train": 32, "validation": 4, "test": 4}
    surrogates = ("gin", "gin-deep", "average", "counts", "linear")
    assert set(readiness.agreement) == {f"surrogate-{name}" for name in surrogates}
    assert all(0 <= share <= 1 for share in (*readiness.reconstruction.values(), *readiness.agreement.values()))
    assert readiness.trial.graphs >= 1
    text = str(readiness)
    assert "only 32 graphs to learn from" in text
    assert "The autoencoder rebuilds" in text
    assert "test graphs that were explained" in text


def test_progress_is_one_bar(kit):
    _, _, seen = kit
    done = [progress[1] for progress in seen]
    assert done == sorted(done)
    assert len({progress[2] for progress in seen}) == 1
    assert seen[-1][1] == seen[-1][2]


def test_what_is_complete_is_not_trained_again(kit, tmp_path, monkeypatch):
    folder = shutil.copytree(kit[0], tmp_path / "kit")
    shutil.rmtree(folder / "surrogate-linear")
    before = {path: path.read_bytes() for path in folder.glob("*/weights.safetensors")}
    trained = []

    def train_model(role, dataset, folder, *args, **settings):
        trained.append(folder.name)
        return real(role, dataset, folder, *args, **settings)

    real = fit.train_model
    monkeypatch.setattr(fit, "train_model", train_model)
    fit_kit(PLANTED, folder, minutes=QUICK, resume=True)
    assert trained == ["surrogate-linear"]
    assert before == {path: path.read_bytes() for path in before}
    same = (kit[0] / "surrogate-linear" / "weights.safetensors").read_bytes()
    assert (folder / "surrogate-linear" / "weights.safetensors").read_bytes() == same


def test_a_folder_is_for_one_kit(kit, tmp_path):
    folder, _, _ = kit
    with pytest.raises(ConfigError, match="--resume"):
        fit_kit(PLANTED, folder, minutes=QUICK)
    with pytest.raises(ConfigError, match=r"minutes: 0.001 -> 2.0"):
        fit_kit(PLANTED, folder, minutes=2.0, resume=True)
    with pytest.raises(ConfigError, match=r"differ: data: "):
        fit_kit(PLANTED.split_randomly(1), folder, minutes=QUICK, resume=True)
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(ConfigError, match="new or empty folder"):
        fit_kit(PLANTED, tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "fit.json").write_text("[1]")
    with pytest.raises(ConfigError, match=r"fit\.json: not a readable file"):
        fit_kit(PLANTED, tmp_path / "broken", resume=True)


@pytest.mark.parametrize(
    ("labels", "classes", "says"),
    [
        ([0, 0, 0], ("only",), "labels of two classes or more, or numbers; got only `only`.*--target COLUMN"),
        ([0, 1, 0], ("a", "b"), "to train, to validate and to test on; 3 are too few"),
    ],
)
def test_data_that_nothing_can_be_learned_from_are_named(labels, classes, says, tmp_path):
    few = gf.GraphDataset.from_graphs("some", [PLANTED.graphs(slice(0, 3))], labels, classes)
    with pytest.raises(DataError, match=says):
        fit_kit(few, tmp_path / "kit")
    assert not (tmp_path / "kit").exists()
