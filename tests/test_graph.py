"""Graph: wrong input is refused; laws of building, reordering, batching and reading."""

import dataclasses

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphflip.errors import GraphError, SchemaError
from graphflip.graph import Graph
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
SIZES = st.integers(0, 7)
TYPE = Categories(name="type", values=("C", "O"))
BOND = Categories(name="bond", values=("single", "double"))
SCHEMA = Schema(nodes=(TYPE, Continuous(name="size")), edges=(BOND, Continuous(name="length")), max_nodes=6)
DIRECTED = SCHEMA.model_copy(update={"directed": True})
PLAIN = Schema(max_nodes=16)


def path_of_three(schema=SCHEMA):
    nodes = [{"type": "C", "size": 0.5}, {"type": "C", "size": 1.5}, {"type": "O", "size": -2.0}]
    edges = [(0, 1, {"bond": "single", "length": 1.0}), (1, 2, {"bond": "double", "length": 0.25})]
    return Graph.build(schema, nodes, edges).pad(4)


def random_order(n, seed):
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))


def tensors(graph):
    return graph.B, graph.V, graph.A, graph.E


def same_tensors(g, h):
    return all(torch.equal(x, y) for x, y in zip(tensors(g), tensors(h), strict=True))


def changed(name, at, value):
    """A function that gives the tensor `name` of a graph with one entry changed."""

    def change(graph):
        tensor = getattr(graph, name).clone()
        tensor[at] = value
        return {name: tensor}

    return change


REFUSED = {
    "numpy": (lambda g: {"V": g.V.numpy()}, "`V` must be a torch tensor; got ndarray"),
    "no batch axis": (lambda g: {"B": g.B[0]}, r"`B` must be graphs x slots; got shape \(4,\). Add a batch axis"),
    "V too wide": (lambda g: {"V": g.V[..., :2]}, "`V` must be 1 x 4 x 3 because `B` has 1 graphs of 4 slots"),
    "A of other size": (
        lambda g: {"A": g.A[:, :3, :3]},
        "`A` must be 1 x 4 x 4 .* got 1 x 3 x 3. Pad with `Graph.pad`",
    ),
    "E without columns": (lambda g: {"E": g.E[..., :0]}, "`E` must be 1 x 4 x 4 x 3 .* got 1 x 4 x 4 x 0"),
    "more slots than the schema allows": (
        lambda g: {"schema": SCHEMA.model_copy(update={"max_nodes": 3})},
        "at most 3 slots .* got 4. Use `trim`",
    ),
    "integers": (lambda g: {"A": g.A.long()}, "`A` must be floating point; got torch.int64"),
    "mixed precision": (lambda g: {"V": g.V.double()}, "`V` must be torch.float32 on cpu as `B` is; got torch.float64"),
    "NaN": (changed("V", (0, 0, 2), torch.nan), "`V` must be finite; got NaN or infinity"),
    "infinity": (changed("E", (0, 0, 1, 2), torch.inf), "`E` must be finite"),
    "B below 0": (changed("B", (0, 3), -0.5), r"`B` must lie in \[0, 1\]; got -0.5 to 1"),
    "A above 1": (changed("A", (0, 0, 1), 2.0), r"`A` must lie in \[0, 1\]; got 0 to 2"),
    "self loop": (changed("A", (0, 1, 1), 1.0), "zero diagonal: self loops are not edges"),
    "edge at an empty slot": (changed("A", (0, [0, 3], [3, 0]), 1.0), "an edge at a slot where `B` is 0"),
    "A one way": (changed("A", (0, 2, 0), 1.0), "`A` must be symmetric because the schema is undirected"),
    "E one way": (changed("E", (0, 0, 1, 2), 7.0), "`E` must be symmetric .* or use Schema.directed=True"),
    "two types": (changed("V", (0, 0, 1), 1.0), "The columns `type` of `V` must be one-hot"),
    "no type": (changed("V", (0, 0, 0), 0.0), "The columns `type` of `V` must be one-hot"),
    "type of an empty slot": (changed("V", (0, 3, 0), 1.0), "The columns `type` of `V` must be one-hot"),
    "negative type": (changed("V", (0, 0, [0, 1]), torch.tensor([2.0, -1.0])), "The columns `type` of `V`"),
    "bond without an edge": (changed("E", (0, [0, 2], [2, 0], 1), 1.0), "The columns `bond` of `E` must be one-hot"),
    "number at an empty slot": (changed("V", (0, 3, 2), 1.0), "`size` in `V` must be zero where `B` is 0"),
    "number without an edge": (
        changed("E", (0, [0, 2], [2, 0], 2), 1.0),
        "`length` in `E` must be zero where `A` is 0",
    ),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_wrong_tensors_are_refused(change, message, monkeypatch):
    graph = path_of_three()
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # users have no hook that checks shapes
    with pytest.raises(GraphError, match=message):
        dataclasses.replace(graph, **change(graph))


def test_directed_graphs_may_be_one_way():
    graph = path_of_three(DIRECTED)
    assert graph.A[0, 0, 1] == 1
    assert graph.A[0, 1, 0] == 0
    assert graph.num_edges == 2


C = {"type": "C", "size": 1.0}
LINK = {"bond": "single", "length": 1.0}
UNBUILDABLE = {
    "too many nodes": ([C] * 7, [], GraphError, r"at most 6 nodes; got 7. .*max_nodes=7"),
    "edge to nowhere": ([C, C], [(0, 2, LINK)], GraphError, r"two different nodes of 0..1; got \(0, 2\)"),
    "negative end": ([C, C], [(0, -1, LINK)], GraphError, r"got \(0, -1\)"),
    "self loop": ([C, C], [(1, 1, LINK)], GraphError, r"got \(1, 1\)"),
    "missing attribute": ([{"type": "C"}], [], GraphError, r"node 0 must have the attributes \['type', 'size'\]; got"),
    "unknown attribute": ([C, C], [(0, 1, LINK | {"x": 1})], GraphError, r"edge \(0, 1\) must have the attributes"),
    "unknown category": ([C | {"type": "Xe"}], [], SchemaError, "`type` must be one of C, O; got 'Xe'"),
    "text for a number": ([C | {"size": "big"}], [], GraphError, "`size` of node 0 must be a number; got 'big'"),
    "NaN": ([C | {"size": float("nan")}], [], GraphError, "`V` must be finite"),
    "edge listed twice": (
        [C, C],
        [(0, 1, LINK), (1, 0, LINK | {"bond": "double"})],
        GraphError,
        r"one set of attributes; \(1, 0\) is listed twice",
    ),
}


@pytest.mark.parametrize(("nodes", "edges", "error", "message"), UNBUILDABLE.values(), ids=UNBUILDABLE)
def test_wrong_lists_are_refused(nodes, edges, error, message):
    with pytest.raises(error, match=message):
        Graph.build(SCHEMA, nodes, edges)


def test_an_undirected_edge_may_be_listed_both_ways():
    assert Graph.build(SCHEMA, [C, C], [(0, 1, LINK), (1, 0, LINK)]) == Graph.build(SCHEMA, [C, C], [(0, 1, LINK)])


@given(n=SIZES, seed=SEEDS)
def test_build_inverts_nodes_and_edges(n, seed):
    graph = random_graph(random_schema(seed), n=n, num_graphs=1, seed=seed).trim()
    rebuilt = Graph.build(graph.schema, graph.nodes(), graph.edges())
    assert same_tensors(rebuilt, graph)


@given(n=SIZES, seed=SEEDS)
def test_edges_are_listed_once(n, seed):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed)
    for i in range(3):
        pairs = [pair[:2] for pair in graph.edges(i)]
        assert len(pairs) == len(set(pairs)) == graph.num_edges[i]
        assert graph.schema.directed or all(a < b for a, b in pairs)
        assert sum(node is not None for node in graph.nodes(i)) == graph.num_nodes[i]


@given(n=SIZES, seed=SEEDS, relaxed=st.booleans())
def test_the_lists_of_a_single_graph_are_those_of_its_batch_however_often_they_are_read(n, seed, relaxed):
    batch = random_graph(random_schema(seed), n=n, num_graphs=2, seed=seed, relaxed=relaxed)
    for i in range(2):
        graph = batch[i]
        for _ in range(2):
            assert graph.nodes() == graph.nodes(-1) == batch.nodes(i)
            assert graph.edges() == graph.edges(-1) == batch.edges(i)
            for attributes in [*filter(None, graph.nodes()), *(edge[2] for edge in graph.edges())]:
                attributes.clear()
    for wrong in (1, -2):
        with pytest.raises(IndexError):
            batch[0].nodes(wrong)
        with pytest.raises(IndexError):
            batch[0].edges(wrong)


def test_a_single_graph_is_its_own_only_part_and_as_wide_as_it_is():
    batch = random_graph(n=5, num_graphs=2, seed=0)
    single = batch[1]
    assert single[0] is single[-1] is single.pad(single.num_slots) is single
    assert batch[0] is not batch
    assert len(single[torch.tensor([False])]) == 0


@given(n=SIZES, seed=SEEDS, relaxed=st.booleans())
def test_permuting_and_permuting_back_changes_nothing(n, seed, relaxed):
    graph = random_graph(random_schema(seed), n=n, seed=seed, relaxed=relaxed)
    order = torch.stack([random_order(n, seed), random_order(n, seed + 1)])
    moved = graph.permute(order)
    assert same_tensors(moved.permute(order.argsort(1)), graph)
    for i in range(2):
        assert same_tensors(moved.select(i), graph.select(i).permute(order[i]))
    Graph(*tensors(moved), graph.schema)  # still passes every check


@given(n=SIZES, seed=SEEDS, relaxed=st.booleans())
def test_operations_keep_graphs_valid(n, seed, relaxed):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed, relaxed=relaxed)
    results = [
        graph.pad(n + 3),
        graph.trim(),
        graph.select([2, 0]),
        Graph.cat([graph, graph.pad(n + 1)]),
        graph.detach(),
    ]
    for made in [*results, graph.to(torch.float64), *graph]:
        Graph(*tensors(made), made.schema)


@given(n=SIZES, seed=SEEDS, relaxed=st.booleans())
def test_trim_undoes_pad_and_keeps_the_order_of_nodes(n, seed, relaxed):
    graph = random_graph(random_schema(seed), n=n, num_graphs=3, seed=seed, relaxed=relaxed)
    trimmed = graph.trim()
    assert trimmed.num_slots == max((graph.B > 0).sum(1).tolist(), default=0)
    assert same_tensors(graph.pad(n + 4).trim(), trimmed)
    assert same_tensors(trimmed.trim(), trimmed)
    for i in range(3):
        there = graph.B[i] > 0
        count = int(there.sum())
        assert torch.equal(trimmed.V[i][:count], graph.V[i][there])
        assert torch.equal(trimmed.A[i][:count, :count], graph.A[i][there][:, there])
        assert torch.equal(trimmed.E[i][:count, :count], graph.E[i][there][:, there])


@given(sizes=st.lists(SIZES, min_size=1, max_size=4), seed=SEEDS)
def test_cat_then_select_gives_the_parts(sizes, seed):
    schema = random_schema(seed)
    parts = [random_graph(schema, n=n, num_graphs=1, seed=seed + n) for n in sizes]
    whole = Graph.cat(parts)
    assert len(whole) == len(parts)
    for part, found in zip(parts, whole, strict=True):
        assert same_tensors(found, part.pad(max(sizes)))


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, [0]),
        (-1, [3]),
        (np.int64(2), [2]),
        (torch.tensor(1), [1]),
        (slice(1, None, 2), [1, 3]),
        ([3, 1, 1], [3, 1, 1]),
        ([], []),
        ([True, False, False, True], [0, 3]),
        (torch.tensor([False, True, False, False]), [1]),
        (torch.tensor([2, 0]), [2, 0]),
    ],
    ids=str,
)
def test_select_takes_every_kind_of_index(index, expected):
    graph = random_graph(n=5, num_graphs=4, seed=1)
    chosen = graph[index]
    assert torch.equal(chosen.V, torch.stack([graph.V[i] for i in expected]) if expected else graph.V[:0])


@pytest.mark.parametrize("index", [4, -5, [4], torch.tensor(9)], ids=str)
def test_select_out_of_range(index):
    with pytest.raises(IndexError):
        random_graph(num_graphs=4)[index]


def test_wrong_moves_are_refused():
    graph = path_of_three()
    with pytest.raises(GraphError, match=r"Padding must not drop slots: the graph has 4, got n=3. Use `trim`"):
        graph.pad(3)
    with pytest.raises(GraphError, match=r"at most 6 slots \(max_nodes\); got n=7"):
        graph.pad(7)
    with pytest.raises(GraphError, match="each of the 4 slots once; got"):
        graph.permute(torch.tensor([0, 0, 1, 2]))
    with pytest.raises(GraphError, match="each of the 4 slots once; got"):
        graph.permute(torch.tensor([0, 1]))
    with pytest.raises(GraphError, match="at least one graph"):
        Graph.cat([])
    with pytest.raises(GraphError, match="must have the same schema"):
        Graph.cat([graph, path_of_three(DIRECTED)])


def test_fields_cannot_be_assigned():
    graph = path_of_three()
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.B = graph.B * 0  # pyright: ignore
    before = [tensor.clone() for tensor in tensors(graph)]
    for made in (graph.permute(torch.tensor([3, 2, 1, 0])), graph.pad(6), graph.trim(), graph.to(torch.float64)):
        assert made is not graph
    assert all(torch.equal(x, y) for x, y in zip(before, tensors(graph), strict=True))


def test_showing():
    assert repr(path_of_three()) == "Graph(3 nodes: C 0.5 1, C 1.5 1, O -2.0 1; 2 edges)"
    assert repr(Graph.build(PLAIN, [{}] * 3, [(0, 1, {}), (1, 2, {}), (0, 2, {})])) == "Graph(3 nodes; 3 edges)"
    assert repr(random_graph(n=5, num_graphs=7)) == "Graph(7 hard graphs of 5 slots, 4 node columns)"
    assert "relaxed" in repr(random_graph(relaxed=True))
