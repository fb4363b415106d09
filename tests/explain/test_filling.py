"""Hydrogens that are worked out on numbers of bonds are those that come of filling one atom after the other."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain.moves.atoms.filling import Filling
from graphflip.explain.moves.fragments import Fragment, FragmentVocabulary
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.sketch import Sketch

SCHEMA = molecule_schema(("C", "N", "O", "S", "P", "Cl", "H"), max_nodes=60, explicit_hydrogens=True)
SINGLE, DOUBLE = ("single",), ("double",)
GROUPS = (
    Fragment(nodes=(("N",), ("O",), ("O",)), edges=((0, 1, DOUBLE), (0, 2, SINGLE)), link=SINGLE),
    Fragment(nodes=(("O",), ("C",)), edges=((0, 1, SINGLE),), link=SINGLE),
    Fragment(nodes=(("N",), ("O",)), edges=((0, 1, DOUBLE),), link=SINGLE),
    Fragment(nodes=(("N",), ("N",), ("N",)), edges=((0, 1, DOUBLE), (1, 2, DOUBLE)), link=SINGLE),
)
MOVES = Moves(SCHEMA, FragmentVocabulary(fragments=GROUPS, max_nodes=3))
SMILES = ["C[N+](=O)[O-]", "CN", "CNO", "C[N+](C)(C)CC(=O)O", "CN=[N+]=[N-]", "CS(=O)N", "Oc1ccncc1", "[Cl-].C[NH3+]",
          "C[N+]([O-])=NC", "C1CN1.CCl"]  # fmt: skip


def as_lists(sketch):
    """All of a sketch, in its order: moves are listed, and new nodes numbered, in the order of nodes and neighbors."""
    near = [(i, list(edges.items())) for i, edges in sketch.near.items()]
    return list(sketch.nodes.items()), near, sketch.touched, sketch.newest


def settled(state, draft, settle):
    after, changed = draft.build()
    return (as_lists(after),) if settle(state, after, changed) else None


def quick(state, after, changed):
    return MOVES.rules.settle(state, after, changed, state)


def check(smiles, picks, settle=quick):
    """Settle every move of the graphs on a walk in both ways; what came of how many of them."""
    state, seen = Sketch.of(from_smiles(smiles, SCHEMA)), Counter()
    factual = state
    for pick in picks:
        drafts = [draft for draft in MOVES.drafts(state, factual) if draft.build() is not None]
        for draft in drafts:
            plain = settled(state, draft, MOVES.rules._settle_by_turns)
            assert settled(state, draft, settle) == plain, draft
            seen[plain is not None] += 1
        made = [after for draft in drafts if (after := MOVES.made(state, draft, factual)) is not None]
        state = made[pick % len(made)]
    return seen


@given(st.sampled_from(SMILES), st.lists(st.integers(0, 10_000), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_valences_are_filled_in_both_ways_alike(smiles, picks):
    seen = check(smiles, picks)
    assert seen[True]


@pytest.mark.parametrize("smiles", [smiles for smiles in SMILES if "N+" not in smiles and "NH3+" not in smiles])
def test_most_moves_do_not_need_the_longer_way(smiles, monkeypatch):
    asked, of = [], Filling.of
    monkeypatch.setattr(Filling, "of", lambda *args: asked.append(of(*args)) or asked[-1])
    check(smiles, [0])
    assert sum(answer is not None for answer in asked) > sum(answer is None for answer in asked)


def test_the_law_sees_a_hydrogen_too_many(monkeypatch):
    of = Filling.of

    def generous(self, *args):
        filled = of(self, *args)
        return [each._replace(wanted=each.wanted + 1) for each in filled] if filled else filled

    monkeypatch.setattr(Filling, "of", generous)
    with pytest.raises(AssertionError):
        check("CN", [0])
