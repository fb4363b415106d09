"""Attributes: what moves change them to, what changes cost, and how changes of continuous ones are made smaller."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from graphflip.data.molecules.molecule import molecule_schema
from graphflip.edits import EditCosts
from graphflip.explain.edits.slopes.alternatives import alternatives
from graphflip.explain.edits.slopes.listing import steepest
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.attributes import (
    attribute_choices,
    attribute_distance,
    fresh_attributes,
    is_typical,
    other_attributes,
    typical,
)
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.revert import partly_reverted
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.schema import Categories, Continuous, Schema
from graphflip.testing import random_graph

COLUMNS = (Categories(name="type", values=("a", "b")), Continuous(name="size", mean=2.0, scale=0.3))
SCHEMAS = [Schema(nodes=COLUMNS, edges=COLUMNS[1:], max_nodes=6, directed=directed) for directed in (False, True)]
scales = st.floats(1e-3, 1e3)


@given(st.floats(-5, 5), scales)
def test_tidy_numbers_are_near_and_stay(value, scale):
    column = Continuous(name="x", scale=scale)
    number = column.round(value * scale)
    assert abs(number - value * scale) <= 0.03 * scale
    assert column.round(number) == number


@given(st.floats(-9, 9), scales, st.floats(-5, 5))
def test_steps_lead_up_and_down_but_not_out_of_the_data(value, scale, mean):
    column = Continuous(name="x", mean=mean * scale, scale=scale)
    attributes = (value * scale,)
    found = [float(new) for (new,) in other_attributes(attributes, (column,))]
    assert len(set(found)) == len(found)
    assert attributes[0] not in found
    # Numbers are rounded to two digits of the scale.
    assert all(abs(new - column.mean) <= max(3.05 * scale, abs(attributes[0] - column.mean)) * 1.001 for new in found)
    if abs(value - mean) < 2:
        assert min(found) < attributes[0] < max(found)
        assert 0.2 < min(attribute_distance(attributes, (new,), (column,)) for new in found) < 0.3


def test_fresh_attributes_cover_a_single_number():
    assert set(attribute_choices(COLUMNS)) < set(fresh_attributes(COLUMNS))
    assert sorted({attributes[1] for attributes in fresh_attributes(COLUMNS)}) == pytest.approx([1.7, 2.0, 2.3])
    assert fresh_attributes((*COLUMNS, COLUMNS[1])) == attribute_choices((*COLUMNS, COLUMNS[1]))
    assert typical(("a", 9.0), COLUMNS) in attribute_choices(COLUMNS)


def test_where_choices_are_many_what_is_new_is_like_what_is_there():
    many = tuple(Categories(name=f"type_{k}", values=("a", "b", "c")) for k in range(6))
    schema = Schema(nodes=many, edges=many, max_nodes=6)
    factual = Sketch.of(random_graph(schema, n=4, num_graphs=1, seed=3))
    known = set(factual.nodes.values())
    added = [after for kind, after in Moves(schema).steps(factual, factual) if kind == "add group"]
    assert {after.nodes[i] for after in added for i in after.nodes.keys() - factual.nodes.keys()} == known
    assert fresh_attributes(many) == [("a",) * 6]


def test_typical_attributes_are_those_among_the_choices():
    assert all(is_typical(choice, COLUMNS) for choice in attribute_choices(COLUMNS))
    assert not any(is_typical(other, COLUMNS) for other in [("a",), ("c", 2.0), ("a", 2.1), ("a", 2.0, 2.0)])


@settings(max_examples=20)
@given(st.sampled_from(SCHEMAS), st.integers(0, 999), st.lists(st.integers(0, 9999), min_size=1, max_size=3))
def test_the_cost_of_a_difference_is_that_of_its_edits(schema, seed, picks):
    graph = random_graph(schema, n=4, num_graphs=1, seed=seed).trim()
    factual = state = Sketch.of(graph)
    moves = Moves(schema)
    for pick in picks:
        steps = [after for _, after in moves.steps(state, factual)]
        state = steps[pick % len(steps)] if steps else state
    difference = Difference.between(factual, state)
    assert difference.cost(schema) == pytest.approx(EditCosts().total(difference.edits(schema), schema))
    assert difference.travel(schema) >= 0
    again = Sketch.of(apply_differences(graph, [difference]))  # graphs hold the very numbers that sketches do
    assert Difference.between(state, again).size == 0
    for smaller in partly_reverted(factual, state, schema):
        closer = Difference.between(factual, smaller)
        assert closer.travel(schema) < difference.travel(schema) + 1e-9
        assert closer.size == difference.size
        assert Difference.between(state, smaller).size <= 1


WIDE = tuple(Continuous(name=f"x{k}", mean=k, scale=0.1 + k / 7) for k in range(40))


@given(st.integers(0, 999))
def test_the_distance_of_many_numbers_is_that_of_each_in_turn(seed):
    before, after = torch.randn(2, 40, generator=torch.Generator().manual_seed(seed)).tolist()
    after[:20] = before[:20]
    each = [column.distance(was, now) for column, was, now in zip(WIDE, before, after, strict=True)]
    assert attribute_distance(tuple(before), tuple(after), WIDE) == math.fsum(each)
    mixed = (COLUMNS[0], *WIDE)
    assert attribute_distance(("a", *before), ("b", *after), mixed) == math.fsum([1.0, *each])


def test_of_many_numbers_those_that_changed_most_are_taken_back():
    schema = Schema(nodes=WIDE, max_nodes=2)
    factual = Sketch.of(Graph.build(schema, [{column.name: 0.0 for column in WIDE}], []))
    state = factual.copy()
    state.set_node(0, tuple(float((k + 1) * column.scale) for k, column in enumerate(WIDE)))
    changed = [
        [k for k, (was, now) in enumerate(zip(state.nodes[0], smaller.nodes[0], strict=True)) if was != now]
        for smaller in partly_reverted(factual, state, schema)
    ]
    assert {k for (k,) in changed} == set(range(20, 40))


def test_of_many_columns_the_steepest_are_listed():
    columns = (COLUMNS[0], *(Continuous(name=f"x{k}", scale=1 + k) for k in range(299)))
    slope = np.zeros((3, 301), dtype=np.float32)
    slope[1, 2:] = 1.0  # a unit of a later column is larger
    slope[2, 1] = -400.0
    assert steepest(columns, [np.zeros_like(slope), slope]) == [0, *range(45, 300)]
    assert steepest(columns[:20], [slope[:, :21]]) == list(range(20))
    assert steepest(columns[:20], [slope[:0, :21]]) == list(range(20))


def test_without_numbers_nothing_shrinks():
    schema = Schema(nodes=COLUMNS[:1], max_nodes=4)
    one, other = (Sketch.of(random_graph(schema, n=4, num_graphs=1, seed=seed)) for seed in (0, 1))
    assert not list(partly_reverted(one, other, schema))
    assert Difference.between(one, other).cost(schema) == Difference.between(one, other).size


def test_molecules_may_have_numbers():
    plain = molecule_schema(("C", "N", "O"), max_nodes=6, explicit_hydrogens=False)
    length = Continuous(name="length", mean=1.4, scale=0.1)
    charge = Continuous(name="charge", mean=0.0, scale=0.2)
    schema = plain.model_copy(update={"nodes": (*plain.nodes, charge), "edges": (*plain.edges, length)})
    graph = Graph.build(
        schema,
        [{"type": "C", "charge": 0.07}, {"type": "O", "charge": -0.3}],
        [(0, 1, {"type": "single", "length": 1.43})],
    )
    moves = Moves(schema).valid(graph)
    changed = [
        edit.after for move in moves for edit in move.edits if edit.op.startswith("set") and len(move.edits) == 1
    ]
    assert {"charge"} in map(set, changed)
    assert {"length"} in map(set, changed)
    assert {"type": "double"} in changed
    assert {"type": "triple"} not in changed  # oxygen has no room for it; nitrogen in its place would


def test_no_change_leads_into_a_gap_of_the_training_data():
    """Values are 0 to 1 or 3 to 4; what lies between occurs nowhere, and a change may cross it but not end there."""
    values = torch.cat([torch.linspace(0, 1, 50), torch.linspace(3, 4, 50)])[:, None]
    column = Continuous(name="x").fitted(values)
    assert column.gaps == ((1.0, 3.0),)
    for was in (0.0, 0.9, 1.0, 2.2, 3.0, 4.0):
        others = [float(value) for value in column.alternatives(was)]
        assert not [value for value in others if 1.0 < value < 3.0]
        assert was not in others
    assert any(float(value) >= 3.0 for value in column.alternatives(0.9))
    assert column.round(1.4) == 1.0
    assert column.round(2.6) == 3.0


def test_numbers_that_are_whole_in_the_training_data_stay_whole():
    column = Continuous(name="count").fitted(torch.tensor([[0.0], [1.0], [1.0], [2.0], [3.0], [4.0]]))
    found = [float(value) for was in (0.0, 2.0, 4.0) for value in column.alternatives(was)]
    inside = [value for value in found if 0 <= value <= 4]
    assert inside
    assert all(value.is_integer() for value in inside)


def test_a_column_without_gaps_is_stored_as_before_and_one_with_gaps_reads_back():
    plain, split = Continuous(name="x"), Continuous(name="x", gaps=((0.5, 2.0),))
    assert "gaps" not in plain.model_dump()
    assert Continuous.model_validate_json(split.model_dump_json()) == split
    with pytest.raises(ValidationError, match="every gap must end above its beginning"):
        Continuous(name="x", gaps=((2.0, 0.5),))


@pytest.mark.parametrize("was", [0.2, 1.0, 2.2, 3.5])
def test_estimates_know_the_gaps_that_changes_keep_out_of(was):
    column = Continuous(name="x", mean=2.0, scale=1.5, gaps=((1.0, 3.0),))
    listed = alternatives(column, [was])
    for k in range(listed.changes.shape[1]):
        value = listed.value(was, k)
        if value is not None:
            assert was + float(listed.changes[0, k, 0]) == pytest.approx(float(value), abs=0.02)
