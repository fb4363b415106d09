"""Edits turn one graph into the other exactly, can be taken back, and survive being written down."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip import Categories, Continuous, Graph, Schema
from graphflip.chemistry import Chemistry
from graphflip.edits import Edit, EditCosts, apply_edits, edits_between, heavy_edits, num_edits, undo
from graphflip.errors import ConfigError, DataError, GraphError, GraphflipError, SchemaError
from graphflip.jsongraph import aligned_pair, graph_from_json, graph_to_json
from graphflip.testing import random_graph, random_schema

SEEDS = st.integers(0, 2**16)
SIZES = st.integers(1, 6)

MOLECULES = Schema(
    nodes=(Categories(name="type", values=("C", "N", "H", "Cl")),),
    edges=(Categories(name="type", values=("single", "double")),),
    max_nodes=8,
    chemistry=Chemistry(explicit_hydrogens=True),
)


def same(g: Graph, h: Graph) -> bool:
    """Equal slot by slot; empty slots at the end do not matter."""
    n = max(g.num_slots, h.num_slots)
    return all(torch.equal(getattr(g.pad(n), name), getattr(h.pad(n), name)) for name in "BVAE")


def random_pair(seed: int, n: int, m: int) -> tuple[Graph, Graph]:
    schema = random_schema(seed)
    g, h = (random_graph(schema, n=k, num_graphs=1, seed=seed + k) for k in (n, m))
    return g, h


def chloroethene() -> Graph:
    types = ["C", "C", "Cl", "H", "H", "H"]
    bonds = [(0, 1, "double"), (1, 2, "single"), (0, 3, "single"), (0, 4, "single"), (1, 5, "single")]
    return Graph.build(MOLECULES, [{"type": t} for t in types], [(i, j, {"type": t}) for i, j, t in bonds])


@given(SEEDS, SIZES, SIZES)
def test_edits_lead_there_and_back(seed, n, m):
    g, h = random_pair(seed, n, m)
    edits = edits_between(g, h)
    there = apply_edits(g, edits)
    assert same(there, h)
    assert same(apply_edits(there, undo(edits)), g)
    assert num_edits(g, h) == num_edits(h, g) == len(edits)
    Graph(there.B, there.V, there.A, there.E, there.schema)  # a valid graph


@given(SEEDS, SIZES)
def test_no_edits_between_a_graph_and_itself(seed, n):
    g, _ = random_pair(seed, n, n)
    assert edits_between(g, g.pad(n + 2)) == []


@given(SEEDS, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=10)
def test_every_step_on_the_way_is_a_graph(seed, n, m):
    g, h = random_pair(seed, n, m)
    edits = edits_between(g, h)
    steps = [apply_edits(g, edits[:k]) for k in range(len(edits) + 1)]
    for step in steps:
        Graph(step.B, step.V, step.A, step.E, step.schema)
    assert all(num_edits(a, b) == 1 for a, b in pairwise(steps))


@given(SEEDS, SIZES, SIZES)
def test_edits_survive_json(seed, n, m):
    g, h = random_pair(seed, n, m)
    edits = edits_between(g, h)
    stored = json.loads(json.dumps([edit.to_json() for edit in edits]))
    again = [Edit.from_json(edit) for edit in stored]
    assert again == edits
    assert len({*again, *edits}) == len(edits)
    assert same(apply_edits(g, again), h)


@given(SEEDS, SIZES, SIZES)
def test_graphs_survive_json_in_their_slots(seed, n, m):
    for graph in random_pair(seed, n, m):
        stored = json.loads(json.dumps(graph_to_json(graph)))
        assert same(graph_from_json(stored, graph.schema), graph)


@given(SEEDS, SIZES, SIZES)
def test_an_aligned_pair_has_added_nodes_behind_and_the_same_edits(seed, n, m):
    g, h = random_pair(seed, n, m)
    before, after = aligned_pair(g, h)
    kept = int(g.num_nodes)
    assert before == g
    assert after == h
    assert bool(before.B[0, :kept].all())
    assert bool(after.B[0, kept:].all())
    assert num_edits(before, after) == num_edits(g, h)


def test_a_node_joined_to_three_others_is_four_edits():
    schema = Schema(max_nodes=4)
    g = Graph.build(schema, [{}] * 3, [])
    h = Graph.build(schema, [{}] * 4, [(i, 3, {}) for i in range(3)])
    assert [edit.op for edit in edits_between(g, h)] == ["add_node", "add_edge", "add_edge", "add_edge"]
    assert [edit.op for edit in edits_between(h, g)] == ["remove_edge", "remove_edge", "remove_edge", "remove_node"]


@pytest.mark.parametrize(("directed", "count"), [(False, 1), (True, 2)])
def test_an_undirected_edge_counts_once(directed, count):
    schema = Schema(max_nodes=2, directed=directed)
    assert (
        num_edits(Graph.build(schema, [{}] * 2, []), Graph.build(schema, [{}] * 2, [(0, 1, {}), (1, 0, {})])) == count
    )


def test_hydrogens_are_bookkeeping():
    g = chloroethene()
    edits = [
        Edit("remove_edge", (1, 2), {"type": "single"}),
        Edit("remove_node", (2,), {"type": "Cl"}),
        Edit("add_node", (6,), {}, {"type": "H"}),
        Edit("add_edge", (1, 6), {}, {"type": "single"}),
    ]
    assert heavy_edits(g, edits) == edits[:2]
    plain = g.schema.model_copy(update={"chemistry": None})
    assert heavy_edits(Graph(g.B, g.V, g.A, g.E, plain), edits) == edits


def test_a_hydrogen_that_becomes_something_else_is_no_bookkeeping():
    edits = [Edit("remove_edge", (0, 3), {"type": "single"}), Edit("set_node", (3,), {"type": "H"}, {"type": "N"})]
    assert heavy_edits(chloroethene(), edits) == edits


def test_costs_scale_continuous_changes_and_cap_them():
    schema = Schema(nodes=(Continuous(name="size", scale=2.0),), max_nodes=1)
    costs = EditCosts(set_node=1.5)
    for change, expected in ((0.0, 0.0), (1.0, 0.75), (2.0, 1.5), (9.0, 1.5)):
        assert costs.of(Edit("set_node", (0,), {"size": 1.0}, {"size": 1.0 + change}), schema) == expected


@pytest.mark.parametrize("wrong", [{"add_node": -1.0}, {"set_edge": 3.0}, {"set_node": float("nan")}])
def test_costs_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match="must"):
        EditCosts(**wrong)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("add_node", (0,), {}, {"type": "C"}),
        Edit("add_node", (8,), {}, {"type": "C"}),
        Edit("add_node", (6,), {}, {"type": "Xe"}),
        Edit("add_node", (6,), {}, {}),
        Edit("remove_node", (0,), {"type": "C"}),
        Edit("remove_node", (7,), {"type": "C"}),
        Edit("set_node", (0,), {"type": "N"}, {"type": "C"}),
        Edit("set_node", (0,), {"type": "C"}, {"kind": "N"}),
        Edit("add_edge", (0, 1), {}, {"type": "single"}),
        Edit("add_edge", (0, 7), {}, {"type": "single"}),
        Edit("add_edge", (2, 2), {}, {"type": "single"}),
        Edit("remove_edge", (2, 3), {"type": "single"}),
        Edit("remove_edge", (0, 1), {"type": "single"}),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edit):
    with pytest.raises((GraphError, SchemaError), match=r"must|does not fit"):
        apply_edits(chloroethene(), [edit])


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"op": "paint_node", "node": 0},
        {"op": "remove_node", "node": 0},
        {"op": "remove_node", "node": -1, "from": {}},
        {"op": "remove_node", "node": "0", "from": {}},
        {"op": "remove_node", "node": True, "from": {}},
        {"op": "remove_node", "node": 0, "from": {}, "to": {}},
        {"op": "remove_edge", "edge": [1, 1], "from": {}},
        {"op": "remove_edge", "edge": 1, "from": {}},
        {"op": "add_node", "node": 0, "to": {"type": None}},
        {"op": "add_node", "node": 0, "to": ["C"]},
    ],
)
def test_a_malformed_edit_is_refused(stored):
    with pytest.raises(DataError, match="must"):
        Edit.from_json(stored)


C, BOND = {"type": "C"}, {"type": "single"}


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {"nodes": [C]},
        {"nodes": C, "edges": []},
        {"nodes": [C], "edges": None},
        {"nodes": ["C"], "edges": []},
        {"nodes": [{}], "edges": []},
        {"nodes": [{"type": 6}], "edges": []},
        {"nodes": [{"type": "Xe"}], "edges": []},
        {"nodes": [C, C], "edges": [[0, 1]]},
        {"nodes": [C, C], "edges": [[0, 0, BOND]]},
        {"nodes": [C, C], "edges": [[0, 2, BOND]]},
        {"nodes": [C, C], "edges": [[0, -1, BOND]]},
        {"nodes": [C, None, C], "edges": [[0, 1, BOND]]},
        {"nodes": [C, C], "edges": [[0, 1, BOND], [1, 0, BOND]]},
        {"nodes": [C, C], "edges": [[0, 1, {}]]},
        {"nodes": [C, C], "edges": [["0", 1, BOND]]},
        {"nodes": [C] * 9, "edges": []},
        {"nodes": [C, *[None] * 8], "edges": []},
    ],
)
def test_a_malformed_graph_is_refused(stored):
    with pytest.raises(GraphflipError, match="must"):
        graph_from_json(stored, MOLECULES)


def test_the_documented_example_is_what_we_read_and_write():
    text = (Path(__file__).parents[1] / "docs" / "concepts" / "format.md").read_text()
    line = json.loads(text.split("```json")[3].split("```")[0])
    g, h = (graph_from_json(line[key], MOLECULES) for key in ("factual", "counterfactual"))
    assert (graph_to_json(g), graph_to_json(h)["edges"]) == (line["factual"], line["counterfactual"]["edges"])
    edits = edits_between(g, h)
    assert [edit.to_json() for edit in edits] == line["edits"]
    assert same(apply_edits(g, [Edit.from_json(edit) for edit in line["edits"]]), h)


def test_batches_and_relaxed_graphs_have_no_edits():
    batch = random_graph(n=3, num_graphs=2)
    with pytest.raises(GraphError, match="batch of 2"):
        edits_between(batch, batch)
    relaxed = random_graph(n=3, num_graphs=1, relaxed=True)
    with pytest.raises(GraphError, match="relaxed"):
        graph_to_json(relaxed)
