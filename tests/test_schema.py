"""Schema: columns and their places, JSON both ways, and what it refuses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphflip import Categories, Continuous, Schema
from graphflip.chemistry import Chemistry
from graphflip.errors import SchemaError
from graphflip.schema import decoder

NAMES = st.text(min_size=1, max_size=8)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
CATEGORIES = st.builds(Categories, name=NAMES, values=st.lists(NAMES, min_size=1, max_size=5, unique=True).map(tuple))
CONTINUOUS = st.builds(Continuous, name=NAMES, mean=FINITE, scale=FINITE.map(abs).filter(bool))
COLUMNS = st.lists(CATEGORIES | CONTINUOUS, max_size=4, unique_by=lambda column: column.name).map(tuple)
SCHEMAS = st.builds(
    Schema,
    nodes=COLUMNS,
    edges=COLUMNS,
    max_nodes=st.integers(1, 10**6),
    directed=st.booleans(),
    chemistry=st.none() | st.builds(Chemistry, explicit_hydrogens=st.booleans()),
)


@given(SCHEMAS)
def test_json_gives_the_same_schema_back(schema):
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert hash(again) == hash(schema)


@given(SCHEMAS)
def test_slices_tile_the_columns(schema):
    for slices, width in ((schema.node_slices(), schema.dv), (schema.edge_slices(), schema.de)):
        covered = [k for column, at in slices for k in range(width)[at]]
        assert covered == list(range(width))
    for column, at in schema.node_slices():
        assert at.stop - at.start == column.width


@given(CATEGORIES)
def test_index_inverts_values(column):
    assert [column.index(value) for value in column.values] == list(range(column.width))


def test_an_unknown_category_names_the_known_ones():
    with pytest.raises(SchemaError, match=r"`bond` must be one of single, double; got 'quadruple'. Remove such graphs"):
        Categories(name="bond", values=("single", "double")).index("quadruple")


def test_schemas_cannot_be_changed():
    schema = Schema(max_nodes=3)
    with pytest.raises(ValidationError, match="frozen"):
        schema.max_nodes = 4  # pyright: ignore


TYPE = {"kind": "categories", "name": "type", "values": ["C"]}
REFUSED = {
    "nothing": (None, "`the whole`: .*valid dictionary"),
    "no size": ({}, "`max_nodes`: Field required"),
    "size zero": ({"max_nodes": 0}, r"`max_nodes`: .*greater than 0 \(got 0\)"),
    "unknown key": ({"max_nodes": 3, "colour": 1}, "`colour`: Extra inputs are not permitted"),
    "unknown kind": ({"max_nodes": 3, "nodes": [TYPE | {"kind": "ordinal"}]}, "`nodes.0`: .*'ordinal'"),
    "no values": ({"max_nodes": 3, "nodes": [TYPE | {"values": []}]}, "`type` must have one or more distinct values"),
    "values twice": ({"max_nodes": 3, "edges": [TYPE | {"values": ["a", "a"]}]}, "one or more distinct values; got"),
    "columns twice": (
        {"max_nodes": 3, "nodes": [TYPE, TYPE]},
        r"node columns must have distinct names; got \['type', 't",
    ),
    "scale zero": ({"max_nodes": 3, "nodes": [{"kind": "continuous", "name": "x", "scale": 0}]}, "`nodes.0.*scale`"),
    "mean NaN": ({"max_nodes": 3, "nodes": [{"kind": "continuous", "name": "x", "mean": "nan"}]}, "mean`.*finite"),
}


@pytest.mark.parametrize(("stored", "message"), REFUSED.values(), ids=REFUSED)
def test_wrong_schemas_are_refused_naming_the_field(stored, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(stored)


def test_rows_that_say_the_same_are_decoded_to_attributes_of_their_own():
    schema = Schema(nodes=(Categories(name="type", values=("C", "O")), Continuous(name="x")), max_nodes=3)
    decode = decoder(schema.node_slices())
    first, second, other = decode([0.0, 1.0, 2.5]), decode([0.0, 1.0, 2.5]), decode([1.0, 0.0, 2.5])
    assert first == second == {"type": "O", "x": 2.5}
    assert other == {"type": "C", "x": 2.5}
    first["type"] = "N"
    assert decode([0.0, 1.0, 2.5])["type"] == second["type"] == "O"


@pytest.mark.parametrize("most", [1, 50, 512, 513, 3000])
def test_models_are_asked_in_all_slots_of_a_schema_or_in_few_more_than_are_used(most):
    schema = Schema(max_nodes=most)
    for used in (n for n in (1, 93, 256, 257, 512, 513, 2999, 3000) if n <= most):
        slots = schema.ample_slots(used)
        assert used <= slots <= most
        assert slots == most or slots < used + 256
        assert schema.ample_slots(slots) == slots
        assert most > 512 or slots == most
