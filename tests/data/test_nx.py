"""NetworkX graphs: the round trip, what is read off their attributes, and what is refused."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip import Categories, Continuous, Schema
from graphflip.data import GraphDataset, from_networkx, to_networkx
from graphflip.data.molecules.molecule import drug_schema
from graphflip.errors import DataError
from graphflip.testing import random_graph, random_schema

nx = pytest.importorskip("networkx")


def chain(*symbols: str, kind: type = nx.Graph, **attributes) -> Any:
    graph = kind(**attributes)
    graph.add_nodes_from((f"atom {k}", {"symbol": symbol}) for k, symbol in enumerate(symbols))
    graph.add_edges_from((f"atom {k}", f"atom {k + 1}", {"order": 1}) for k in range(len(symbols) - 1))
    return graph


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
    found = from_networkx(to_networkx(dataset), schema=dataset.schema, classes=classes)
    assert found.fingerprint() == dataset.split_randomly(0).fingerprint()
    assert found.ids == dataset.ids
    assert [dict(g.nodes(data=True)) for g in to_networkx(graphs)] == [
        dict(g.nodes(data=True)) for g in to_networkx(dataset)
    ]


def test_attributes_are_read_off():
    graphs = [chain("C", "O", label="wet"), chain("C", "N", "C", label="dry")]
    for graph in graphs:
        nx.set_node_attributes(graph, 0.5, "charge")
    dataset = from_networkx(graphs)
    assert dataset.schema.nodes[0] == Categories(name="symbol", values=("C", "N", "O"))
    assert isinstance(dataset.schema.nodes[1], Continuous)
    assert dataset.schema.edges == (Categories(name="order", values=("1",)),)
    assert (dataset.classes, dataset.labels.tolist()) == (("dry", "wet"), [1, 0])
    assert dataset.graphs(0).nodes()[1] == {"symbol": "O", "charge": 0.5}


def test_directed_graphs_keep_their_direction():
    dataset = from_networkx([chain("C", "O", kind=nx.DiGraph)] * 2, [0, 1])
    assert dataset.schema.directed
    assert dataset.graphs(0).edges() == [(0, 1, {"order": "1"})]


def test_labels():
    graphs = [chain("C")] * 3
    assert from_networkx(graphs, [0.5, 1.0, 2.0]).classes == ()
    assert from_networkx(graphs, [10, 9, 10]).classes == ("9", "10")
    assert from_networkx(graphs, ["a", "a", "b"], classes=["b", "a"]).labels.tolist() == [1, 1, 0]
    with pytest.raises(DataError, match=r"graph 2: the label must be one of \['a'\]; got 'b'"):
        from_networkx(graphs, ["a", "a", "b"], classes=["a"])
    with pytest.raises(DataError, match=r"every graph must have one label; got 2"):
        from_networkx(graphs, ["a", "b"])


def lacking_attribute() -> Any:
    graph = chain("C", "O")
    graph.add_node("bare")
    return graph


def with_loop() -> Any:
    graph = chain("C", "O")
    graph.add_edge("atom 0", "atom 0", order=1)
    return graph


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lacking_attribute(), r"graph 1, node 2: attributes must be \['symbol'\]; got \[\]"),
        (with_loop(), "graph 1 must not have self loops; node 'atom 0' has one"),
        (chain("C", kind=nx.DiGraph), "graph 1 differs from graph 0"),
        (chain("C", kind=nx.MultiGraph), "graph 1 must have one edge per pair; got a multigraph"),
        (nx.Graph(), "graph 1 must have at least one node"),
        ("CCO", "element 1 must be a NetworkX graph; got str"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_graph_named(wrong, message):
    with pytest.raises(DataError, match=message):
        from_networkx([chain("C", "O"), wrong], ["a", "b"])


def test_a_schema_must_fit_the_data():
    schema = Schema(nodes=(Categories(name="symbol", values=("C", "O")),), max_nodes=3)
    with pytest.raises(DataError, match=r"graph 1, node attribute `symbol`: `symbol` must be one of C, O; got 'N'"):
        from_networkx([chain("C"), chain("N")], ["a", "b"], schema=schema)
    with pytest.raises(DataError, match="graphs must be Graph, as the schema says"):
        from_networkx([chain("C", kind=nx.DiGraph)], ["a"], schema=schema)
    with pytest.raises(DataError, match=r"graph 0 must have a label"):
        from_networkx([chain("C")])
    numbers = Schema(nodes=(Continuous(name="symbol"),), max_nodes=3)
    with pytest.raises(DataError, match=r"graph 0, node attribute `symbol`: could not convert"):
        from_networkx([chain("C")], ["a"], schema=numbers)
