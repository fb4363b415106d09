"""Laws of what a search over edits may return, on drafts made by hand: each names one way in which it could cheat."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.explain.constraints import Constraints
from graphflip.explain.edits.candidates import Candidate
from graphflip.explain.edits.minimize import Minimizer
from graphflip.explain.edits.neighborhood import Neighborhood, SearchStage
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.edits.settings import Costs
from graphflip.explain.goals.classes import ClassGoal
from graphflip.explain.moves.alignment import align
from graphflip.explain.moves.environments import EnvironmentCounts
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.restrictions import Restrictions
from graphflip.explain.moves.sketch import Sketch

from .oracles import CountsType

PLAIN = molecule_schema(("C", "N", "O", "Cl"), max_nodes=10, explicit_hydrogens=False)
HYDROGENS = molecule_schema(("C", "N", "O", "H"), max_nodes=20, explicit_hydrogens=True)
SINGLE, DOUBLE = ("single",), ("double",)


def broken(rules, factual, after, schema):
    """The constraint that a changed sketch breaks, by name."""
    found = Candidate.of(factual, after, schema)
    return Restrictions.of(Constraints(**rules), factual, schema).broken(found.difference, found.counted)


@given(at=st.sampled_from([(0, 1), (1, 2), (2, 3)]), back=st.booleans(), other=st.booleans())
def test_a_frozen_edge_is_frozen_whichever_end_is_named_first(at, back, other):
    """And only that edge is: a change of another one is free."""
    factual = Sketch.of(from_smiles("CCCC", PLAIN))
    i, j = at if not other else {(0, 1): (1, 2), (1, 2): (2, 3), (2, 3): (0, 1)}[at]
    after = factual.copy()
    after.join(i, j, DOUBLE)
    frozen = at[::-1] if back else at
    assert broken({"freeze_edges": {frozen}}, factual, after, PLAIN) == (None if other else "freeze_edges")


def test_a_forbidden_type_is_forbidden_to_come_and_free_to_stay():
    schema = drug_schema()
    factual = Sketch.of(from_smiles("CN", schema))
    charged = factual.copy()
    element, *rest = factual.nodes[1]
    charged.set_node(1, (element, *("+1" if value == "0" else value for value in rest)))
    assert charged.nodes[1] != factual.nodes[1], "another charge, the same element"
    assert broken({"forbid_node_types": {"N"}}, factual, charged, schema) is None
    brought = factual.copy()
    brought.set_node(0, factual.nodes[1])
    assert broken({"forbid_node_types": {"N"}}, factual, brought, schema) == "forbid_node_types"


@pytest.mark.parametrize(("forbidden", "names"), [("double", "forbid_edge_types"), ("triple", None)])
def test_forbidden_edge_types(forbidden, names):
    factual = Sketch.of(from_smiles("CCC", PLAIN))
    after = factual.copy()
    after.join(0, 1, DOUBLE)
    assert broken({"forbid_edge_types": {forbidden}}, factual, after, PLAIN) == names


def test_the_hydrogens_of_a_frozen_atom_are_frozen():
    factual = Sketch.of(from_smiles("CO", HYDROGENS))
    after = factual.copy()
    gone = next(j for j in factual.near[0] if factual.nodes[j] == ("H",))
    after.set_node(gone, ("O",))
    assert broken({"freeze_nodes": {0}}, factual, after, HYDROGENS) == "freeze_nodes"
    assert broken({"freeze_nodes": {1}}, factual, after, HYDROGENS) is None


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_the_budget_is_the_largest_number_of_edits(budget):
    factual = Sketch.of(from_smiles("CCC", PLAIN))
    after = factual.copy()
    for i in range(2):
        after.set_node(i, ("N",))
    assert broken({"budget": budget}, factual, after, PLAIN) == ("budget" if budget < 2 else None)


def counts(schema, *smiles, times=5):
    graphs = [from_smiles(text, schema) for text in smiles for _ in range(times)]
    return EnvironmentCounts.mine(GraphDataset.from_graphs("known", graphs, [0] * len(graphs), ("a", "b")))


def test_the_environment_of_a_relabelled_nodes_neighbor_is_looked_at():
    """O-C is known and so is C-C-O; a carbon between two oxygens, whose own label stays, is not."""
    environments = counts(PLAIN, "CO", "CCO", "CCC")
    factual = Sketch.of(from_smiles("CCO", PLAIN))
    after = factual.copy()
    after.set_node(0, ("O",))
    found = Candidate.of(factual, after, PLAIN)
    assert environments.unknown(factual, after, found.difference, 5) == [1]
    assert {i for i, _ in environments.created(factual, after, after.touched)} == {0, 1}
    assert not neighborhood("CCO", environments).admits(factual, after, known=True, limit=math.inf)


def neighborhood(smiles, environments=None, rules=None, costs=None, schema=PLAIN):
    graph = from_smiles(smiles, schema)
    return Neighborhood(graph, Moves(schema), costs or Costs(), Constraints(**(rules or {})), environments, 5)


def test_what_the_factual_has_itself_is_never_strange():
    """A carbon between two chlorines is in the factual and hardly anywhere else; a change elsewhere is free."""
    environments = counts(PLAIN, "CC", "CCC", "CCN", "CN", "CCO", "CO")
    around = neighborhood("ClC(Cl)CC", environments)
    step = around.factual.copy()
    step.set_node(4, ("N",))
    assert around.admits(around.factual, step, known=True, limit=math.inf)
    back = step.copy()
    back.set_node(0, ("C",))
    restored = back.copy()
    restored.set_node(0, ("Cl",))  # touches the strange carbon, and leaves it as it was
    assert around.admits(back, restored, known=True, limit=math.inf)
    assert not around.has_unknown_environments(around.candidate(restored))
    turned = around.factual.copy()  # the strange carbon lets go of one carbon and takes another
    turned.cut(1, 3)
    turned.join(1, 4, SINGLE)
    found = around.candidate(turned)
    assert 1 in found.difference.touched
    assert environments.unknown(around.factual, turned, found.difference, 5) == []
    other = around.factual.copy()
    other.set_node(1, ("N",))
    assert not around.admits(around.factual, other, known=True, limit=math.inf)


@settings(max_examples=40)
@given(
    hydrogen_price=st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), edit_price=st.sampled_from([0.5, 1.0]), data=st.data()
)
def test_the_lower_bound_of_cost_is_one(hydrogen_price, edit_price, data):
    """Also where hydrogens are cheap: no graph costs less than the bound for the nodes and edges it has gained."""
    costs = Costs(hydrogen_price=hydrogen_price, edit_price=edit_price)
    factual = Sketch.of(from_smiles("CCO", HYDROGENS))
    after = factual.copy()
    for _ in range(data.draw(st.integers(0, 4))):
        hydrogen = next((j for j in after.nodes if after.nodes[j] == ("H",)), None)
        if hydrogen is not None and data.draw(st.booleans()):
            after.remove(hydrogen)
        else:
            after.join(data.draw(st.integers(0, 2)), after.add(data.draw(st.sampled_from([("H",), ("O",)]))), SINGLE)
    apart = sum(abs(now - was) for now, was in zip(after.size, factual.size, strict=True))
    candidate = Candidate.of(factual, align(factual, after, 20), HYDROGENS)
    assert costs.at_least(apart) <= costs.cost(candidate) + 1e-9


STAGE = SearchStage(largest=None, branches=1.0, beam=4)


@pytest.mark.parametrize("rule", [{"freeze_nodes": {3}}, {"forbid_node_types": {"N"}}, {}])
def test_a_smaller_answer_keeps_to_the_constraints(rule):
    """Two nodes were changed; taking one change back leaves the other, which the constraint may forbid."""
    around = neighborhood("CCCC", rules=rule)
    found = around.factual.copy()
    found.set_node(0, ("O",))
    found.set_node(3, ("N",))
    smaller = []
    for i in (0, 3):
        less = found.copy()
        less.set_node(i, ("C",))
        smaller.append(less)
    kept = around.cheaper_than(around.candidate(found), smaller, STAGE)
    assert [set(one.difference.nodes) for one in kept] == ([{0}] if rule else [{3}, {0}])


def test_a_smaller_answer_is_smaller_and_not_strange():
    environments = counts(PLAIN, "CC", "CCC", "CCO", "CO")
    around = neighborhood("CCCC", environments)
    found = around.candidate(_changed(around, {0: "O", 3: "O"}))
    strange, known, larger = ({0: "Cl"}, {0: "O"}, {0: "O", 3: "O", 1: "O"})
    offered = [_changed(around, change) for change in (strange, known, larger)]
    kept = around.cheaper_than(found, offered, SearchStage(None, 1.0, 4, known=True))
    assert [set(one.difference.nodes) for one in kept] == [{0}]
    assert kept[0].sketch.nodes[0] == ("O",)
    free = around.cheaper_than(found, offered, SearchStage(None, 1.0, 4, known=False))
    assert {one.sketch.nodes[0] for one in free} == {("Cl",), ("O",)}
    assert all(one.size < found.size for one in free)


def _changed(around, change):
    sketch = around.factual.copy()
    for i, name in change.items():
        sketch.set_node(i, (name,))
    return sketch


def moved_group(**settings):
    """A search, and the candidate in which an amino group has moved to the other end, as remove and build anew."""
    graph, classifier = from_smiles("NCC(O)CC", HYDROGENS), CountsType(HYDROGENS, "O", 2)
    explainer = EditSearch(classifier, Moves(HYDROGENS), hydrogen_price=1.0, **settings)
    search, sketch = explainer.start(graph, ClassGoal(1), classifier(graph)), Sketch.of(graph).copy()
    for i in [0, *(j for j in sketch.near[0] if j > 5)]:
        sketch.remove(i)
    new = sketch.add(("N",))
    sketch.join(5, new, SINGLE)
    sketch.remove(next(j for j in sketch.near[5] if sketch.nodes[j] == ("H",)))
    for at in (new, new, 1):
        sketch.join(at, sketch.add(("H",)), SINGLE)
    around = search.neighborhood
    (found,) = search.scoring.score([around.candidate(align(around.factual, sketch, HYDROGENS.max_nodes))], False)
    return around, found, Minimizer(around, search.scoring, search.inspect, next(search.stages()))


@torch.no_grad()
def test_an_answer_is_not_aligned_anew_against_the_constraints():
    around, found, minimize = moved_group()
    again = minimize.realigned(found)
    assert again is not None
    # A node that the better alignment changes and the first one does not: frozen, the first alignment must do.
    only_then = sorted(again.difference.touched - found.difference.touched)
    assert only_then, "the example shows nothing"
    around, found, minimize = moved_group(constraints=Constraints(freeze_nodes={only_then[0]}))
    assert around.allows(found)
    assert minimize.realigned(found) is None


@torch.no_grad()
def test_an_answer_is_not_aligned_anew_into_strange_environments():
    """Whether an environment was created depends on the alignment: one that the factual has elsewhere is no excuse."""
    around, found, minimize = moved_group()
    again = minimize.realigned(found)
    assert again is not None
    strange = {id(again.sketch): True, id(found.sketch): False}
    around.has_unknown_environments = lambda candidate: strange.get(id(candidate.sketch), True)
    assert minimize.realigned(found) is None
    around.has_unknown_environments = lambda candidate: True
    assert minimize.realigned(found) is not None, "it was strange before"
