"""Changes taken back by hand: all or none of them lead to the ends, and what lies between is a graph of its own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphflip
from graphflip.describe.change import Side
from graphflip.describe.takeback import take_back
from graphflip.describe.wording import sentences, sentences_for
from graphflip.edits import edits_between, heavy_edits
from graphflip.errors import ConfigError
from graphflip.explain import Counterfactual, Moves, Outcome
from graphflip.explain.claims.remainders import Remainder
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.revert import apply_possible, make_possible, reverted
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.jsongraph import aligned_pair

pytest.importorskip("rdkit", reason="install graphflip[mol] to take back changes of molecules")

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.molecules.validity import is_radical_free

SMILES = ["CCO", "CC(=O)N", "CN(C)N=O", "C1CC1Cl", "CC#N", "C[N+](=O)[O-]"]
SCHEMAS = [molecule_schema(("C", "N", "O", "Cl", "H"), 16, True), molecule_schema(("C", "N", "O", "Cl"), 12, False)]


def pair(smiles: str, schema, choices: list[int]) -> tuple[Graph, Graph, Moves]:
    """A molecule and what a few moves make of it, aligned."""
    moves = Moves(schema)
    factual = from_smiles(smiles, schema)
    start = state = Sketch.of(factual)
    for choice in choices:
        options = list(moves.steps(state, start))
        state = options[choice % len(options)][1] if options else state
    return *aligned_pair(factual, apply_differences(factual, [Difference.between(start, state)])), moves


CHOICES = st.lists(st.integers(0, 999), min_size=1, max_size=3)
# Made in the test, not in the strategy: type checks look at random items, which hypothesis forbids in strategies.
pairs = st.tuples(st.sampled_from(SMILES), st.sampled_from(SCHEMAS), CHOICES)


@settings(max_examples=8, deadline=None)
@given(pairs)
def test_all_edits_lead_to_the_counterfactual_and_none_to_the_factual(given_pair):
    factual, after, moves = pair(*given_pair)
    assert edits_between(apply_possible(factual, edits_between(factual, after), moves), after) == []
    assert edits_between(apply_possible(factual, [], moves), factual) == []


def in_order(sketch: Sketch) -> tuple:
    return list(sketch.nodes.items()), [(i, list(near.items())) for i, near in sketch.near.items()]


@settings(max_examples=8, deadline=None)
@given(pairs)
def test_remainders_say_of_themselves_what_their_tensors_say(given_pair):
    factual, after, moves = pair(*given_pair)
    factual, before = factual.ample(), Sketch.of(factual.ample())
    whole = Remainder(factual, before, Sketch.of(after.ample()))
    sketches = [*reverted(moves, before, whole.after), make_possible(before, whole.edits[::2], moves)]
    for trial in (whole, *(Remainder(factual, before, sketch) for sketch in sketches)):
        edits = edits_between(factual, trial.graph)
        heavy = heavy_edits(factual, edits)
        assert list(trial.edits) == edits
        assert trial.size == (len(heavy), len(edits))
        assert in_order(trial.ordered) == in_order(Sketch.of(trial.graph))
        fewer = len(heavy) <= whole.size[0] and len(edits) <= whole.size[1]
        assert trial.is_smaller(whole) == (fewer and trial.size != whole.size)


@settings(max_examples=8, deadline=None)
@given(pairs)
def test_what_is_said_does_not_depend_on_what_was_said_before_of_the_same_factual(given_pair):
    factual, after, moves = pair(*given_pair)
    side = Side(factual)
    for sketch in reverted(moves, Sketch.of(factual), Sketch.of(after)):
        left = apply_differences(factual, [Difference.between(Sketch.of(factual), sketch)])
        assert sentences_for(side, left, edits_between(factual, left)) == sentences(factual, left)


@settings(max_examples=8, deadline=None)
@given(pairs, st.integers(0, 2**10))
def test_what_is_left_is_what_was_kept_and_a_molecule(given_pair, choice):
    factual, after, moves = pair(*given_pair)
    said = sentences(factual, after)
    kept = [edit for k, one in enumerate(said) if choice >> k & 1 for edit in one.edits]
    left = apply_possible(factual, kept, moves)
    made = edits_between(factual, left)
    assert set(heavy_edits(factual, made)) <= set(heavy_edits(factual, kept)) | hydrogens_that_moved(factual, made)
    if bool(is_radical_free(factual)) and Sketch.of(left).nodes:
        assert bool(is_radical_free(left)) or not moves_can_settle(factual, left, moves)


def hydrogens_that_moved(factual: Graph, made) -> set:
    """A hydrogen's slot may be taken by what comes in its place, or the other way round: then a label changes."""
    return {edit for edit in made if edit.op == "set_node" and "H" in {*edit.before.values(), *edit.after.values()}}


def moves_can_settle(factual: Graph, left: Graph, moves: Moves) -> bool:
    before, draft = Sketch.of(factual), Sketch.of(left)
    changed = {i for i in Difference.between(before, draft).touched if i in set(moves.heavy(draft))}
    return moves.settled(before, draft.branch(), changed, before) is not None


@pytest.fixture(scope="module")
def explainer():
    return graphflip.load("mutagenicity")


@pytest.fixture(scope="module")
def found(explainer) -> Counterfactual:
    """Nitrotoluene: the nitro group becomes a hydroxy group, and the methyl group gets a chlorine."""
    factual = from_smiles("Cc1ccc(cc1)[N+](=O)[O-]", explainer.kit.schema)
    start = state = Sketch.of(factual)
    moves = explainer.search().moves
    for words in (["replace nitro group on C4 by hydroxy group"], ["add chloro group to C0"]):
        for _, after in moves.steps(state, start):
            graph = apply_differences(factual, [Difference.between(start, after)])
            if words == [
                one.text for one in sentences(apply_differences(factual, [Difference.between(start, state)]), graph)
            ]:
                state = after
                break
    after = apply_differences(factual, [Difference.between(start, state)])
    return Counterfactual("x", "by hand", 1, factual, after, 0.1, 0.9, Outcome.FLIPPED, one_minimal=True)


def test_one_change_is_taken_back_and_the_rest_judged(explainer, found):
    said = [one.text for one in sentences(found.factual, found.counterfactual)]
    assert sorted(said) == ["add chloro group to C0", "replace nitro group on C4 by hydroxy group"]
    left = take_back(explainer, found, [said.index("add chloro group to C0")])
    assert left.counterfactual == explainer.read("Cc1ccc(cc1)O")
    probability = list(explainer.predict("Cc1ccc(cc1)O").values())[1]
    assert left.p_counterfactual == pytest.approx(probability, abs=1e-5)
    assert left.flipped == (probability > 0.5)
    assert left.one_minimal is None
    assert left.evidence.round_trip is (True if left.flipped else None)
    assert take_back(explainer, found, [0, 1]).counterfactual == found.factual


@pytest.mark.parametrize("number", [-1, 2])
def test_changes_that_are_not_there_cannot_be_taken_back(explainer, found, number):
    with pytest.raises(ConfigError, match=r"0\.\.1"):
        take_back(explainer, found, [number])


def test_nothing_can_be_taken_back_from_nothing(explainer, found):
    nothing = Counterfactual("x", "by hand", 1, found.factual, None, 0.1, None, Outcome.OUT_OF_MOVES)
    with pytest.raises(ConfigError, match="There must be a counterfactual"):
        take_back(explainer, nothing, [])
