"""The kits of real molecules answer as their guide says: values, salts, and rings in any form."""

import pytest

import graphflip as gf
from graphflip.explain.moves.sketch import Sketch


@pytest.fixture(scope="module")
def ames():
    return gf.load("ames")


def test_a_predicted_value_is_raised_by_what_was_asked():
    answer = gf.load("logp").explain("CC(=O)Oc1ccccc1C(=O)O", target="raise by 1")
    assert answer.flipped
    assert answer.p_counterfactual is not None
    assert answer.p_counterfactual >= answer.p_factual + 1 - 1e-4


def test_a_salt_is_explained_by_its_largest_part_and_keeps_the_rest(ames):
    answer = ames.explain("CC(C)Cc1ccc(cc1)[C@H](C)C(=O)[O-].[Na+]")
    assert int(answer.factual.num_nodes) == 15
    assert answer.smiles.counterfactual.endswith(".[Na+]")
    assert any("sodium" in remark for remark in answer.remarks)


def test_the_form_of_a_ring_does_not_change_a_prediction(ames):
    first, second = (ames.predict(text) for text in ("CC1=CC=CC=C1N", "CC1=C(N)C=CC=C1"))
    assert first == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize(
    "smiles", ["COc1cc(-c2oc3cc(O)cc(O)c3c(=O)c2O)ccc1O", "CC(OP(C)(=O)Cl)C(C)(C)C", "Nc1ccc2ccccc2c1"]
)
def test_no_atom_goes_in_one_place_and_comes_back_in_another(ames, smiles):
    answer = ames.explain(smiles)
    before, after = (Sketch.of(graph) for graph in (answer.factual, answer.counterfactual))
    kept = before.nodes.keys() & after.nodes.keys()
    strayed = [i for i in kept if before.near[i] and not kept.intersection(before.near[i], after.near[i])]
    assert answer.edits
    assert not strayed
