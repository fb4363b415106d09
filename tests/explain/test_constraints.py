"""No counterfactual breaks a constraint, whatever the graph, the constraint and the classifier."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.planted.motif import planted
from graphflip.edits import edits_between, heavy_edits
from graphflip.errors import ConfigError
from graphflip.explain.constraints import Constraints
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.moves.moves import Moves

from .oracles import CountsType

DATASET = planted(num_graphs=12, seed=5, min_nodes=4, max_nodes=5)
OPS = ("remove_edge", "remove_node", "add_node", "set_node", "add_edge", "set_edge")
pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])
constraints = st.builds(
    Constraints,
    freeze_nodes=st.frozensets(st.integers(0, 3), max_size=2),
    freeze_edges=st.frozensets(pairs, max_size=2),
    freeze_rings=st.booleans(),
    forbid_node_types=st.frozensets(st.sampled_from(["blue", "red", "gray"]), max_size=2),
    forbid_edge_types=st.frozensets(st.sampled_from(["thick", "thin"]), max_size=1),
    forbid_ops=st.frozensets(st.sampled_from(OPS), max_size=3),
    budget=st.none() | st.integers(1, 3),
)


def search(graph, rules):
    explainer = EditSearch(
        CountsType(graph.schema, "red", 3), Moves(graph.schema), constraints=rules, beam=1, max_moves=2
    )
    return explainer.explain(graph)[0]


def breaks(rules, factual, edits, counted):
    """What the constraints say, word by word."""
    joined = nx.Graph([(i, j) for i, j, _ in factual.edges()])
    rings = {frozenset(pair) for pair in joined.edges} - {frozenset(pair) for pair in nx.bridges(joined)}
    for edit in edits:
        assert not (rules.freeze_rings and frozenset(edit.at) in rings)
        assert not rules.freeze_nodes & set(edit.at)
        assert not (len(edit.at) == 2 and {edit.at, edit.at[::-1]} & rules.freeze_edges)
        forbidden = rules.forbid_node_types if edit.is_node else rules.forbid_edge_types
        assert not forbidden & set(edit.after.values())
    assert not rules.forbid_ops & {edit.op for edit in counted}
    assert rules.budget is None or len(counted) <= rules.budget


@settings(max_examples=25)
@given(st.integers(0, 11), constraints)
def test_no_answer_and_no_attempt_breaks_a_constraint(k, rules):
    graph = DATASET.graphs(k)
    found = search(graph, rules)
    edits = edits_between(found.factual, found.counterfactual)
    breaks(rules, found.factual, edits, heavy_edits(found.factual, edits))
    assert found.flipped or found.note


def test_hydrogens_are_bookkeeping_but_frozen_atoms_keep_theirs():
    schema = molecule_schema(("C", "O", "H"), max_nodes=14, explicit_hydrogens=True)
    graph = from_smiles("CO", schema)
    explainer = EditSearch(CountsType(schema, "O", 2), Moves(schema), beam=1, max_moves=1)
    free = explainer.explain(graph, 1)[0]
    assert free.flipped
    budget = Constraints(budget=1, forbid_ops=frozenset({"remove_node", "add_edge", "remove_edge", "set_edge"}))
    found = EditSearch(CountsType(schema, "O", 2), Moves(schema), constraints=budget).explain(graph, 1)[0]
    assert found.flipped
    assert [edit.op for edit in heavy_edits(found.factual, found.edits)] == ["set_node"]
    frozen = Constraints(freeze_nodes=frozenset({0, 1}))  # the heavy atoms: all there is in the SMILES
    found = EditSearch(CountsType(schema, "O", 2), Moves(schema), constraints=frozen).explain(graph, 1)[0]
    assert found.outcome is Outcome.NO_MOVE_ALLOWED
    assert "at nodes that are to stay" in found.note
    assert found.edits == []
    half = Constraints(freeze_nodes=frozenset({1}))
    found = EditSearch(CountsType(schema, "O", 2), Moves(schema), constraints=half).explain(graph, 1)[0]
    assert found.flipped
    hydrogens = {j for j in range(graph.num_slots) if graph.A[0, 1, j] and j > 1}
    assert not {1, *hydrogens} & {i for edit in found.edits for i in edit.at if edit.is_node}


def test_lists_are_sets():
    sets = Constraints(frozenset({1, 2}), frozenset({(0, 1)}), frozenset({"C"}), frozenset(), frozenset({"set_node"}))
    assert Constraints([2, 1, 1], [(0, 1)], ["C"], (), {"set_node"}) == sets
    assert hash(Constraints(freeze_nodes=[1])) == hash(Constraints(freeze_nodes=frozenset({1})))


def test_constraints_about_nothing_are_errors():
    graph = DATASET.graphs(0)
    with pytest.raises(ConfigError, match=r"Frozen nodes must be nodes of the graph.*got 77"):
        search(graph, Constraints(freeze_nodes=frozenset({77})))
    with pytest.raises(ConfigError, match=r"`forbid_node_types`.*'purple'"):
        search(graph, Constraints(forbid_node_types=frozenset({"purple"})))
    with pytest.raises(ConfigError, match=r"`forbid_ops`.*'erase'"):
        Constraints(forbid_ops=frozenset({"erase"}))
    with pytest.raises(ConfigError, match="at least 1 edit; got 0"):
        Constraints(budget=0)
    with pytest.raises(ConfigError, match=r"`forbid_node_types` must be a set or a list; got 'gray'"):
        Constraints(forbid_node_types="gray")
    with pytest.raises(ConfigError, match="two nodes"):
        Constraints(freeze_edges=frozenset({(1, 1)}))
