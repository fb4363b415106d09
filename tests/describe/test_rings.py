"""Changes of whole rings in words: each ring move is one sentence, which is one change that can be taken back."""

from collections import Counter
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="install graphflip[mol] to name rings")

from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema, to_smiles
from graphflip.describe import wording
from graphflip.describe.change import Sentence
from graphflip.describe.ring_names import RINGS, RingNames, _names
from graphflip.describe.wording import sentences
from graphflip.edits import Edit, apply_edits, edits_between
from graphflip.explain import Moves
from graphflip.explain.claims.examine import without
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.sketch import Sketch
from graphflip.graph import Graph
from graphflip.schema import Schema

SCHEMAS = {
    "explicit": molecule_schema(("C", "N", "O", "S", "Cl", "H"), 60, True),
    "implied": molecule_schema(("C", "N", "O", "S", "Cl"), 40, False),
    "charged": drug_schema(40),
}
NAPHTHALENE, TETRALIN, QUINOLINE = "c1ccc2ccccc2c1", "C1CCc2ccccc2C1", "c1ccc2ncccc2c1"
INDOLE, QUINOLINE_OXIDE, AZULENE = "c1ccc2[nH]ccc2c1", "[O-][n+]1cccc2ccccc21", "c1ccc2cccc-2cc1"
MOLECULES = [
    NAPHTHALENE,
    "c1ccc2cc3ccccc3cc2c1",
    QUINOLINE,
    TETRALIN,
    "C1OC1c1ccccc1",
    "C=Cc1ccccc1",
    "Cc1ccc(cc1)-c1ccccc1O",
    "C1CCC2(CC1)CCCC2",
    INDOLE,
    QUINOLINE_OXIDE,
    AZULENE,
]
CHARGED = {"C1CCC2(CC1)CCCC2", INDOLE, QUINOLINE_OXIDE, AZULENE}
"""Molecules whose moves are told with stored charges; those of the others with hydrogens as nodes and implied."""
VERBS = {
    "remove ring": "take away the ",
    "hydrogenate ring": "hydrogenate the ring of ",
    "aromatize ring": "make the ring of ",
    "fuse ring": "fuse a benzene ring to ",
    "exchange ring": "exchange the ",
    "open ring": "open the epoxide ring of ",
    "close ring": "close an ",
}


class Told(NamedTuple):
    """A ring move: its kind, the graphs before and after it, and its words."""

    kind: str
    factual: Graph
    after: Graph
    said: list[Sentence]


@cache
def ring_moves(smiles: str, representation: str) -> list[Told]:
    """Every ring move of a molecule that changes it."""
    factual = from_smiles(smiles, SCHEMAS[representation])
    start = Sketch.of(factual)
    steps = [step for step in Moves(factual.schema).steps(start, start) if step[0] in VERBS]
    made_of = [(kind, made(factual, start, after)) for kind, after in steps]
    return [Told(kind, factual, after, said) for kind, after in made_of if (said := sentences(factual, after))]


def made(factual: Graph, start: Sketch, after: Sketch) -> Graph:
    return apply_differences(factual, [Difference.between(start, after)])


def texts(factual: Graph, after: Graph) -> list[str]:
    return [one.text for one in sentences(factual, after)]


def assert_said_once(factual: Graph, after: Graph, said: list[Sentence]) -> None:
    assert Counter(edit for one in said for edit in one.edits) == Counter(edits_between(factual, after))
    assert all(one.text and one.edits and one.named <= one.nodes for one in said)


@pytest.mark.parametrize(
    ("smiles", "representation"),
    [(each, kind) for each in MOLECULES for kind in SCHEMAS if (each in CHARGED) == (kind == "charged")],
)
def test_each_ring_move_is_one_sentence(smiles, representation):
    for kind, factual, after, said in ring_moves(smiles, representation):
        assert [one.text.startswith(VERBS[kind]) for one in said] == [True], (kind, said)
        assert_said_once(factual, after, said)


def test_all_kinds_of_ring_moves_are_told():
    seen = {told.kind for smiles in set(MOLECULES) - CHARGED for told in ring_moves(smiles, "explicit")}
    assert seen == VERBS.keys()


@pytest.mark.parametrize(
    ("smiles", "after", "expected"),
    [
        (NAPHTHALENE, "c1ccccc1", "take away the benzene ring fused at C3 and C8"),
        (NAPHTHALENE, TETRALIN, "hydrogenate the ring of C0, C1, C2, C3, C8 and C9"),
        (NAPHTHALENE, "c1ccc2cscc2c1", "exchange the benzene ring of C0, C1, C2, C3, C8 and C9 for a thiophene ring"),
        (NAPHTHALENE, "c1ccc2cc3ccccc3cc2c1", "fuse a benzene ring to C0 and C1"),
        (QUINOLINE, "c1ccccc1", "take away the pyridine ring fused at C3 and C8"),
        (TETRALIN, "c1ccccc1", "take away the cyclohexene ring fused at C3 and C8"),
        (TETRALIN, NAPHTHALENE, "make the ring of C0, C1, C2, C3, C8 and C9 aromatic"),
        ("C1OC1c1ccccc1", "CCc1ccccc1", "open the epoxide ring of C0, O1 and C2"),
        ("C=Cc1ccccc1", "C1OC1c1ccccc1", "close an epoxide ring over C0 and C1"),
        ("C=Cc1ccccc1", "C1NC1c1ccccc1", "close an aziridine ring over C0 and C1"),
        ("C1CCC2(CC1)CCCC2", "C1CCCCC1", "take away the cyclopentane ring at C3"),
        (INDOLE, "c1ccccc1", "take away the pyrrole ring fused at C3 and C7"),
        (INDOLE, NAPHTHALENE, "exchange the pyrrole ring of C3, N4, C5, C6 and C7 for a benzene ring"),
        (QUINOLINE_OXIDE, "c1ccccc1", "take away the pyridinium ring fused at C5 and C10"),
        (QUINOLINE_OXIDE, "ON1CCCc2ccccc12", "hydrogenate the ring of N1, C2, C3, C4, C5 and C10"),
    ],
)
def test_a_chemist_would_say_so(smiles, after, expected):
    representation = "charged" if smiles in CHARGED else "implied"
    wanted = to_smiles(from_smiles(after, SCHEMAS[representation]))
    able = [told for told in ring_moves(smiles, representation) if to_smiles(told.after) == wanted]
    assert expected in [one.text for told in able for one in told.said]


def walk(smiles: str, schema: Schema, choices: list[int]) -> tuple[Graph, Graph]:
    """A molecule and what a few moves make of it; even choices are among ring moves, if there are any."""
    factual = from_smiles(smiles, schema)
    start = state = Sketch.of(factual)
    for choice in choices:
        options = list(Moves(schema).steps(state, start))
        rings = [step for step in options if step[0] in VERBS]
        pool = rings if rings and choice % 2 == 0 else options
        state = pool[choice // 2 % len(pool)][1] if pool else state
    return factual, made(factual, start, state)


@seed(21)
@settings(max_examples=12, deadline=None)
@given(
    smiles=st.sampled_from(MOLECULES),
    representation=st.sampled_from(sorted(SCHEMAS)),
    choices=st.lists(st.integers(0, 9999), min_size=2, max_size=3),
)
def test_every_edit_of_several_moves_is_said_once(smiles, representation, choices):
    factual, after = walk(smiles, SCHEMAS[representation], choices)
    assert_said_once(factual, after, sentences(factual, after))


@pytest.mark.parametrize("representation", SCHEMAS)
@pytest.mark.parametrize("smiles", ["C1OC1c1ccccc1", "Cc1ccc2ncccc2c1"])
def test_words_of_other_changes_are_as_without_rings(smiles, representation, monkeypatch):
    factual = from_smiles(smiles, SCHEMAS[representation])
    start = Sketch.of(factual)
    steps = [after for kind, after in Moves(factual.schema).steps(start, start) if kind not in VERBS]
    others = [made(factual, start, after) for after in steps[:: len(steps) // 12]]
    told = [texts(factual, graph) for graph in others]
    monkeypatch.setattr(wording, "ring_sentences", lambda change, edits: ([], list(edits)))
    monkeypatch.setattr(wording, "is_redrawn", lambda change, edit: False)
    assert told == [texts(factual, graph) for graph in others]


def after_moves(smiles: str, schema: Schema, moves: list[tuple[str, str]]) -> tuple[Graph, Graph]:
    """A molecule, and the graph after moves of some kinds that lead to graphs of some SMILES, one after the other."""
    factual = from_smiles(smiles, schema)
    start = state = Sketch.of(factual)
    for kind, wanted in moves:
        steps = (made(factual, start, after) for name, after in Moves(schema).steps(state, start) if name == kind)
        goal = to_smiles(from_smiles(wanted, schema))
        state = Sketch.of(next(graph for graph in steps if to_smiles(graph) == goal))
    return factual, made(factual, start, state)


SEVERAL = {
    "two rings go": (
        "c1ccc2cc3ccccc3cc2c1",
        [("remove ring", NAPHTHALENE), ("remove ring", "c1ccccc1")],
        ["take away 2 fused rings at C5 and C10"],
    ),
    "two rings come": (
        "Cc1ccccc1",
        [("fuse ring", "Cc1cccc2ccccc12"), ("fuse ring", "Cc1cccc2cc3ccccc3cc12")],
        ["fuse 2 rings to C2 and C3"],
    ),
    "one ring goes, another is hydrogenated": (
        NAPHTHALENE,
        [("remove ring", "c1ccccc1"), ("hydrogenate ring", "C1CCCCC1")],
        ["take away the benzene ring fused at C3 and C8", "hydrogenate the ring of C3, C4, C5, C6, C7 and C8"],
    ),
    "one ring goes, the one beside it is exchanged": (
        "c1ccc2cc3ccccc3cc2c1",
        [("remove ring", NAPHTHALENE), ("exchange ring", INDOLE)],
        [
            "take away the benzene ring fused at C3 and C12",
            "exchange the benzene ring of C3, C4, C5, C10, C11 and C12 for a pyrrole ring",
        ],
    ),
    "a ring is exchanged and hydrogenated": (
        "Cc1ccccc1",
        [("exchange ring", "Cc1ccco1"), ("hydrogenate ring", "CC1CCCO1")],
        ["exchange the benzene ring of C1, C2, C3, C4, C5 and C6 for an oxolane ring"],
    ),
    "a group comes in the place of a ring": (
        NAPHTHALENE,
        [("remove ring", "c1ccccc1"), ("add group", "Clc1ccccc1")],
        ["replace the benzene ring fused at C3 and C8 by chloro group on C3"],
    ),
    "a ring comes with a group": (
        "Cc1ccccc1",
        [("fuse ring", "Cc1cccc2ccccc12"), ("add group", "Cc1cccc2cccc(O)c12")],
        ["fuse a benzene ring with hydroxy group to C2 and C3"],
    ),
}


@pytest.mark.parametrize("representation", SCHEMAS)
@pytest.mark.parametrize("name", SEVERAL)
def test_several_changes(name, representation):
    smiles, moves, expected = SEVERAL[name]
    factual, after = after_moves(smiles, SCHEMAS[representation], moves)
    assert texts(factual, after) == expected
    assert_said_once(factual, after, sentences(factual, after))


@pytest.mark.parametrize("representation", SCHEMAS)
def test_a_ring_is_taken_back_as_a_whole(representation):
    schema = SCHEMAS[representation]
    factual, after = after_moves(
        "Cc1ccc2ccccc2c1", schema, [("remove ring", "Cc1ccccc1"), ("change node", "Oc1ccccc1")]
    )
    said = sentences(factual, after)
    assert [one.text for one in said] == [
        "take away the benzene ring fused at C4 and C9",
        "replace methyl group on C1 by hydroxy group",
    ]
    left = [to_smiles(without(factual, said, {number}, Moves(schema))) for number in (0, 1)]
    assert left == ["Oc1ccc2ccccc2c1", "Cc1ccccc1"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("C1=CC=CC=C1", "C=1C=CC=CC1", ["draw the double bonds of C0, C1, C2, C3, C4 and C5 elsewhere"]),
        ("CC1=CC=CC=C1", "OC=1C=CC=CC1", ["replace methyl group on C1 by hydroxy group"]),
        ("C1=CC=CN=C1", "C=1N=CC=NC1", ["change C1 to N"]),
        ("C1C=CC=CC1", "C1C=CC=CC1=O", ["add oxo group to C5"]),
        ("C1=CCCC=C1", "C1=CC#CC=C1", ["change bond C2-C3 to triple"]),
        ("c1ccccc1Cc1ccccc1", "c1ccccc1C", ["remove phenyl group from C6"]),
    ],
)
def test_changes_of_bonds_in_rings_that_stay(before, after, expected):
    schema = SCHEMAS["implied"]
    factual, changed = from_smiles(before, schema), from_smiles(after, schema)
    assert texts(factual, changed) == expected


def test_what_is_no_molecule_has_the_words_of_single_edits():
    factual = from_smiles("C1=CC=C2C=CC=CC2=C1", SCHEMAS["implied"])
    too_many = Edit("set_edge", (0, 1), {"type": "double"}, {"type": "triple"})
    single = Edit("set_edge", (2, 3), {"type": "double"}, {"type": "single"})
    after = apply_edits(factual, [too_many, Edit("set_edge", (0, 9), {"type": "single"}, {"type": "double"}), single])
    assert to_smiles(after) is None
    assert texts(factual, after) == [
        "change bond C0=C1 to triple",
        "change bond C0-C9 to double",
        "change bond C2=C3 to single",
    ]


def test_names_of_rings_are_for_different_rings():
    assert len(_names()) == len(RINGS) == len(set(RINGS.values()))
    assert {
        RingNames.of(from_smiles(smiles, SCHEMAS["charged"])).the(frozenset(range(6)))
        for smiles in ("O1CCCCC1", "c1ccccc1C", "C1CC[Se]CC1")
    } == {"the oxane ring", "the benzene ring", "the ring of six"}


def test_a_ring_may_be_exchanged_where_another_was_taken_away():
    schema = SCHEMAS["implied"]
    factual, after = after_moves("c1ccc2cc3ccccc3cc2c1", schema, [("remove ring", NAPHTHALENE)])
    start, state = Sketch.of(factual), Sketch.of(after)
    exchanges = [sketch for kind, sketch in Moves(schema).steps(state, start) if kind == "exchange ring"]
    told = [texts(factual, made(factual, start, sketch)) for sketch in exchanges]
    assert {tuple(text.split(" ring")[0] for text in each) for each in told} == {
        ("take away the benzene", "exchange the benzene")
    }
