"""What is 1-minimal and what is not, and how few edits a flip can take."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.bench.minimality import Requirement, is_one_minimal, smaller_answers
from graphflip.bench.nitro import nitro_groups, touches_nitro
from graphflip.bench.quality.limit import FewestEdits, SingleEdits
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.data.molecules.validity import is_radical_free
from graphflip.data.planted.motif import answers, contains_motif, planted
from graphflip.edits import apply_edits, edits_between, heavy_edits
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.edits.search import EditSearch
from graphflip.explain.edits.settings import Level
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.moves import Moves
from graphflip.graph import Graph

from .stand_ins import CountsRed

SMALL = planted(60, max_nodes=8, min_nodes=5)
GRAPHS = SMALL.graphs().pad(8)
RED, MOVES = CountsRed(SMALL.schema), Moves(SMALL.schema)


class KnowsTheRule(CountsRed):
    """The rule itself, without a hint of how near a graph is."""

    def embed(self, graph):
        return contains_motif(graph).float()[:, None]

    def head(self, embedding):
        logit = 4 * (embedding[:, 0] - 0.5)
        return torch.stack([-logit, logit], 1)


def claim(factual, counterfactual, target):
    return Counterfactual("x", "test", target, factual, counterfactual, 0.1, 0.9, Outcome.FLIPPED)


def other_class(graph, classifier=RED):
    return 1 - int(classifier(graph).argmax())


@settings(max_examples=8)
@given(k=st.integers(0, 59), other=st.integers(0, 59))
def test_an_answer_is_minimal_if_no_smaller_one_flips(k, other):
    """Against the obvious: for graphs that are no molecules, leave out each edit and look."""
    factual, after, target = GRAPHS[k], GRAPHS[other], other_class(GRAPHS[k])
    says = is_one_minimal(claim(factual, after, target), Requirement(RED), MOVES)
    if int(RED(after).argmax()) != target:
        assert says is None, "what does not flip is no answer"
        return
    smaller = list(smaller_answers(factual, after, MOVES))
    assert says == (not any(int(RED(graph).argmax()) == target for graph in smaller))
    size = len(edits_between(factual, after))
    assert all(0 < len(edits_between(factual, graph)) < size for graph in smaller)


@settings(max_examples=4)
@given(k=st.integers(0, 59))
def test_an_edit_too_many_is_seen(k):
    factual, target, search = GRAPHS[k], other_class(GRAPHS[k]), EditSearch(RED, MOVES)
    (found,) = search.explain(factual)
    assert is_one_minimal(found, Requirement.of(search), MOVES) is True
    spare = next(step for step in SingleEdits(SMALL.schema).steps(found.counterfactual) if step.size == 1)
    more = apply_differences(found.counterfactual, [spare]).pad(8)
    if int(RED(more).argmax()) == target and len(edits_between(factual, more)) > len(found.edits):
        assert is_one_minimal(claim(factual, more, target), Requirement.of(search), MOVES) is False


def test_what_was_asked_decides():
    """More confidence needs more edits: minimal for the confidence asked, not for the flip."""
    factual = next(graph for graph in GRAPHS if other_class(graph) == 1)
    sure = EditSearch(RED, MOVES, confidence=0.999, price=0.01)
    (found,) = sure.explain(factual)
    assert float(RED(found.counterfactual).softmax(1)[0, 1]) >= 0.999
    assert is_one_minimal(found, Requirement.of(sure), MOVES) is True
    assert is_one_minimal(found, Requirement(RED), MOVES) is False
    surrogates = Requirement(RED, (CountsRed(SMALL.schema, 0.01),), (Level(agreement=0.9),))
    assert is_one_minimal(found, surrogates, MOVES) is False, "nobody can meet it, so the flip is what counts"


def test_hydrogens_are_no_changes_of_their_own():
    """Where hydrogens are nodes, leaving one out gives no molecule, so it is no smaller answer."""
    schema = molecule_schema(("C", "H", "N", "O"), 20, explicit_hydrogens=True)
    factual = from_smiles("CCO", schema)
    (move,) = [
        one for one in Moves(schema).valid(factual)
        if one.kind == "change node" and any(edit.after.get("type") == "N" for edit in one.edits)
        and any(edit.before.get("type") == "O" for edit in one.edits)
    ]  # fmt: skip
    after = apply_edits(factual, move.edits)
    assert len(heavy_edits(factual, move.edits)) == 1
    assert len(move.edits) == 3
    assert list(smaller_answers(factual, after, Moves(schema))) == []


def test_what_is_no_molecule_has_smaller_answers_that_are_none():
    schema = molecule_schema(("C", "H", "O"), 20, explicit_hydrogens=True)
    factual = from_smiles("CC", schema)
    after = apply_edits(factual, edits_between(factual, from_smiles("CO", schema).pad(8))[:4])
    assert not bool(is_radical_free(after)), "one carbon has lost two hydrogens"
    sizes = {len(edits_between(factual, graph)) for graph in smaller_answers(factual, after, Moves(schema))}
    assert sizes == {2}, "either of them may come back with its bond"


@settings(max_examples=4)
@given(k=st.integers(0, 59))
def test_the_limit_is_below_every_search(k):
    factual = GRAPHS[k]
    (least,), (found,) = FewestEdits(RED).explain(factual), EditSearch(RED, MOVES).explain(factual)
    assert least.flipped
    assert len(least.edits) <= len(found.edits)
    assert is_one_minimal(least, Requirement(RED), MOVES) is not None


def test_the_limit_is_the_known_answer_where_one_edit_is_enough():
    rule = KnowsTheRule(SMALL.schema)
    one = (answers(GRAPHS) == 1).nonzero()[:8, 0].tolist()
    for found in FewestEdits(rule).explain(GRAPHS[one]):
        assert found.flipped
        assert len(found.edits) == 1


def test_the_limit_gives_up_politely():
    class Stubborn(CountsRed):
        def head(self, embedding):
            return torch.tensor([[1.0, 0.0]]).expand(len(embedding), 2)

    (found,) = FewestEdits(Stubborn(SMALL.schema), beam=2, max_edits=2).explain(GRAPHS[0])
    assert found.outcome is Outcome.OUT_OF_MOVES
    assert len(found.edits) <= 3
    lone = Graph.build(SMALL.schema, [{"type": "gray"}], [])
    assert not FewestEdits(Stubborn(SMALL.schema), beam=2, max_edits=2).explain(lone)[0].flipped


def test_single_edits_of_molecules_keep_bonds_within_bounds():
    schema = molecule_schema(("C", "H", "O"), 12, explicit_hydrogens=True)
    methane = from_smiles("C", schema)
    steps = list(SingleEdits(schema).steps(methane))
    kinds = sorted((step.size, len(step.nodes)) for step in steps)
    # A hydrogen may become C or O, or go with its bond; the carbon is full and can be nothing else.
    assert kinds == [(1, 1)] * 8 + [(2, 1)] * 4


@pytest.mark.parametrize(
    ("smiles", "count"),
    [
        ("O=[N+]([O-])c1ccccc1", 1),
        ("O=[N+]([O-])c1cccc([N+](=O)[O-])c1", 2),
        ("C[N+](=O)[O-]", 0),
        ("ON(O)c1ccccc1", 0),
        ("c1ccccc1", 0),
    ],
)
def test_nitro_groups_on_rings_are_found(smiles, count):
    for explicit in (False, True):
        schema = molecule_schema(("C", "H", "N", "O"), 20, explicit_hydrogens=explicit)
        assert len(nitro_groups(from_smiles(smiles, schema))) == count


def test_edits_touch_a_nitro_group_or_do_not():
    schema = molecule_schema(("C", "N", "O"), 12, explicit_hydrogens=False)
    factual = from_smiles("O=[N+]([O-])c1ccccc1", schema)
    away, beside = from_smiles("O=[N+]([O-])c1ccccn1", schema), from_smiles("O=C(O)c1ccccc1", schema)
    assert touches_nitro(factual, edits_between(factual, beside)) is True
    assert touches_nitro(factual, edits_between(factual, away)) is False
    assert touches_nitro(from_smiles("c1ccccc1", schema), []) is None
