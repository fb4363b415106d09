"""Claims that are true: taking a change back shows what it is needed for, and `one_minimal` is about the class."""

import dataclasses
import math
from itertools import product

import pytest
import torch

import graphflip as gf
from graphflip.data.planted.motif import planted
from graphflip.describe.claims import boundary_remarks, each_needed, needs, smaller_answer
from graphflip.describe.takeback import take_back
from graphflip.describe.wording import sentences
from graphflip.edits import apply_edits
from graphflip.errors import DataError
from graphflip.explain import Counterfactual, EditSearch, Moves, Outcome
from graphflip.explain.claims.boundary import is_unsure, lead
from graphflip.explain.claims.needs import Loss, Need
from graphflip.explain.constraints import Constraints
from graphflip.explain.preferences import PREFERENCES, asked_confidence
from graphflip.explain.query import Query
from graphflip.explain.records import from_record, to_record
from graphflip.models.adapters import BlackBox

from .oracles import CountsType

DATASET = planted(num_graphs=12, seed=1, min_nodes=6, max_nodes=8)
RED = CountsType(DATASET.schema, "red", 1)


def colors(*types: str) -> gf.Graph:
    """A path of nodes of these types."""
    edges = [(i, i + 1, {"type": "thin"}) for i in range(len(types) - 1)]
    return gf.Graph.build(DATASET.schema, [{"type": one} for one in types], edges)


def needed(found: Counterfactual) -> tuple[Need, ...]:
    """What was found out about each change."""
    assert found.needed_for is not None
    return found.needed_for


def sure(**options) -> EditSearch:
    """A search that asks for two red nodes, where one is enough for the class."""
    return EditSearch(RED, Moves(DATASET.schema), confidence=0.9, **options)


@pytest.fixture(scope="module")
def answer() -> Counterfactual:
    (found,) = sure().explain(colors("gray", "blue", "gray"), target=1)
    return found


def test_what_is_asked_beyond_the_class_is_not_called_needed_for_it(answer):
    assert answer.flipped
    assert [need.lost for need in needed(answer)] == [Loss.CONFIDENCE] * 2
    assert answer.one_minimal is False
    assert each_needed(answer, sentences(answer.factual, answer.counterfactual)) == (
        "each needed for the confidence asked, not for the class"
    )


def test_the_smaller_answer_has_the_class_and_nothing_to_spare(answer):
    graph = apply_edits(answer.factual, answer.smaller.edits)
    assert len(answer.smaller.edits) < len(answer.edits)
    logits = RED(graph)
    assert int(logits.argmax()) == 1
    assert answer.smaller.probability == pytest.approx(float(logits.softmax(-1)[0, 1]))
    assert len(answer.smaller.edits) == 1
    told = smaller_answer(answer, sentences(answer.factual, answer.counterfactual))
    assert told is not None
    text, left_out = told
    assert "the class still flips (0.73)" in text
    assert len(left_out) == 1
    assert text in str(answer)


def test_the_class_alone_is_always_minimal():
    for graph in DATASET.graphs(range(4)):
        (found,) = EditSearch(RED, Moves(DATASET.schema)).explain(graph)
        if found.flipped:
            assert found.one_minimal
            assert found.smaller is None
            assert {need.lost for need in needed(found)} == {Loss.CLASS}


def test_agreement_and_validity_are_named():
    strict = CountsType(DATASET.schema, "red", 2)
    search = EditSearch(RED, Moves(DATASET.schema), surrogates=(strict,), agreement=0.6)
    (found,) = search.explain(colors("gray", "blue", "gray"), target=1)
    assert {need.lost for need in needed(found)} == {Loss.AGREEMENT}
    frozen = dataclasses.replace(sure(), constraints=Constraints(forbid_ops={"set_node"}))
    (found,) = frozen.explain(colors("gray", "blue", "gray"), target=1)
    assert {need.lost for need in needed(found)} <= {Loss.CONFIDENCE, Loss.CLASS, Loss.VALIDITY}


@pytest.mark.parametrize("budget", [40, 60, 90, 200])
def test_claims_stay_within_the_budget_and_are_counted(budget):
    graph = colors("gray", "blue", "gray")
    box = BlackBox(lambda graphs: RED(gf.Graph.cat(graphs)).softmax(-1), DATASET.schema, budget=budget)
    (found,) = dataclasses.replace(sure(), classifier=box).explain(graph, target=1)
    assert found.classifier_calls == box.calls <= budget
    (own,) = sure(max_calls=budget).explain(graph, target=1)
    assert own.classifier_calls <= budget
    if found.flipped and found.needed_for is None:
        assert (found.one_minimal, found.smaller) == (None, None)


def test_a_search_that_has_no_calls_left_claims_nothing():
    graph = colors("gray", "blue", "gray")
    enough = next(n for n in range(2, 400) if sure(max_calls=n).explain(graph, target=1)[0].flipped)
    (found,) = sure(max_calls=enough).explain(graph, target=1)
    assert found.flipped
    assert (found.one_minimal, found.needed_for, found.smaller) == (None, None, None)


def test_records_keep_claims_and_old_ones_claim_nothing(answer):
    record = to_record(answer)
    again = from_record(record, DATASET.schema)
    assert to_record(again) == record
    assert (again.one_minimal, str(again)) == (answer.one_minimal, str(answer))
    assert [need.lost for need in needed(again)] == [need.lost for need in needed(answer)]
    old = {key: value for key, value in record.items() if key not in ("needed_for", "smaller", "lead_factual")}
    read = from_record(old | {"one_minimal": True}, DATASET.schema)
    assert (read.one_minimal, read.needed_for, read.smaller, read.lead_factual) == (None, None, None, None)


def test_claims_keep_their_edits_where_slots_are_empty():
    graph = colors("gray", "blue", "gray").pad(5).permute(torch.tensor([0, 3, 1, 4, 2]))
    (found,) = sure(constraints=Constraints(forbid_ops={"set_node"})).explain(graph, target=1)
    record = to_record(found)
    told = [sorted(need["edits"]) for need in record["needed_for"]]
    again = from_record(record, DATASET.schema)
    said = sentences(again.factual, again.counterfactual)
    assert sorted(told) == sorted(sorted(again.edits.index(edit) for edit in one.edits) for one in said)
    assert all(needs(again, said))
    if again.smaller is not None:
        apply_edits(again.factual, again.smaller.edits)


@pytest.mark.parametrize(
    "wrong",
    [
        {"needed_for": 3},
        {"needed_for": [{"for": "luck", "edits": [0]}]},
        {"needed_for": [{"for": "class", "edits": [99]}]},
        {"needed_for": [{"for": "class", "edits": [-1]}]},
        {"smaller": {"p": "high", "edits": []}},
        {"smaller": {"p": 0.6, "edits": None}},
        {"one_minimal": "yes"},
    ],
)
def test_wrong_claims_are_refused(answer, wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        from_record(to_record(answer) | wrong, DATASET.schema)


def test_near_the_boundary_is_said_for_both_graphs(answer):
    near = dataclasses.replace(answer, lead_factual=0.08, lead_counterfactual=0.02)
    assert boundary_remarks(near) == [
        "as it is: near the boundary, the classifier is unsure",
        "changed: near the boundary, the classifier is unsure",
    ]
    assert all(remark in str(near) for remark in boundary_remarks(near))
    assert boundary_remarks(dataclasses.replace(answer, lead_factual=0.5, lead_counterfactual=0.3)) == []


@pytest.mark.parametrize(
    ("probabilities", "unsure"),
    [((0.55, 0.45), True), ((0.56, 0.44), False), ((0.4, 0.35, 0.25), True), ((0.5, 0.3, 0.2), False)],
)
def test_the_second_class_decides_who_is_unsure(probabilities, unsure):
    outputs = torch.tensor(probabilities).log()
    assert is_unsure(lead(outputs), None, len(probabilities)) is unsure
    assert lead(torch.tensor([3.0])) is None
    assert lead(torch.tensor([math.nan, 1.0])) is None


def test_without_a_lead_two_classes_are_enough():
    assert is_unsure(None, 0.53, 2)
    assert not is_unsure(None, 0.53, 3)
    assert not is_unsure(None, None, 2)


def test_minimal_asks_for_the_class_alone():
    wish = PREFERENCES["minimal"]
    assert asked_confidence(Query(), wish, 2) == 0.5
    assert asked_confidence(Query(), wish, 4) == 0.25
    assert asked_confidence(Query(confidence=0.5), wish, 4) == 0.5
    assert asked_confidence(Query(), wish, 1) == 0.5
    assert asked_confidence(Query(), PREFERENCES["balanced"], 4) == PREFERENCES["balanced"].confidence


MOLECULES = ["CCN(CC)N=O", "CC(=O)Oc1ccccc1C(=O)O"]


@pytest.mark.parametrize("kit", ["ames", "mutagenicity"])
def test_taking_back_by_hand_shows_what_was_claimed(kit):
    """What a checkbox of the viewer shows is what is said beside it, for answers of both preferences."""
    explainer = gf.load(kit)
    for smiles, query in product(MOLECULES, (Query(prefer="minimal"), Query(prefer="balanced"))):
        found = explainer.explain(smiles, query=query)
        assert found.outcome is Outcome.FLIPPED
        keeps = [take_back(explainer, found, [k]).flipped for k in range(len(needed(found)))]
        losses = [need.lost for need in needed(found)]
        assert [loss is not Loss.CLASS for loss in losses] == keeps
        assert found.one_minimal is (found.smaller is None and not any(loss.keeps_class for loss in losses))
        if query.prefer == "minimal":
            assert found.one_minimal
        if found.smaller is not None:
            graph = apply_edits(found.factual, found.smaller.edits)
            name = max(predicted := explainer.predict(graph), key=lambda one: predicted[one])
            assert name == found.class_name(found.target)
