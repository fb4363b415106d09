"""Kits from one's own data: they load and explain, a run that was ended goes on, and every kind of graph fits."""

import dataclasses
import json
import shutil
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graphflip as gf
from graphflip.data.dataset import GraphDataset
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, DataError, WrongOutput
from graphflip.fit import kit as fit
from graphflip.fit import readiness as fit_readiness
from graphflip.fit.kit import fit_kit, schedule, with_limit
from graphflip.fit.readiness import Readiness
from graphflip.models.adapters import DenseClassifier
from graphflip.models.networks.classifier import AbstractClassifier
from graphflip.models.networks.trees import TreesConfig
from graphflip.models.training import recipes
from graphflip.models.training.schedule import TrainConfig
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

QUICK = 1e-3  # one epoch for each model
PLANTED = planted(num_graphs=40, seed=5, min_nodes=4, max_nodes=6)


class EdgeCounter(AbstractClassifier):
    """Classes by the number of edges: a classifier that graphflip did not train."""

    def __init__(self, schema: Schema, num_classes: int = 2):
        super().__init__()
        self.schema, self.num_classes = schema, num_classes

    def embed(self, graph):
        return graph.num_edges[:, None]

    def head(self, embedding):
        return torch.cat([(embedding - 4.5) * k for k in range(self.num_classes)], 1)


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """A kit of the planted set, and what fitting it said."""
    folder = tmp_path_factory.mktemp("fit") / "kit"
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_readiness, "_SECONDS", 0.1)
        readiness = fit_kit(PLANTED, folder, epochs_scale=QUICK, watch=lambda *progress: seen.append(progress))
    return folder, readiness, seen


@pytest.fixture
def few_models(monkeypatch):
    """One surrogate, few trees, and hardly time to explain: enough to see what becomes of the data."""
    monkeypatch.setattr(recipes, "TreesConfig", partial(TreesConfig, num_trees=5))
    monkeypatch.setattr(fit, "_OTHERS", tuple(part for part in fit._OTHERS if part.preset == "linear"))
    monkeypatch.setattr(fit_readiness, "_SECONDS", 0.1)


def test_a_kit_loads_and_explains(kit):
    folder, _, _ = kit
    explainer = gf.load(folder)
    assert len(explainer.kit.surrogates) == 5
    assert set(explainer.kit.judges) == {"another GNN", "trees"}
    assert explainer.kit.classes == PLANTED.classes
    assert explainer.kit.knowledge.nll_limit is not None
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
    assert Readiness.model_validate_json((folder / "readiness.json").read_text()) == readiness
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
    monkeypatch.setattr(fit_readiness, "_SECONDS", 0.1)
    fit_kit(PLANTED, folder, epochs_scale=QUICK, resume=True)
    assert trained == ["surrogate-linear"]
    assert before == {path: path.read_bytes() for path in before}
    same = (kit[0] / "surrogate-linear" / "weights.safetensors").read_bytes()
    assert (folder / "surrogate-linear" / "weights.safetensors").read_bytes() == same


def test_a_folder_is_for_one_kit(kit, tmp_path):
    folder, _, _ = kit
    with pytest.raises(ConfigError, match="--resume"):
        fit_kit(PLANTED, folder, epochs_scale=QUICK)
    with pytest.raises(ConfigError, match=r"epochs_scale: 0.001 -> 2.0"):
        fit_kit(PLANTED, folder, epochs_scale=2.0, resume=True)
    with pytest.raises(ConfigError, match=r"differ: data: "):
        fit_kit(PLANTED.split_randomly(1), folder, epochs_scale=QUICK, resume=True)
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(ConfigError, match="new or empty folder"):
        fit_kit(PLANTED, tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "fit.json").write_text("[1]")
    with pytest.raises(ConfigError, match=r"fit\.json: not a readable file"):
        fit_kit(PLANTED, tmp_path / "broken", resume=True)


def test_a_classifier_of_ones_own(tmp_path, few_models):
    own = EdgeCounter(PLANTED.schema)
    readiness = fit_kit(PLANTED, tmp_path / "kit", own, epochs_scale=QUICK)
    assert not (tmp_path / "kit" / "classifier").exists()
    assert "classifier" in readiness.auroc
    assert json.loads((tmp_path / "kit" / "surrogate-linear" / "card.json").read_text())["training"]["teacher"]
    with pytest.raises(ConfigError, match="no classifier of its own"):
        gf.load(tmp_path / "kit")
    explainer = gf.load(tmp_path / "kit", classifier=own)
    assert explainer.kit.schema == PLANTED.schema
    assert list(explainer.predict(PLANTED.graphs([0]))) == list(PLANTED.classes)
    with pytest.raises(ConfigError, match="differ: classifier: "):
        fit_kit(PLANTED, tmp_path / "kit", "train", epochs_scale=QUICK, resume=True)


def test_data_without_classes_are_labeled_by_the_classifier(tmp_path, few_models):
    unlabeled = dataclasses.replace(PLANTED, labels=torch.zeros(len(PLANTED)).long(), classes=("unlabeled",))
    readiness = fit_kit(unlabeled, tmp_path / "kit", EdgeCounter(PLANTED.schema), epochs_scale=QUICK)
    assert list(readiness.classes) == ["0", "1"]
    assert "classifier" not in readiness.auroc  # it would be measured by its own answers
    assert any("judges too" in said for said in readiness.expect)


def test_without_labels_and_classifier_there_is_an_autoencoder(tmp_path):
    same = dataclasses.replace(PLANTED, labels=torch.ones(len(PLANTED)), classes=())
    with pytest.raises(DataError, match="labels that differ"):
        fit_kit(same, tmp_path / "kit")
    readiness = fit_kit(same, tmp_path / "kit", "none", epochs_scale=QUICK)
    assert readiness.trial is None
    assert "no labels" in str(readiness)
    own = EdgeCounter(PLANTED.schema)
    assert gf.load(tmp_path / "kit", classifier=own).kit.vae is not None


def test_labels_that_are_numbers_make_models_of_values(tmp_path, few_models):
    numbers = dataclasses.replace(PLANTED, labels=PLANTED.num_edges.float(), classes=())
    readiness = fit_kit(numbers, tmp_path / "kit", epochs_scale=QUICK)
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


class Edges(EdgeCounter):
    """Predicts a value: the number of edges."""

    def head(self, embedding):
        return embedding.float()


def test_a_model_of_values_of_ones_own_labels_what_has_no_values(tmp_path, few_models):
    own = Edges(PLANTED.schema)
    with pytest.raises(WrongOutput, match="this one has 1"):
        fit_kit(PLANTED, tmp_path / "kit", own)
    unlabeled = dataclasses.replace(PLANTED, labels=torch.zeros(len(PLANTED)), classes=())
    readiness = fit_kit(unlabeled, tmp_path / "kit", own, epochs_scale=QUICK)
    assert "classifier" not in readiness.r2
    assert "surrogate-linear" in readiness.agreement
    card = json.loads((tmp_path / "kit" / "surrogate-linear" / "card.json").read_text())
    assert card["config"]["center"] == pytest.approx(float(PLANTED.part("train").num_edges.float().mean()))
    kit = gf.load(tmp_path / "kit", classifier=own).kit
    assert len(kit.surrogates) == 1
    # A classifier of classes has nothing to learn from models of values, and the other way round.
    assert gf.load(tmp_path / "kit", classifier=EdgeCounter(PLANTED.schema)).kit.surrogates == ()


def edgy(schema: Schema, classes: int) -> GraphDataset:
    """Random graphs of a schema, of which those with more edges are of higher classes."""
    graph = random_graph(schema, n=5, num_graphs=60, seed=3)
    graph = graph.select((graph.num_nodes > 0).nonzero()[:, 0])
    labels = graph.num_edges.argsort().argsort() * classes // len(graph)
    names = tuple("abc"[:classes])
    return GraphDataset.from_graphs("edgy", [graph], labels, names).split_randomly(0).with_scales()


@pytest.mark.parametrize(
    ("schema", "classes"),
    [
        (Schema(max_nodes=6), 2),
        (Schema(nodes=(Categories(name="type", values=("a", "b")), Continuous(name="x")), max_nodes=6), 3),
        (Schema(edges=(Continuous(name="weight"),), max_nodes=6, directed=True), 2),
    ],
    ids=["no labels", "continuous nodes, three classes", "directed, continuous edges"],
)
def test_every_kind_of_graph_fits(schema, classes, tmp_path, few_models):
    dataset = edgy(schema, classes)
    fit_kit(dataset, tmp_path / "kit", epochs_scale=QUICK)
    explainer = gf.load(tmp_path / "kit")
    assert explainer.kit.schema == dataset.schema
    assert len(explainer.predict(dataset.graphs([0]))) == classes
    assert ("trees" in explainer.kit.judges) == (classes == 2)


@given(num_graphs=st.integers(30, 400_000), factor=st.integers(1, 20), max_nodes=st.integers(5, 400))
def test_more_graphs_take_longer_but_not_as_much_longer(num_graphs, factor, max_nodes):
    few, many = (schedule(TrainConfig(epochs=200), count, max_nodes) for count in (num_graphs, num_graphs * factor))
    assert many["epochs"] <= few["epochs"]
    assert 1.1 * many["epochs"] * factor >= few["epochs"]
    assert 8 <= few["batch_size"] <= many["batch_size"] <= 64
    assert many["batch_size"] == 8 or many["batch_size"] * max(max_nodes, 50) ** 2 <= 1.1 * 64 * 50**2


def test_the_usual_set_is_trained_as_the_recipe_says():
    assert schedule(TrainConfig(epochs=30), 3000, 50) == {"epochs": 30, "batch_size": 64}
    assert schedule(TrainConfig(epochs=30), 3000, 50, epochs_scale=2.0)["epochs"] == 60


def test_a_limit_can_be_wider_or_narrower():
    sizes = PLANTED.num_nodes
    wide, narrow = with_limit(PLANTED, 20), with_limit(PLANTED, 5)
    assert (len(wide), wide.schema.max_nodes) == (len(PLANTED), 20)
    assert (len(narrow), narrow.schema.max_nodes) == (int((sizes <= 5).sum()), 5)
    with pytest.raises(DataError, match="the smallest has 4"):
        with_limit(PLANTED, 3)


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


def test_data_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(DataError, match="give more graphs"):
        fit_kit(PLANTED.subset([0, 1, 2]).split_randomly(0), tmp_path / "kit")
    with pytest.raises(ConfigError, match="epochs_scale"):
        fit_kit(PLANTED, tmp_path / "kit", epochs_scale=0.0)
    assert not (tmp_path / "kit").exists()


def test_the_command_reads_a_table_of_molecules(tmp_path, few_models, capsys):
    from graphflip.cli.fit import fit as command

    smiles = [f"{'C' * (1 + k % 5)}{'ON'[k % 2]}{'C' * (k % 3)}" for k in range(40)]
    table = tmp_path / "mine.csv"
    table.write_text("smiles,label\n" + "".join(f"{text},{'ON'[k % 2]}\n" for k, text in enumerate(smiles)))
    command(str(table), tmp_path / "kit", max_nodes=9, epochs_scale=QUICK)
    printed = capsys.readouterr().out
    assert "what the kit can do" in printed
    assert f"--model {tmp_path / 'kit'}" in printed
    explainer = gf.load(tmp_path / "kit")
    assert explainer.kit.classes == ("N", "O")
    assert explainer.kit.schema.max_nodes == 9
    assert set(explainer.predict("CCO")) == {"N", "O"}


def test_the_command_reads_a_tu_folder(tmp_path, few_models, capsys):
    """Nodes with a continuous attribute, edges with none: six triangles and paths."""
    from graphflip.cli.fit import fit as command

    folder = tmp_path / "toy"
    folder.mkdir()
    edges, owner, labels, values = [], [], [], []
    for k in range(30):
        first = 3 * k + 1
        pairs = [(first, first + 1), (first + 1, first + 2), *([(first, first + 2)] if k % 2 else [])]
        edges += [f"{i}, {j}\n{j}, {i}\n" for i, j in pairs]
        owner += [f"{k + 1}\n"] * 3
        labels.append(f"{k % 2}\n")
        values += [f"{k / 10 + i}\n" for i in range(3)]
    parts = {"A": edges, "graph_indicator": owner, "graph_labels": labels, "node_attributes": values}
    for name, lines in parts.items():
        (folder / f"toy_{name}.txt").write_text("".join(lines))
    command(str(folder), tmp_path / "kit", epochs_scale=QUICK)
    assert "what the kit can do" in capsys.readouterr().out
    schema = gf.load(tmp_path / "kit").kit.schema
    assert isinstance(schema.nodes[0], Continuous)
    assert schema.edges == ()


def test_the_command_reads_pyg_graphs_of_ones_own(tmp_path, few_models, monkeypatch):
    from graphflip.cli.fit import fit as command
    from graphflip.data.pyg.objects import from_pyg, to_pyg

    graphs = to_pyg(PLANTED)
    torch.save([graph.to_dict() for graph in graphs], tmp_path / "graphs.pt")
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "from torch_geometric.data import Data\n"
        "def graphs():\n"
        f"    return [Data(**one) for one in torch.load({str(tmp_path / 'graphs.pt')!r})]\n"
        "def nothing():\n"
        "    return 3\n"
    )
    monkeypatch.chdir(tmp_path)
    command("mine:graphs", tmp_path / "kit", epochs_scale=QUICK)
    explainer = gf.load(tmp_path / "kit")
    assert explainer.kit.schema == from_pyg(graphs).schema
    assert sum(explainer.predict(graphs[0]).values()) == pytest.approx(1)
    with pytest.raises(ConfigError, match=r"mine:nothing: must return .* it returned a int"):
        command("mine:nothing", tmp_path / "other")
    with pytest.raises(ConfigError, match="`absent` must be a function of mine, which has"):
        command("mine:absent", tmp_path / "other")
