"""Edits may fill a schema to its last node, and not beyond."""

import pytest

from graphflip import Categories, Graph, Schema
from graphflip.edits import Edit, apply_edits
from graphflip.errors import GraphError

SCHEMA = Schema(nodes=(Categories(name="type", values=("C", "N")),), max_nodes=3)
TWO = Graph.build(SCHEMA, [{"type": "C"}, {"type": "C"}], [(0, 1, {})])


def test_edits_fill_a_schema_to_its_last_node():
    full = apply_edits(TWO, [Edit("add_node", (2,), {}, {"type": "N"})])
    assert int(full.num_nodes) == SCHEMA.max_nodes
    assert int(apply_edits(full, [Edit("set_node", (2,), {"type": "N"}, {"type": "C"})]).num_nodes) == 3
    with pytest.raises(GraphError, match="within the schema's 3 nodes; node 3"):
        apply_edits(full, [Edit("add_node", (3,), {}, {"type": "N"})])
