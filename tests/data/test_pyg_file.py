"""PyG graphs from files: what was saved is read, and what cannot be is said."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset

from graphflip.data.planted.motif import planted
from graphflip.data.pyg.file import read_pyg_file
from graphflip.data.pyg.objects import from_pyg, to_pyg
from graphflip.data.source import load_dataset
from graphflip.errors import DataError

GRAPHS = to_pyg(planted(6, seed=3))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graphs.pt"


def same(read, graphs):
    assert len(read) == len(graphs)
    for one, other in zip(read, graphs, strict=True):
        assert set(one.keys()) == set(other.keys())
        assert all(torch.equal(one[key], other[key]) for key in other.keys() if isinstance(other[key], torch.Tensor))  # noqa: SIM118


def test_lists_single_graphs_and_datasets_are_read(path):
    whole, slices = InMemoryDataset.collate(GRAPHS)
    for saved, graphs in (
        (GRAPHS, GRAPHS),
        (tuple(GRAPHS), GRAPHS),
        (GRAPHS[2], GRAPHS[2:3]),
        ((whole, slices), GRAPHS),
        ((whole.to_dict(), slices, Data), GRAPHS),
    ):
        torch.save(saved, path)
        same(read_pyg_file(path), graphs)


def test_a_file_is_a_dataset(path):
    torch.save(GRAPHS, path)
    dataset, known = load_dataset(str(path)), from_pyg(GRAPHS)
    assert dataset.name == "graphs"
    assert dataset.schema == known.schema
    assert dataset.graphs() == known.graphs()
    assert torch.equal(dataset.labels, known.labels)


@pytest.mark.parametrize(
    ("saved", "says"),
    [
        (Batch.from_data_list(GRAPHS[:2]), "to_data_list"),
        ((GRAPHS[0], {}), "slices must say"),
        ((GRAPHS[0], {"x": torch.tensor([0, 99])}), "slices must say"),
    ],
)
def test_what_cannot_be_read_is_said(path, saved, says):
    torch.save(saved, path)
    with pytest.raises(DataError, match=says):
        read_pyg_file(path)


@pytest.mark.parametrize("count", [2, np.int64(2), torch.tensor(2)])
def test_any_whole_number_counts_nodes(count):
    assert from_pyg([Data(num_nodes=count, edge_index=torch.tensor([[0, 1], [1, 0]]), y=0)]).graphs().num_nodes == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"edge_index": torch.zeros(3, 2, dtype=torch.long)}, "`edge_index` must be an integer tensor of two rows"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "`edge_index` must be an integer tensor"),
        ({"edge_index": [[0], [1]]}, "`edge_index` must be an integer tensor of two rows; got a list"),
        ({"x": "red"}, "`x` must be a tensor with a row for each node; got a str"),
        ({"x": torch.zeros(2, 2, 2)}, r"`x` must be .* got torch.float32 of shape \(2, 2, 2\)"),
        ({"x": torch.eye(2).to_sparse()}, "`x` must be a tensor"),
        ({"x": None, "num_nodes": "two"}, "`num_nodes` must be a number"),
    ],
)
def test_what_is_no_graph_is_said(wrong, says):
    right = {"x": torch.eye(2), "edge_index": torch.tensor([[0, 1], [1, 0]]), "y": 0}
    with pytest.raises(DataError, match=says):
        from_pyg([Data(**(right | wrong))])
