"""Explanations as JSON lines: they round-trip, and what is wrong is named."""

import dataclasses
import json

import pytest

from graphflip.errors import DataError, GraphError
from graphflip.explain import LatentTraversal, NoChange
from graphflip.explain.records import from_record, read_records, to_record, write_records
from graphflip.graph import Graph
from graphflip.jsongraph import graph_from_json
from graphflip.schema import Categories, Schema


@pytest.fixture(scope="module")
def found(vae, classifier, dataset):
    return LatentTraversal(vae, classifier, steps=10).explain(dataset.graphs(range(6)))


def test_reading_gives_the_same_objects(found, dataset, tmp_path):
    path = tmp_path / "found.jsonl"
    assert write_records(path, found) == 6
    again = list(read_records(path, dataset.schema))
    for a, b in zip(found, again, strict=True):
        assert to_record(a) == to_record(b)
        assert a.factual.trim() == b.factual.trim()
        assert a.counterfactual.trim() == b.counterfactual.trim()
        assert (a.outcome, a.target, a.id, len(a.edits)) == (b.outcome, b.target, b.id, len(b.edits))


def test_a_line_of_another_tool_needs_four_keys(classifier, dataset):
    (one,) = NoChange(classifier).explain(dataset.graphs([0]))
    record = to_record(one)
    foreign = {key: record[key] for key in ("id", "target", "factual", "counterfactual")}
    assert from_record(foreign, dataset.schema).edits == []


@pytest.mark.parametrize("removed", [0, 1, 3])
def test_nodes_that_are_added_may_be_numbered_beyond_the_largest_size(removed):
    """As many may come as go: each graph has room, though the numbers of both together exceed it."""
    schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=4)
    first, second = [{"type": "a"}] * 4, [None] * removed + [{"type": "a"}] * (4 - removed) + [{"type": "b"}] * removed
    chain = [[k, k + 1, {}] for k in range(len(second) - 1) if second[k] is not None]
    record = {"id": "x", "target": 1, "factual": {"nodes": first, "edges": [[0, 1, {}]]}}
    read = from_record(record | {"counterfactual": {"nodes": second, "edges": chain}}, schema)
    assert read.factual.num_slots == read.counterfactual.num_slots == schema.max_nodes
    assert read.factual == graph_from_json(record["factual"], schema)
    kept = Graph.build(schema, [node for node in second if node], [(k, k + 1, {}) for k in range(3)])
    assert read.counterfactual == kept
    assert read.counterfactual.nodes()[removed:] == second[removed:4], "nodes that stay keep their numbers"
    crowded = {"nodes": [{"type": "a"}] * 5, "edges": []}
    with pytest.raises(GraphError, match="at most 4 nodes; got 5"):
        from_record(record | {"counterfactual": crowded}, schema)
    with pytest.raises(DataError, match="at most 8 nodes, null included; got 9"):
        from_record(record | {"counterfactual": {"nodes": [None] * 9, "edges": []}}, schema)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.pop("target"), "target missing"),
        (lambda r: r.update(target="one"), "class number"),
        (lambda r: r.update(edits=[]), "lead to another graph"),
        (lambda r: r.update(p_factual="high"), "must be a number"),
        (lambda r: r["factual"].pop("edges"), "`nodes` and `edges`"),
    ],
)
def test_a_wrong_line_is_named(found, dataset, tmp_path, change, message):
    records = [to_record(one) for one in found if one.edits]
    change(records[1])
    path = tmp_path / "wrong.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    with pytest.raises(DataError, match=message) as error:
        list(read_records(path, dataset.schema))
    assert "line 2" in str(error.value)


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', "[" * 5000])
def test_what_is_no_explanation(dataset, tmp_path, text):
    path = tmp_path / "no.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match="line 1"):
        list(read_records(path, dataset.schema))
    with pytest.raises(DataError, match="cannot be read"):
        list(read_records(tmp_path / "absent.jsonl", dataset.schema))


def test_the_way_is_kept_in_outline(found, dataset):
    way = tuple(k / 1000 for k in range(1000))
    record = to_record(dataclasses.replace(found[0], probabilities=way))
    assert len(record["probabilities"]) == 101
    assert (record["probabilities"][0], record["probabilities"][-1]) == (way[0], way[-1])
    short = to_record(dataclasses.replace(found[0], probabilities=(0.1, float("nan"), 0.9)))
    assert from_record(short, dataset.schema).probabilities == (0.1, 0.9)
    with pytest.raises(DataError, match="list of numbers"):
        from_record(short | {"probabilities": ["x"]}, dataset.schema)
