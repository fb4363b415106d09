"""GraphDataset: nothing is lost between ragged and dense, and every graph is met exactly once."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip import Categories, Continuous, Graph, Schema
from graphflip.data import GraphDataset
from graphflip.errors import DataError
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)


def make(seed: int, num_graphs: int = 7, classes: tuple[str, ...] = ("no", "yes")) -> tuple[Graph, GraphDataset]:
    graphs = random_graph(random_schema(seed), n=5, num_graphs=num_graphs, seed=seed)
    graphs = graphs.select((graphs.num_nodes > 0).nonzero()[:, 0])
    labels = torch.arange(len(graphs)) % 2
    return graphs, GraphDataset.from_graphs("some", [graphs], labels if classes else labels / 3, classes)


@given(seed=SEEDS, data=st.data())
def test_dense_graphs_come_back_as_they_went_in(seed, data):
    graphs, dataset = make(seed)
    index = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=9))
    expected, found = graphs.select(index).trim(), dataset.graphs(index)
    for name in "BVAE":
        assert torch.equal(getattr(found, name), getattr(expected, name))
    Graph(found.B, found.V, found.A, found.E, found.schema)  # the checks that `graphs` skips would pass


@given(seed=SEEDS)
def test_graphs_given_one_by_one_make_the_same_dataset(seed):
    graphs, dataset = make(seed)
    single = GraphDataset.from_graphs("some", list(graphs), dataset.labels, dataset.classes)
    assert single.fingerprint() == dataset.fingerprint()


@given(seed=SEEDS, size=st.integers(1, 9), shuffled=st.booleans())
def test_batches_have_every_graph_once_with_its_label(seed, size, shuffled):
    _, dataset = make(seed, num_graphs=40)
    batches = list(dataset.batches(size, torch.Generator().manual_seed(seed) if shuffled else None))
    assert torch.equal(torch.cat([batch.index for batch in batches]).sort().values, torch.arange(len(dataset)))
    for index, graph, labels in batches:
        assert len(index) <= size
        assert torch.equal(graph.num_nodes.long(), dataset.num_nodes[index])
        assert torch.equal(labels, dataset.labels[index])


def test_batches_pad_little_and_depend_on_the_generator_alone():
    _, dataset = make(3, num_graphs=400)

    def order(seed: int) -> list[int]:
        return torch.cat([batch.index for batch in dataset.batches(8, torch.Generator().manual_seed(seed))]).tolist()

    assert order(1) == order(1) != order(2)
    slots = sum(batch.graph.B.numel() for batch in dataset.batches(8, torch.Generator().manual_seed(0)))
    unsorted = sum(dataset.graphs(chunk).B.numel() for chunk in torch.arange(len(dataset)).split(8))
    assert slots < 0.92 * unsorted
    sizes = torch.cat([dataset.num_nodes[batch.index] for batch in dataset.batches(8)])
    assert torch.equal(sizes, sizes.sort().values)


def test_batches_of_some_graphs():
    _, dataset = make(3, num_graphs=40)
    chosen = torch.tensor([5, 1, 9])
    (batch,) = dataset.batches(4, indices=chosen)
    assert sorted(batch.index.tolist()) == [1, 5, 9]


@given(seed=SEEDS, size=st.integers(1, 40), pairs=st.integers(1, 400))
def test_batches_of_large_graphs_are_divided(seed, size, pairs):
    _, dataset = make(seed, num_graphs=40)
    batches = list(dataset.batches(size, torch.Generator().manual_seed(seed), pairs=pairs))
    assert torch.equal(torch.cat([batch.index for batch in batches]).sort().values, torch.arange(len(dataset)))
    for batch in batches:
        assert len(batch.index) == 1 or len(batch.index) * batch.graph.num_slots**2 <= pairs
    whole = list(dataset.batches(size, torch.Generator().manual_seed(seed)))
    roomy = list(dataset.batches(size, torch.Generator().manual_seed(seed), pairs=40 * dataset.schema.max_nodes**2))
    assert [batch.index.tolist() for batch in roomy] == [batch.index.tolist() for batch in whole]


@given(g=st.integers(2, 400), seed=SEEDS)
def test_a_random_split_is_a_partition_of_the_stated_sizes(g, seed):
    schema = Schema(max_nodes=1)
    graph = Graph(torch.ones(g, 1), torch.ones(g, 1, 0), torch.zeros(g, 1, 1), torch.zeros(g, 1, 1, 0), schema)
    split = GraphDataset.from_graphs("dots", [graph], torch.zeros(g)).split_randomly(seed).split
    assert torch.equal(torch.cat(list(split.values())).sort().values, torch.arange(g))
    rest = g - int(0.8 * g)
    assert [len(part) for part in split.values()] == [int(0.8 * g), rest // 2, rest - rest // 2]


@given(seed=SEEDS, data=st.data())
def test_a_subset_keeps_graphs_labels_ids_and_parts(seed, data):
    graphs, dataset = make(seed, num_graphs=12)
    dataset = dataset.split_randomly(seed)
    index = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, unique=True))
    subset = dataset.subset(index)
    assert subset.graphs() == dataset.graphs(index)
    assert subset.ids == tuple(dataset.ids[k] for k in index)
    assert torch.equal(subset.labels, dataset.labels[index])
    for part, members in subset.split.items():
        assert {index[k] for k in members.tolist()} <= set(dataset.split[part].tolist())
    assert sum(len(members) for members in subset.split.values()) == len(index)


def test_parts_of_a_split():
    _, dataset = make(3, num_graphs=40)
    dataset = dataset.split_randomly(1)
    assert torch.equal(dataset.part("test").labels, dataset.labels[dataset.split["test"]])
    with pytest.raises(DataError, match="must have a part `tset`"):
        dataset.part("tset")


def test_the_fingerprint_sees_every_change():
    _, dataset = make(1, num_graphs=20)
    dataset = dataset.split_randomly(0)
    flipped = dataset.labels.clone()
    flipped[3] = 1 - flipped[3]
    changed = [
        replace(dataset, labels=flipped),
        dataset.split_randomly(1),
        dataset.subset(range(len(dataset) - 1)),
        replace(dataset, classes=("no", "maybe")),
        replace(dataset, schema=dataset.schema.model_copy(update={"max_nodes": 17})),
    ]
    prints = {dataset.fingerprint(), *(other.fingerprint() for other in changed)}
    assert len(prints) == 1 + len(changed)
    assert replace(dataset, name="other").fingerprint() == dataset.fingerprint()


def test_scales_are_those_of_the_training_part():
    schema = Schema(nodes=(Continuous(name="x"), Categories(name="type", values=("a",))), max_nodes=2)
    graphs = [Graph.build(schema, [{"x": float(k), "type": "a"}], []) for k in range(10)]
    dataset = GraphDataset.from_graphs("line", graphs, range(10)).split_randomly(0)
    column = dataset.with_scales().schema.nodes[0]
    values = dataset.split["train"].double()
    assert column.mean == pytest.approx(float(values.mean()))
    assert column.scale == pytest.approx(float(values.std(correction=0)))


PAIR = Schema(nodes=(Continuous(name="x"),), max_nodes=2)


def pair(**fields) -> GraphDataset:
    good = {
        "name": "pair",
        "schema": PAIR,
        "node_ptr": torch.tensor([0, 2, 3]),
        "V": torch.zeros(3, 1),
        "edge_ptr": torch.tensor([0, 1, 1]),
        "edges": torch.tensor([[0, 1]]),
        "E": torch.zeros(1, 0),
        "labels": torch.tensor([0, 1]),
        "classes": ("no", "yes"),
    }
    return GraphDataset(**good | fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"labels": torch.tensor([0, 2])}, r"graph 1 \(pair/1\): the label must be one of 0..1 \(no, yes\); got 2"),
        ({"labels": torch.tensor([0.0, torch.nan]), "classes": ()}, "graph 1 .* must be a finite number"),
        ({"labels": torch.tensor([0.0, 1.0])}, "class labels must be integers"),
        ({"labels": torch.tensor([0])}, "every graph must have one label; got 1 labels for 2 graphs"),
        ({"V": torch.tensor([[0.0], [0.0], [torch.nan]])}, "graph 1 .* node attributes must be finite"),
        ({"V": torch.zeros(3, 2)}, "must be 3 rows of 1 columns"),
        ({"edges": torch.tensor([[0, 2]])}, r"graph 0 .* got \(0, 2\)"),
        ({"edges": torch.tensor([[1, 1]])}, r"two different nodes of the graph"),
        ({"edges": torch.tensor([[1, 0]])}, r"the smaller first"),
        ({"schema": PAIR.model_copy(update={"max_nodes": 1})}, "graph 0 .* at most 1 nodes .* it has 2"),
        ({"node_ptr": torch.tensor([0, 3, 3])}, "graph 1 .* it is empty"),
        ({"split": {"train": torch.tensor([0, 1]), "test": torch.tensor([1])}}, "must not share graphs"),
        ({"split": {"train": torch.tensor([2])}}, "must name graphs 0..1; got 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_graph_named(fields, message):
    pair()
    with pytest.raises(DataError, match=message):
        pair(**fields)


def test_categories_must_be_one_hot():
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=2)
    V = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(DataError, match=r"graph 1 .* columns `type` must be one-hot"):
        pair(schema=schema, V=V)


def test_a_classifier_needs_two_classes():
    pair().require_classes()
    with pytest.raises(DataError, match="at least two classes; got only `yes` among 2 graphs"):
        pair(labels=torch.tensor([1, 1])).require_classes()
    with pytest.raises(DataError, match="got real numbers"):
        pair(labels=torch.tensor([0.5, 1.0]), classes=()).require_classes()


def test_an_empty_dataset_is_refused():
    with pytest.raises(DataError, match="at least one graph"):
        GraphDataset.from_graphs("none", [], [])
    with pytest.raises(DataError, match="at least one graph"):
        pair().subset([])
    with pytest.raises(IndexError, match="graph 2 of a dataset of 2"):
        pair().graphs(2)
