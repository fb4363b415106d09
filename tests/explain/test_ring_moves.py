"""Changes of whole rings lead to the molecules that chemists would name, and never to half of an aromatic ring."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.chemistry import Chemistry
from graphflip.data import from_smiles, to_smiles
from graphflip.data.molecules.molecule import drug_schema, molecule_schema
from graphflip.explain.moves.apply import apply_differences
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.moves import Moves
from graphflip.explain.moves.rings.double_bonds import _matched, place_double_bonds
from graphflip.explain.moves.rings.drafts import RingDrafts
from graphflip.explain.moves.rings.perception import HeavyAtoms
from graphflip.explain.moves.sketch import Sketch
from graphflip.realism.rings import aromatic_kept

SCHEMAS = {
    "charges stored": drug_schema(40),
    "hydrogens as nodes": molecule_schema(("C", "H", "N", "O", "S", "Cl"), max_nodes=60, explicit_hydrogens=True),
    "hydrogens implied": molecule_schema(("C", "N", "O", "S", "Cl"), max_nodes=40, explicit_hydrogens=False),
}

AROMATIC = (
    "c1ccc2ccccc2c1", "Nc1ccc(-c2ccccc2)cc1", "c1cc2ccc3cccc4ccc(c1)c2c34", "c1ccc2c(c1)ccc1ccccc12", "Cc1cccs1",
    "O=c1cc[nH]c2ccccc12", "c1ccc2c(c1)CCCC2", "Cc1ccc2[nH]ccc2c1", "O=C1c2ccccc2C(=O)c2ccccc21", "c1ccncc1Cl",
)  # fmt: skip


def ring_moves(smiles: str, schema) -> dict[str, set[str | None]]:
    """SMILES after each kind of change of a ring."""
    graph, moves = from_smiles(smiles, schema), Moves(schema)
    before = Sketch.of(graph)
    found: dict[str, set[str | None]] = {}
    for kind, place, gone, come, make in RingDrafts(schema, moves.rules).of(before):
        made = make()
        if made is None:
            continue
        draft, changed = made
        assert {i for i in changed if i >= 0} == set(place)
        assert {i for i in place if i not in draft.nodes} == set(gone)
        assert sorted(moves.rules.symbol(draft.nodes[i]) for i in changed if i < 0) == sorted(come)
        after = moves.settled(before, draft, changed, before)
        if after is not None:
            changed_graph = apply_differences(graph, [Difference.between(before, after)])
            found.setdefault(kind, set()).add(to_smiles(changed_graph))
    return found


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize(
    ("smiles", "kind", "expected"),
    [
        ("c1ccc2ccccc2c1", "remove ring", "c1ccccc1"),
        ("c1ccc2ccccc2c1", "hydrogenate ring", "c1ccc2c(c1)CCCC2"),
        ("c1ccc2c(c1)CCCC2", "aromatize ring", "c1ccc2ccccc2c1"),
        ("c1ccc2ccccc2c1", "fuse ring", "c1ccc2cc3ccccc3cc2c1"),
        ("Cc1ccccc1", "exchange ring", "Cc1cccs1"),
        ("Cc1cccs1", "exchange ring", "Cc1ccccc1"),
        ("c1cc2ccc3cccc4ccc(c1)c2c34", "remove ring", "c1ccc2c(c1)ccc1ccccc12"),
        ("CC1CO1", "open ring", "C=CC"),
        ("CC1CO1", "open ring", "CCC"),
        ("C=CC", "close ring", "CC1CO1"),
    ],
)
def test_rings_change_as_chemists_change_them(smiles, kind, expected, schema):
    assert expected in ring_moves(smiles, schema)[kind]


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("smiles", AROMATIC)
def test_every_move_keeps_aromatic_rings_whole(smiles, schema):
    moves = Moves(schema)
    before = Sketch.of(from_smiles(smiles, schema))
    atoms = HeavyAtoms.of(before, moves.rules)
    for kind, after in moves.steps(before, before):
        changed = HeavyAtoms.of(after, moves.rules)
        if changed is None or kind == "change node":  # another element may end aromaticity; realism rules it out
            continue
        place = {slot: k for k, slot in enumerate(changed.slots)}
        kept = {k: place[slot] for k, slot in enumerate(atoms.slots) if slot in place}
        assert aromatic_kept(atoms.mol, changed.mol, kept), kind


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("smiles", ["C1CC2CC1CC2", "C1CCCCC1", "CC1CC1C"])
def test_rings_that_are_not_of_three_are_not_cut(smiles, schema):
    moves = Moves(schema)
    before = Sketch.of(from_smiles(smiles, schema))
    kinds = {kind for kind, _ in moves.steps(before, before)}
    assert ("remove edge" in kinds) == (smiles == "CC1CC1C")


@settings(deadline=None, max_examples=40)
@given(size=st.integers(2, 9), order=st.randoms(use_true_random=False))
def test_double_bonds_serve_every_atom_and_stay_where_they_can(size, order):
    numbers = list(range(2 * size))
    order.shuffle(numbers)
    pairs = [tuple(sorted((numbers[k], numbers[(k + 1) % len(numbers)]))) for k in range(len(numbers))]
    ring = Sketch(dict.fromkeys(numbers, ("C",)), {i: {} for i in numbers})
    for i, j in pairs:
        ring.join(i, j, ("single",))
    wanted = set(pairs[::2])
    places = place_double_bonds(ring, numbers, pairs, wanted)
    assert {pair for pair, double in places.items() if double} == wanted
    assert places == _matched(set(numbers), set(pairs), wanted)
    assert place_double_bonds(ring, numbers[1:], pairs, wanted) is None


def test_schemas_differ_in_what_they_store():
    kinds = {(schema.chemistry.explicit_hydrogens, schema.chemistry.stored_charges) for schema in SCHEMAS.values()}
    assert len(kinds) == 3
    assert all(isinstance(schema.chemistry, Chemistry) for schema in SCHEMAS.values())
