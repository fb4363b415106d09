"""PyG objects: the round trip, what is read off their values, and what is refused."""

import zipfile
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip import Categories, Continuous, Schema
from graphflip.data import GraphDataset, from_pyg, load_tu, to_pyg
from graphflip.data.molecules.molecule import drug_schema
from graphflip.errors import DataError
from graphflip.testing import random_graph, random_schema

Data = pytest.importorskip("torch_geometric.data").Data
PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def path(**fields) -> Any:
    return Data(**{"x": torch.eye(3), "edge_index": PATH, "y": torch.tensor([1])} | fields)


@given(
    seed=st.integers(0, 2**16),
    classes=st.sampled_from([("no", "yes"), ()]),
    make=st.sampled_from([random_schema, lambda _: drug_schema(9)]),
)
def test_there_and_back_gives_the_same_dataset(seed, classes, make):
    graphs = random_graph(make(seed), n=5, num_graphs=6, seed=seed)
    graphs = graphs.select((graphs.num_nodes > 0).nonzero()[:, 0])
    labels = torch.arange(len(graphs)) % 2
    dataset = GraphDataset.from_graphs("some", [graphs], labels if classes else labels / 3, classes)
    found = from_pyg(to_pyg(dataset), schema=dataset.schema, classes=classes)
    assert found.fingerprint() == dataset.split_randomly(0).fingerprint()
    for ours, theirs in zip(to_pyg(graphs), to_pyg(dataset), strict=True):
        assert torch.equal(ours.x, theirs.x)
        assert torch.equal(ours.edge_index, theirs.edge_index)


def test_one_hot_rows_are_categories():
    dataset = from_pyg([path(), path(y=torch.tensor([0]))])
    assert dataset.schema.nodes == (Categories(name="type", values=("0", "1", "2")),)
    assert dataset.classes == ("0", "1")
    assert not dataset.schema.directed
    assert dataset.graphs(0).edges() == [(0, 1, {}), (1, 2, {})]


def test_integers_are_categories_one_group_per_column():
    dataset = from_pyg([path(x=torch.tensor([[7, 0], [9, 1], [7, 1]]), edge_attr=torch.tensor([4, 4, 8, 8]))])
    assert [column.values for column in dataset.schema.nodes] == [("7", "9"), ("0", "1")]
    assert dataset.graphs(0).edges() == [(0, 1, {"type": "4"}), (1, 2, {"type": "8"})]
    again = from_pyg([path(x=torch.tensor([[9, 0]] * 3), edge_attr=torch.tensor([8] * 4))], schema=dataset.schema)
    assert again.graphs(0).nodes()[0] == {"type_0": "9", "type_1": "0"}


def test_integer_charges_are_read_by_their_value():
    """Elements have names, so integers are their positions; charges are numbers themselves."""
    x = torch.tensor([[0, 0], [1, 1], [2, -1]])
    bonds = torch.tensor([0, 0, 0, 0])
    graph = from_pyg([path(x=x, edge_attr=bonds)], schema=drug_schema(9)).graphs(0)
    assert graph.nodes() == [
        {"type": "C", "charge": "0"},
        {"type": "N", "charge": "+1"},
        {"type": "O", "charge": "-1"},
    ]


def test_real_numbers_are_continuous_and_scaled():
    dataset = from_pyg([path(x=torch.tensor([[0.5], [1.5], [2.5]]), y=torch.tensor([0.25]))] * 5)
    column = dataset.schema.nodes[0]
    assert isinstance(column, Continuous)
    assert column.mean == pytest.approx(1.5)
    assert (dataset.classes, dataset.labels.tolist()) == ((), [0.25] * 5)


def test_labels_that_are_zeros_and_ones_are_classes_of_whatever_type():
    dataset = from_pyg([path(y=torch.tensor([[float(k % 2)]])) for k in range(4)])
    assert (dataset.classes, dataset.labels.tolist()) == (("0", "1"), [0, 1, 0, 1])
    with pytest.raises(DataError, match="2 are not, that of graph 1 first"):
        from_pyg([path(y=torch.tensor([k and float("nan")])) for k in range(3)])


def test_edges_that_differ_between_directions_are_directed():
    assert from_pyg([path(edge_index=PATH[:, :3])]).schema.directed
    assert from_pyg([path(edge_attr=torch.tensor([[0.5], [0.6], [0.7], [0.7]]))]).schema.directed


def test_a_set_of_the_collection_reads_as_its_files_do(data_folder, tmp_path):
    datasets = pytest.importorskip("torch_geometric.datasets")
    with zipfile.ZipFile(data_folder / "AIDS.zip") as archive:
        for entry in archive.namelist():
            if entry.endswith(".txt"):
                (tmp_path / "AIDS" / "raw").mkdir(parents=True, exist_ok=True)
                (tmp_path / "AIDS" / "raw" / entry.rpartition("/")[2]).write_bytes(archive.read(entry))
    ours = load_tu(tmp_path / "AIDS" / "raw", attributes=False)
    theirs = from_pyg(datasets.TUDataset(str(tmp_path), "AIDS"), schema=ours.schema, classes=ours.classes)
    assert theirs.fingerprint() == ours.fingerprint()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"edge_index": torch.tensor([[0], [3]])}, r"graph 1, edge 0: `edge_index` must name nodes 0..2; got \(0, 3\)"),
        ({"edge_index": torch.tensor([[0, 2], [1, 2]])}, r"graph 1, edge 1: .*no self loops"),
        ({"edge_index": torch.tensor([[0, 0], [1, 1]])}, r"graph 1, edge 1: .* once per direction"),
        ({"edge_index": None}, r"element 1 must be a PyG Data with `edge_index`"),
        ({"x": torch.eye(2)}, r"graph 1, edge 2: `edge_index` must name nodes 0..1"),
        ({"x": torch.ones(3, 2)}, r"graph 1: `x` must have 3 rows of 3 columns"),
        ({"x": torch.full((3, 3), torch.nan)}, r"graph 1 .* node attributes must be finite"),
        (
            {"x": torch.empty(0, 3), "edge_index": torch.empty(2, 0, dtype=torch.long)},
            r"graph 1 must have at least one",
        ),
        ({"y": None}, r"graph 1 must have one label as `y`"),
        ({"y": torch.tensor([0, 1])}, r"graph 1 must have one label as `y`"),
        ({"y": torch.tensor([-1])}, r"graph 1 .* the label must be one of"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_graph_named(fields, message):
    with pytest.raises(DataError, match=message):
        from_pyg([path(), path(**fields)])


def test_a_batch_is_not_one_graph():
    from torch_geometric.data import Batch

    with pytest.raises(DataError, match=r"element 0 must be one graph; got a batch of 2.*to_data_list"):
        from_pyg([Batch.from_data_list([path(), path()])])


def test_a_schema_must_fit_the_data():
    schema = Schema(nodes=(Categories(name="type", values=("C", "O")),), max_nodes=3)
    with pytest.raises(DataError, match=r"`x` must have 2 columns, as the schema says; got 3"):
        from_pyg([path()], schema=schema)
    with pytest.raises(DataError, match=r"`x` must be one of \[0, 1\] for `type`; got 2"):
        from_pyg([path(x=torch.tensor([0, 1, 2]))], schema=schema)
    with pytest.raises(DataError, match="must be listed both ways"):
        from_pyg([path(x=torch.eye(2)[[0, 1, 0]], edge_index=PATH[:, :3])], schema=schema)
    with pytest.raises(DataError, match="at least one graph"):
        from_pyg([])
