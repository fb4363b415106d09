"""Laws of any search over edits: what is fixed stays, what is there may stay, and what is returned was allowed."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphflip
from graphflip.data.molecules.molecule import from_smiles
from graphflip.edits import edits_between
from graphflip.explain import Outcome
from graphflip.explain.constraints import Constraints
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.explainer import Explainer
from graphflip.explain.moves.moves import Moves
from graphflip.graph import Graph
from graphflip.models.adapters import BlackBox
from graphflip.schema import Schema

from .oracles import Edges

MOLECULES = ("CCN(CC)N=O", "O=[N+]([O-])c1ccccc1")


@pytest.fixture(scope="module")
def explainer():
    return graphflip.load("ames")


def edges_of(smiles, explainer):
    graph = from_smiles(smiles, explainer.kit.schema)
    return [(i, j) for i, j, _ in graph.edges()]


def touched(answer):
    """Pairs whose edge an answer changes, both ways round; without the edges that nodes take with them."""
    after = answer.counterfactual
    pairs = [edit.at for edit in edits_between(answer.factual, after) if not edit.is_node]
    return {pair for i, j in pairs for pair in ((i, j), (j, i))}


@pytest.mark.parametrize("prefer", ["minimal"])
@settings(max_examples=3)
@given(k=st.integers(0, 1), which=st.integers(0, 30), back=st.booleans())
def test_a_frozen_edge_stays_in_whichever_order_it_is_named(explainer, prefer, k, which, back):
    edges = edges_of(MOLECULES[k], explainer)
    free = explainer.explain(MOLECULES[k], prefer=prefer)
    # An edge that the free answer changes, if there is one: freezing any other would prove little.
    changed = [pair for pair in edges if free.counterfactual is not None and pair in touched(free)] or edges
    i, j = changed[which % len(changed)]
    frozen = (j, i) if back else (i, j)
    answer = explainer.explain(MOLECULES[k], prefer=prefer, freeze_edges={frozen})
    if answer.counterfactual is not None:
        assert not touched(answer) & {(i, j), (j, i)}
        assert bool(answer.counterfactual.A[0, i, j] == answer.factual.A[0, i, j])


@pytest.mark.parametrize("smiles", MOLECULES)
@pytest.mark.parametrize("prefer", ["minimal", "balanced"])
def test_an_answer_keeps_to_the_constraints_however_it_was_improved(explainer, smiles, prefer):
    rules = Constraints(freeze_nodes={0, 1}, forbid_node_types={"Cl", "Br"}, forbid_ops={"add_node"}, budget=4)
    answer = explainer.explain(smiles, prefer=prefer, constraints=rules)
    if answer.counterfactual is None:
        return
    for edit in edits_between(answer.factual, answer.counterfactual):
        assert edit.op != "add_node"
        assert not {0, 1} & set(edit.at)
        assert not {"Cl", "Br"} & set(edit.after.values())


@pytest.mark.parametrize("smiles", MOLECULES)
def test_a_forbidden_type_that_is_there_blocks_no_other_change(explainer, smiles):
    """Nodes of the type stay as they may; the rest of the molecule is free, so that an answer is still found."""
    free = explainer.explain(smiles, prefer="minimal")
    answer = explainer.explain(smiles, prefer="minimal", forbid_node_types={"C"})
    brought = [edit for edit in free.edits if edit.is_node and edit.after.get("type") == "C"]
    if free.flipped and not brought:
        assert answer.flipped
        assert len(answer.edits) <= len(free.edits)
    for edit in answer.edits:
        assert edit.after.get("type") != "C" or edit.before.get("type") == "C"


@pytest.mark.parametrize("smiles", MOLECULES)
def test_environments_of_a_believable_answer_are_known_or_the_factuals_own(explainer, smiles):
    """Also those of nodes beside a changed one; what the factual has itself is never held against an answer."""
    answer = explainer.explain(smiles, prefer="balanced")
    if not answer.flipped:
        return
    known = explainer.kit.knowledge.environments
    assert bool(known.created_are_known(answer.factual, answer.counterfactual).all())


def test_a_search_that_comes_no_closer_ends_each_stage_after_two_rounds(explainer):
    """With a classifier that nothing changes, seven rounds of every stage would find nothing more than two do."""
    indifferent = BlackBox(lambda graphs: torch.tensor([[0.6, 0.4]] * len(graphs)), explainer.kit.schema)
    kit = dataclasses.replace(explainer.kit, classifier=indifferent, surrogates=(indifferent,))
    answer = Explainer(kit).explain(MOLECULES[0])
    assert answer.outcome is Outcome.OUT_OF_MOVES
    assert 4 <= answer.steps <= 10  # two rounds each of up to five stages


@pytest.mark.parametrize("look", [0, 16])
def test_memory_is_for_the_graph_that_is_explained_and_not_for_the_largest_one_of_the_schema(look):
    shown, answers = set[int](), []

    class Watched(Edges):
        def embed(self, graph):
            shown.add(graph.num_slots)
            return super().embed(graph)

    for largest in (200, 5000):
        schema = Schema(max_nodes=largest)
        shown.clear()
        search = EditSearch(Watched(schema, 12), Moves(schema), look=look)
        path = Graph.build(schema, [{}] * 9, [(i, i + 1, {}) for i in range(8)])
        answers += search.explain(path, 10)
        assert max(shown) <= 256
    assert answers[0].flipped
    assert answers[0].edits == answers[1].edits
    assert answers[0].needed_for == answers[1].needed_for
