"""The chemistry of a change in words: good only where a chemist would nod, and silent where there is nothing to say."""

import pytest
from rdkit import Chem

from graphflip.data.molecules.molecule import drug_schema, from_smiles, molecule_schema
from graphflip.edits import Edit, apply_edits
from graphflip.realism.change import ChemicalChange
from graphflip.realism.corpus import Corpus
from graphflip.realism.pairs import MoleculePair, heavy_mol, num_changes

CHARGED = drug_schema(30)
EXPLICIT = molecule_schema(("C", "N", "O", "S", "H", "Cl"), 50, explicit_hydrogens=True)
BENZENE = "C1=CC=CC=C1"


def atom(slot: int, old: str, new: str) -> Edit:
    return Edit("set_node", (slot,), {"type": old}, {"type": new})


def bond(i: int, j: int, old: str, new: str) -> Edit:
    return Edit("set_edge", (i, j), {"type": old}, {"type": new})


def change(smiles: str, edits: list[Edit], claim: int = 0) -> ChemicalChange:
    before = from_smiles(smiles, CHARGED)
    found = ChemicalChange.between(before, apply_edits(before, edits), Corpus.packaged(), claim)
    assert found is not None
    return found


def verdicts(found: ChemicalChange) -> dict[str, bool | None]:
    return {one.topic: one.good for one in found.findings()}


def test_a_change_that_a_chemist_would_sign():
    found = change("NC1=CC=CC=C1", [atom(0, "N", "O")], claim=-1)
    assert found.sound
    assert verdicts(found) == {
        "Aromatic rings": True, "Stability": True, "Synthesis": True, "Stereocentres": True, "Alerts": True,
        "Similarity": None,
    }  # fmt: skip
    assert "gone: primary aromatic amine" in str(found.findings()[4])


def test_alerts_that_move_against_the_claim_speak_against_it():
    assert verdicts(change("NC1=CC=CC=C1", [atom(0, "N", "O")], claim=1))["Alerts"] is False
    assert verdicts(change("CC1=CC=CC=C1", [atom(0, "C", "O")], claim=1))["Alerts"] is None
    assert "Alerts" not in verdicts(change("NC1=CC=CC=C1", [atom(0, "N", "O")]))


def test_a_ring_that_is_broken_or_unknown_is_named():
    broken = change(BENZENE, [bond(0, 1, "double", "single")])
    assert broken.aromatic_kept is False
    assert not broken.sound
    assert verdicts(broken)["Aromatic rings"] is False
    strange = change(
        "C1=CC=CNC=C1", [bond(1, 2, "single", "double"), bond(0, 1, "double", "single"), atom(3, "C", "S")]
    )
    assert strange.strange_rings == strange.new_rings
    assert not strange.sound
    assert strange.strange_rings[0] in str(next(one for one in strange.findings() if one.topic == "Ring systems"))


def test_a_known_ring_that_comes_is_told_as_known():
    found = change(BENZENE, [atom(0, "C", "N")])
    assert found.new_rings == ("c1ccncc1",)
    assert verdicts(found)["Ring systems"] is True


def test_groups_that_cannot_be_isolated_are_named():
    found = change("CC(C)=O", [atom(2, "C", "Cl")])
    assert found.unstable == ("acyl halide",)
    assert not found.sound
    assert verdicts(found)["Stability"] is False


def test_a_group_that_was_there_before_may_stay():
    assert change("CC(=O)Cl", [atom(0, "C", "N")]).unstable != ("acyl halide",)
    assert "acyl halide" not in change("CCC(=O)Cl", [atom(0, "C", "F")]).unstable


def test_stereocentres_count():
    found = change("CC(C)O", [atom(0, "C", "F")])
    assert found.new_stereocenters == 1
    assert verdicts(found)["Stereocentres"] is False


def test_what_is_not_there_is_not_praised():
    found = change("CCO", [atom(2, "O", "N")])
    assert found.aromatic_kept is None
    assert {"Aromatic rings", "Ring systems", "Alerts"}.isdisjoint(verdicts(found))


@pytest.mark.parametrize("smiles", ["CCO", "O=[N+]([O-])c1ccccc1", "c1ccc2[nH]ccc2c1", "NC(Cc1ccccc1)C(=O)O"])
@pytest.mark.parametrize("schema", [CHARGED, EXPLICIT], ids=["implicit", "explicit"])
def test_heavy_molecules_are_those_of_the_text(smiles, schema):
    graph = from_smiles(smiles, schema)
    pair = MoleculePair.of(graph, graph)
    assert pair is not None
    assert Chem.MolToSmiles(pair.before) == Chem.MolToSmiles(Chem.MolFromSmiles(smiles))
    assert pair.kept_atoms == {k: k for k in range(Chem.MolFromSmiles(smiles).GetNumAtoms())}
    assert num_changes(graph, graph) == 0


def test_what_is_no_molecule_has_no_chemistry():
    methane = from_smiles("C", EXPLICIT)
    wrong = apply_edits(methane, [atom(0, "C", "Cl")])
    assert heavy_mol(wrong) is None
    assert ChemicalChange.between(methane, wrong, Corpus.packaged()) is None


@pytest.mark.parametrize(
    ("edits", "count"),
    [
        ([], 0),
        ([atom(0, "C", "O")], 1),
        ([atom(0, "C", "O"), atom(1, "C", "N")], 1),
        ([atom(0, "C", "O"), atom(2, "C", "N")], 2),
        ([atom(0, "C", "O"), atom(1, "C", "N"), atom(4, "C", "O"), atom(6, "C", "O")], 3),
    ],
)
def test_changes_that_touch_are_one(edits, count):
    heptane = from_smiles("CCCCCCC", CHARGED)
    assert num_changes(heptane, apply_edits(heptane, edits)) == count
