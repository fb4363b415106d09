"""New bonds close rings of three that molecules have, and hydrogens that come and go unseen have their price."""

from itertools import pairwise

import pytest

from graphflip.data.molecules.molecule import drug_schema, from_smiles
from graphflip.explain.edits.candidates import Candidate
from graphflip.explain.edits.settings import Costs
from graphflip.explain.moves.atoms.choice import rules_of
from graphflip.explain.moves.atoms.counting import unseen_edits
from graphflip.explain.moves.atoms.rules import AbstractMoleculeRules
from graphflip.explain.moves.difference import Difference
from graphflip.explain.moves.rings.perception import HeavyAtoms
from graphflip.explain.moves.sketch import Sketch

SCHEMA = drug_schema(30)
SINGLE, DOUBLE = ("single",), ("double",)


def sketch(smiles: str) -> Sketch:
    return Sketch.of(from_smiles(smiles, SCHEMA))


def partners(smiles: str) -> set[tuple[int, int]]:
    molecule = sketch(smiles)
    found = rules_of(SCHEMA).partners(molecule, list(molecule.nodes))
    return {(i, j) for i, others in found.items() for j in others}


def test_bonds_close_rings_of_three_with_a_heteroatom():
    assert partners("CCCCCCCC") == set()
    assert (0, 2) not in partners("CCC")
    assert partners("CCO") == {(0, 2), (2, 0)}
    assert (0, 3) not in partners("CCCO")


@pytest.mark.parametrize("smiles", ["c1ccncc1", "c1ccc2occc2c1", "C1COCCO1"])
def test_no_bond_goes_across_a_ring(smiles):
    assert not partners(smiles)


def test_separate_parts_are_not_joined():
    assert not {(i, j) for i, j in partners("CCOCC.CCOCC") if (i < 5) != (j < 5)}


def test_a_molecule_is_built_once_and_anew_for_a_copy_that_changes():
    rules, molecule = rules_of(SCHEMA), sketch("CCO")
    assert isinstance(rules, AbstractMoleculeRules)
    first = HeavyAtoms.of(molecule, rules)
    assert first is not None
    assert HeavyAtoms.of(molecule, rules) is first
    changed = molecule.copy()
    changed.set_node(2, molecule.nodes[0])
    again = HeavyAtoms.of(changed, rules)
    assert again is not None
    assert [atom.GetSymbol() for atom in again.mol.GetAtoms()] == ["C", "C", "C"]


def unseen(before: Sketch, after: Sketch) -> int:
    return unseen_edits(Difference.between(before, after), SCHEMA)


def test_hydrogens_are_counted_with_bonds_among_atoms_that_stay():
    chain = sketch("CCCCCO")
    closed, doubled, shorter = chain.copy(), chain.copy(), chain.copy()
    closed.join(0, 4, SINGLE)
    doubled.join(1, 2, DOUBLE)
    shorter.remove(5)
    assert unseen(chain, closed) == unseen(chain, doubled) == 4
    assert unseen(chain, shorter) == 0


def test_a_ring_written_in_its_other_form_moves_no_hydrogen():
    first, second = sketch("CC1=CC=CC=C1O"), sketch("CC1=CC=CC=C1O")
    ring = [1, 2, 3, 4, 5, 6, 1]
    for i, j in pairwise(ring):
        second.join(i, j, SINGLE if first.near[i][j] == DOUBLE else DOUBLE)
    assert unseen(first, second) == 0


def test_the_price_of_hydrogens_is_part_of_the_cost():
    chain = sketch("CCCCCO")
    closed = chain.copy()
    closed.join(0, 4, SINGLE)
    candidate = Candidate.of(chain, closed, SCHEMA)
    assert Costs(hydrogen_price=1.0).cost(candidate) == 5
    assert Costs(hydrogen_price=0.0).cost(candidate) == 1
