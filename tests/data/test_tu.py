"""TU sets: the paper's figures, the round trip, and a message with file and line for whatever can be wrong with one."""

import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from graphflip import Continuous
from graphflip.data import GraphDataset, load_dataset, load_paper_dataset, load_tu, write_tu
from graphflip.data.tu.notes import LabelNotes
from graphflip.errors import ConfigError, DataError
from graphflip.testing import random_graph, random_schema

TOY = Path(__file__).parent.parent / "golden" / "toy"


def lines(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A copy of the toy set to spoil."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


def test_the_toy_set_is_what_its_files_say():
    dataset = load_tu(TOY)
    assert [column.name for column in dataset.schema.nodes] == ["color", "weight", "depth"]
    assert dataset.schema.nodes[0].values == ("gray", "red", "blue")
    assert dataset.schema.edges[0].values == ("thin", "thick")
    assert dataset.classes == ("calm", "wild")
    assert dataset.labels.tolist() == [1, 0, 0, 1, 1, 0]
    assert dataset.num_nodes.tolist() == [3, 3, 2, 1, 4, 4]
    assert not dataset.schema.directed
    assert dataset.ids[4] == "toy/4"
    star = dataset.graphs(4)
    assert star.edges() == [(0, 1, {"width": "thin"}), (0, 2, {"width": "thin"}), (0, 3, {"width": "thick"})]
    assert star.nodes()[3] == {"color": "blue", "weight": 3.0, "depth": -7.5}


def test_filters():
    assert load_tu(TOY, max_nodes=3).num_nodes.tolist() == [3, 3, 2, 1]
    kept = load_tu(TOY, min_label_count=6)  # 9 nodes are gray, 6 red, 2 blue
    assert kept.ids == ("toy/0", "toy/1", "toy/2", "toy/5")
    assert kept.schema.nodes[0].values == ("gray", "red")
    assert load_tu(TOY, attributes=False).schema.dv == 3
    with pytest.raises(DataError, match=r"filter max_nodes=0.*none of 6"):
        load_tu(TOY, max_nodes=0)


@pytest.mark.parametrize(
    ("name", "graphs", "nodes", "edges", "classes", "sizes", "split"),
    [
        ("aids", 1635, "C O N Cl F S P Na Br", 3, [168, 1467], (11.45, 11.67, 30), [1308, 163, 164]),
        ("mutagenicity", 3935, "C O Cl H N F Br S P Na", 3, [2275, 1660], (26.09, 26.95, 50), [3148, 393, 394]),
        ("nci1", 3678, "O N C S Cl P F Sn Br I", 0, [1947, 1731], (26.93, 29.16, 50), [2942, 368, 368]),
    ],
)
def test_the_papers_sets(data_folder, name, graphs, nodes, edges, classes, sizes, split):
    start = time.process_time()
    dataset = load_paper_dataset(name)
    assert time.process_time() - start < 2
    assert len(dataset) == graphs
    assert dataset.schema.nodes[0].values == tuple(nodes.split())
    assert dataset.schema.de == edges
    assert dataset.labels.bincount().tolist() == classes
    assert float(dataset.num_nodes.float().mean()) == pytest.approx(sizes[0], abs=0.005)
    assert float(dataset.num_edges.float().mean()) == pytest.approx(sizes[1], abs=0.005)
    assert int(dataset.num_nodes.max()) <= sizes[2] == dataset.schema.max_nodes
    assert [len(dataset.split[part]) for part in ("train", "validation", "test")] == split
    assert all(label.startswith(f"{name}/") for label in dataset.ids)


def test_the_papers_sets_are_named_rightly(data_folder):
    aids, mutagenicity, nci1 = (load_paper_dataset(name) for name in ("aids", "mutagenicity", "nci1"))
    assert aids.classes == ("active", "inactive")
    assert mutagenicity.classes == ("mutagen", "nonmutagen")
    assert nci1.classes == ("inactive", "active")
    assert (aids.schema.chemistry.explicit_hydrogens, mutagenicity.schema.chemistry.explicit_hydrogens) == (False, True)
    assert nci1.schema.chemistry is None
    assert aids.schema.edges[0].values == ("single", "double", "triple")
    assert load_paper_dataset("nci1", seed=1).fingerprint() != nci1.fingerprint() == load_dataset("nci1").fingerprint()


def test_whole_sets_have_the_collections_figures(data_folder):
    for name, graphs, nodes, labels in (("AIDS", 2000, 31385, 38), ("NCI1", 4110, 122747, 37)):
        dataset = load_tu(name)
        assert (len(dataset), len(dataset.V), dataset.schema.nodes[0].width) == (graphs, nodes, labels)
    assert [column.name for column in load_tu("AIDS").schema.nodes] == ["type", "chem", "charge", "x", "y"]


def test_a_changed_byte_of_a_known_set_is_noticed(data_folder, tmp_path):
    with zipfile.ZipFile(data_folder / "AIDS.zip") as archive:
        archive.extractall(tmp_path)
    assert len(load_tu(tmp_path / "AIDS")) == 2000
    lines(tmp_path / "AIDS" / "AIDS_node_labels.txt", lambda rows: ["1", *rows[1:]])
    with pytest.raises(DataError, match=r"AIDS_node_labels.txt: must be the published file"):
        load_tu(tmp_path / "AIDS")


def test_a_set_is_found_by_path_zip_and_name(toy, monkeypatch):
    expected = load_tu(toy).fingerprint()
    archive = shutil.make_archive(str(toy.parent / "packed" / "toy"), "zip", toy.parent, "toy")
    assert load_tu(archive).fingerprint() == expected
    monkeypatch.setenv("GRAPHFLIP_DATA", str(toy.parent))
    assert load_tu("toy").fingerprint() == expected
    monkeypatch.setenv("GRAPHFLIP_DATA", str(toy.parent / "packed"))
    assert load_tu("toy").fingerprint() == expected
    (toy.parent / "pyg" / "toy").mkdir(parents=True)
    toy.rename(toy.parent / "pyg" / "toy" / "raw")
    monkeypatch.setenv("GRAPHFLIP_DATA", str(toy.parent / "pyg"))
    assert load_tu("toy").fingerprint() == expected


def test_without_network_the_error_says_what_to_set(monkeypatch, tmp_path):
    datasets = pytest.importorskip("torch_geometric.datasets")

    def refuse(*_):
        raise OSError("network is unreachable")

    monkeypatch.setattr(datasets, "TUDataset", refuse)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("GRAPHFLIP_DATA", raising=False)
    with pytest.raises(DataError, match=r"could not be downloaded.*Set GRAPHFLIP_DATA to a folder that has AIDS.zip"):
        load_paper_dataset("aids")


@given(seed=st.integers(0, 2**16), classes=st.sampled_from([("no", "yes"), ()]))
def test_writing_and_reading_gives_the_same_dataset(tmp_path_factory, seed, classes):
    graphs = random_graph(random_schema(seed), n=5, num_graphs=6, seed=seed)
    graphs = graphs.select((graphs.num_nodes > 0).nonzero()[:, 0])
    assume(len(graphs) > 1)
    labels = torch.arange(len(graphs)) % 2
    dataset = GraphDataset.from_graphs("some", [graphs], labels if classes else labels / 3, classes)
    folder = tmp_path_factory.mktemp("round") / "trip"
    write_tu(dataset, folder)
    found = load_tu(folder, max_nodes=dataset.schema.max_nodes)
    assert found.schema.directed == dataset.schema.directed
    assert found.fingerprint() == dataset.split_randomly(0).with_scales().fingerprint()


def test_a_set_of_the_paper_survives_the_round_trip(data_folder, tmp_path):
    dataset = load_paper_dataset("aids")
    write_tu(dataset, tmp_path / "copy")
    found = load_tu(tmp_path / "copy", max_nodes=30)
    for name in ("node_ptr", "V", "edge_ptr", "edges", "E", "labels"):
        assert torch.equal(getattr(found, name), getattr(dataset, name))
    assert found.schema == dataset.schema  # elements and bonds are recognized by their names


def test_names_that_notes_cannot_hold_are_refused(tmp_path):
    graph = random_graph(n=3, seed=1)
    with pytest.raises(DataError, match="must not have commas"):
        write_tu(GraphDataset.from_graphs("odd", [graph], [0] * len(graph), ["tab\there "]), tmp_path / "odd")


def test_notes_read_what_they_write():
    notes = LabelNotes({"node labels": ["a", "b"]}, {"node labels": [{0: "x", -3: "y z"}, {}]})
    assert LabelNotes.parse(notes.format()) == notes


def test_a_category_that_only_the_notes_name_is_kept_unless_filtered(toy):
    lines(
        toy / "toy_label_readme.txt", lambda rows: [line.replace("\t2\tblue", "\t2\tblue\n\t3\tgold") for line in rows]
    )
    assert load_tu(toy).schema.nodes[0].values == ("gray", "red", "blue", "gold")
    assert load_tu(toy, min_label_count=1).schema.nodes[0].values == ("gray", "red", "blue")


def test_edges_listed_one_way_are_directed(toy):
    for suffix in ("A", "edge_labels"):
        lines(toy / f"toy_{suffix}.txt", lambda rows: rows[::2])
    dataset = load_tu(toy)
    assert dataset.schema.directed
    assert dataset.graphs(1).edges() == [(0, 1, {"width": "thin"}), (1, 2, {"width": "thin"})]


def test_edges_with_other_labels_one_way_are_directed(toy):
    lines(toy / "toy_edge_labels.txt", lambda rows: ["1", *rows[1:]])
    assert load_tu(toy).schema.directed


def test_a_set_without_labels_of_nodes_and_edges(toy):
    for suffix in ("node_labels", "edge_labels", "node_attributes", "label_readme"):
        (toy / f"toy_{suffix}.txt").unlink()
    dataset = load_tu(toy)
    assert (dataset.schema.dv, dataset.schema.de, dataset.classes) == (0, 0, ("-1", "1"))


def test_continuous_edge_attributes_and_regression_targets(toy):
    count = len((toy / "toy_A.txt").read_text().splitlines())
    (toy / "toy_edge_attributes.txt").write_text("".join(f"{k // 2}.5\n" for k in range(count)))
    (toy / "toy_graph_attributes.txt").write_text("".join(f"{k}.25, {-k}\n" for k in range(6)))
    dataset = load_tu(toy, target=1)
    assert isinstance(dataset.schema.edges[1], Continuous)
    assert dataset.graphs(0).edges()[0][2] == {"width": "thin", "attribute": 0.5}
    assert (dataset.classes, dataset.labels.tolist()) == ((), [0, -1, -2, -3, -4, -5])
    (toy / "toy_graph_labels.txt").unlink()
    assert load_tu(toy).labels.tolist() == [0.25, 1.25, 2.25, 3.25, 4.25, 5.25]
    with pytest.raises(ConfigError, match=r"target must be one of 0..1; got 2"):
        load_tu(toy, target=2)


def replaced(at: int, line: str) -> Callable[[list[str]], list[str]]:
    return lambda rows: [*rows[: at - 1], line, *rows[at:]]


@pytest.mark.parametrize(
    ("suffix", "change", "message"),
    [
        ("A", replaced(3, "2, 99"), r"toy_A.txt, line 3: an edge must join nodes 1..17; got 2, 99"),
        ("A", replaced(3, "0, 1"), r"toy_A.txt, line 3: an edge must join nodes 1..17; got 0, 1"),
        ("A", replaced(3, "2, 5"), r"toy_A.txt, line 3: an edge must join two nodes of one graph; got 2, 5"),
        ("A", replaced(3, "2, 2"), r"toy_A.txt, line 3: .*no self loops.*got 2, 2"),
        ("A", replaced(3, "1, 2"), r"toy_A.txt, line 3: an edge must be listed once per direction; got 1, 2"),
        ("A", replaced(3, "2; 3"), r"toy_A.txt, line 3: must be 2 numbers separated by commas; got '2; 3'"),
        ("A", replaced(3, "2, three"), r"toy_A.txt, line 3: must be 2 numbers separated by commas; got '2, three'"),
        ("A", replaced(3, "2"), r"toy_A.txt, line 3: must be 2 numbers"),
        ("A", replaced(3, ""), r"toy_A.txt, line 3: must be 2 numbers .* got ''"),
        ("A", replaced(3, "2, 3.5"), r"toy_A.txt, line 3: .* whole numbers; got 3.5"),
        ("edge_labels", lambda rows: rows[:-4], r"toy_edge_labels.txt, line 23: .* 26 lines .* it has 22"),
        ("edge_labels", lambda rows: [*rows, "0"], r"toy_edge_labels.txt, line 27: .* 26 lines .* it has 27"),
        ("node_labels", lambda rows: rows[:5], r"toy_node_labels.txt, line 6: .* 17 lines .* it has 5"),
        ("node_labels", replaced(2, "x"), r"toy_node_labels.txt, line 2: must be a number; got 'x'"),
        (
            "node_attributes",
            replaced(4, "nan, 1"),
            r"toy_node_attributes.txt, line 4: attributes must be finite; got nan",
        ),
        (
            "node_attributes",
            replaced(4, "1, inf"),
            r"toy_node_attributes.txt, line 4: attributes must be finite; got inf",
        ),
        ("node_attributes", replaced(4, "1, 2, 3"), r"toy_node_attributes.txt, line 4: must be 2 numbers"),
        ("graph_indicator", replaced(17, "7"), r"toy_graph_indicator.txt, line 17: .* one of 1..6.* got 7"),
        ("graph_indicator", replaced(5, "1"), r"toy_graph_indicator.txt, line 5: .* got graph 1 after 2"),
        ("graph_indicator", replaced(9, "5"), r"graph 4 \(line 4 of the labels\) has none"),
        ("graph_labels", lambda rows: rows[:5], r"toy_graph_indicator.txt, line 14: .* one of 1..5.* got 6"),
        ("graph_labels", lambda rows: [*rows, "1"], r"graph 7 \(line 7 of the labels\) has none"),
        ("graph_labels", replaced(2, "wild"), r"toy_graph_labels.txt, line 2: must be a number; got 'wild'"),
        ("graph_labels", lambda rows: [], r"toy_graph_indicator.txt, line 1"),
        ("graph_indicator", lambda rows: [], r"every graph must have a node"),
    ],
)
def test_a_spoiled_file_is_named_with_its_line(toy, suffix, change, message):
    lines(toy / f"toy_{suffix}.txt", change)
    with pytest.raises(DataError, match=message):
        load_tu(toy)


@pytest.mark.parametrize("suffix", ["graph_indicator", "graph_labels"])
def test_a_missing_file_is_named(toy, suffix):
    (toy / f"toy_{suffix}.txt").unlink()
    with pytest.raises(DataError, match=rf"toy_{suffix}.txt must be there; it is missing"):
        load_tu(toy)


def test_what_is_no_tu_set_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"exactly one file NAME_A.txt"):
        load_tu(tmp_path)
    with pytest.raises(DataError, match="there is nothing here"):
        load_tu(tmp_path / "absent" / "set")
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(DataError, match="it cannot be read"):
        load_tu(tmp_path / "cut.zip")
    with pytest.raises(ConfigError, match="aids, mutagenicity, nci1; got 'AIDS'"):
        load_paper_dataset("AIDS")


def test_load_dataset_lists_what_it_accepts(toy):
    assert load_dataset(str(toy)).name == "toy"
    assert load_dataset("planted").name == "planted"
    for spec, reason in (("mutagenisity", "no set has this name"), ("some/file.csv", "there is no such file")):
        with pytest.raises(DataError, match=rf"aids, mutagenicity, nci1 .*planted, rdkit.*TU folder or zip.*{reason}"):
            load_dataset(spec)


def test_a_set_is_read_as_graphs_of_another_schema(toy):
    dataset = load_dataset(str(toy))
    wide = dataset.schema.model_copy(update={"max_nodes": 40})
    read = load_dataset(str(toy), schema=wide)
    assert read.schema == wide
    assert torch.equal(read.V, dataset.V)
    assert torch.equal(read.labels, dataset.labels)
    assert (read.ids, read.classes) == (dataset.ids, dataset.classes)
    narrow = dataset.schema.model_copy(update={"max_nodes": 1})
    with pytest.raises(DataError, match=r"toy/\d+: the graph must be one of the schema"):
        load_dataset(str(toy), schema=narrow)
