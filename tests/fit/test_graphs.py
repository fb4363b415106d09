"""Every kind of graph fits, training time follows from their number, and unusable data are refused."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graphflip as gf
from graphflip.data.dataset import GraphDataset
from graphflip.errors import ConfigError, DataError
from graphflip.fit.graphs import with_limit
from graphflip.fit.kit import fit_kit
from graphflip.fit.plan import schedule
from graphflip.fit.remarks import remarks
from graphflip.graph import Graph
from graphflip.models.training.schedule import TrainConfig
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

from .own_models import PLANTED, QUICK


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
    fit_kit(dataset, tmp_path / "kit", minutes=QUICK)
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
    assert few["pairs"] == many["pairs"] == 64 * 50**2


def test_the_usual_set_is_trained_as_the_recipe_says():
    assert schedule(TrainConfig(epochs=30), 3000, 50) == {"epochs": 30, "batch_size": 64, "pairs": 64 * 50**2}


def test_a_limit_can_be_wider_or_narrower():
    sizes = PLANTED.num_nodes
    wide, narrow = with_limit(PLANTED, 20), with_limit(PLANTED, 5)
    assert (len(wide), wide.schema.max_nodes) == (len(PLANTED), 20)
    assert (len(narrow), narrow.schema.max_nodes) == (int((sizes <= 5).sum()), 5)
    with pytest.raises(DataError, match="the smallest has 4"):
        with_limit(PLANTED, 3)


def test_data_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(DataError, match="Give more"):
        fit_kit(PLANTED.subset([0, 1, 2]).split_randomly(0), tmp_path / "kit")
    with pytest.raises(ConfigError, match="minutes"):
        fit_kit(PLANTED, tmp_path / "kit", minutes=0.0)
    assert not (tmp_path / "kit").exists()


def test_a_few_very_large_graphs_are_spoken_of():
    schema = Schema(max_nodes=900)
    sizes = [*range(20, 118), 640, 900]
    paths = [Graph.build(schema, [{}] * n, [(k, k + 1, {}) for k in range(n - 1)]) for n in sizes]
    dataset = GraphDataset.from_graphs("paths", paths, torch.arange(100) % 2, ("odd", "even"))
    advice = "98 of 100 graphs have 150 at most: --max-nodes 150 leaves out the other 2"
    assert any(advice in said for said in remarks(dataset, "planted"))
    assert not any("--max-nodes" in said for said in remarks(dataset.subset(range(98)), "planted"))


def test_a_class_is_rare_by_what_an_equal_share_would_be():
    for classes, rare in ((15, False), (2, True)):
        labels = (torch.arange(len(PLANTED)) % 15).clamp(max=classes - 1)
        some = dataclasses.replace(PLANTED, labels=labels, classes=tuple(map(str, range(classes))))
        assert any(said.startswith("Rare: 0") for said in remarks(some, "planted")) == rare
