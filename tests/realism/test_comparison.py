"""Measures of a pair of molecules: equal molecules change nothing, and known pairs have known values."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rdkit import Chem, RDConfig

from graphflip.realism.comparison import (
    halogens_added,
    new_stereocenters,
    num_stereocenters,
    scaffold_kept,
    similarity,
    synthetic_accessibility,
)

MOLECULES = {
    "ethanol": "CCO",
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "morphine": "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",
    "chloramphenicol": "OC[C@@H](NC(=O)C(Cl)Cl)[C@H](O)c1ccc(cc1)[N+](=O)[O-]",
}


def mol(smiles: str) -> Chem.Mol:
    return Chem.MolFromSmiles(smiles)


@pytest.mark.parametrize("smiles", MOLECULES.values(), ids=list(MOLECULES))
def test_an_unchanged_molecule_is_unchanged(smiles):
    before, after = mol(smiles), mol(Chem.MolToSmiles(mol(smiles)))
    assert scaffold_kept(before, after)
    assert similarity(before, after) == 1
    assert new_stereocenters(before, after) == halogens_added(before, after) == 0


@pytest.mark.parametrize("first", MOLECULES.values(), ids=list(MOLECULES))
@pytest.mark.parametrize("second", MOLECULES.values(), ids=list(MOLECULES))
def test_pairs_keep_the_laws(first, second):
    a, b = mol(first), mol(second)
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert scaffold_kept(a, b) == scaffold_kept(b, a)
    assert min(new_stereocenters(a, b), new_stereocenters(b, a)) == 0
    assert min(halogens_added(a, b), halogens_added(b, a)) == 0


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("Oc1ccccc1", "Clc1ccc(C)cc1", True),
        ("Oc1ccccc1", "Oc1ccccn1", False),
        ("c1ccc(cc1)Cc1ccccc1", "c1ccc(cc1)c1ccccc1", False),
        ("CCO", "CC(C)N", True),
        ("CCO", "C1CO1", False),
        ("C[C@H]1CCCCN1", "C[C@@H]1CCCCN1", True),
    ],
)
def test_scaffolds(before, after, kept):
    assert scaffold_kept(mol(before), mol(after)) == kept


@pytest.mark.parametrize(
    ("smiles", "count"),
    [
        ("CC(O)C(F)Cl", 2),
        ("C[C@H](O)F", 1),
        ("CC=CC", 0),
        ("C[C@H]1CC[C@@H](O)CC1", 2),
        ("C1=C2C=CC3=CC(Br)=CC4=CC=C(C=C1)C2(Cl)C43Cl", 2),
        ("CC(C)O", 0),
    ],
)
def test_stereocenters_count_if_assigned_or_not(smiles, count):
    assert num_stereocenters(mol(smiles)) == count


def test_marks_make_no_new_stereocenters():
    assert new_stereocenters(mol("CC(O)F"), mol("C[C@H](O)F")) == 0
    assert new_stereocenters(mol("CC(C)O"), mol("CC(F)O")) == 1


def test_halogens():
    assert halogens_added(mol("CC"), mol("FC(Cl)(Br)CI")) == 4
    assert halogens_added(mol("CCl"), mol("CBr")) == 0


def test_known_scores_of_synthesis():
    """The score of the demo's broken nitropyrene is worse than that of the molecule itself by far more than 1."""
    nitropyrene, broken = "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34", "O=C(O)C1=C2C=CC3=CC(Br)=CC4=CC=C(C=C1)C2(Cl)C43Cl"
    scores = {name: synthetic_accessibility(mol(smiles)) for name, smiles in MOLECULES.items()}
    assert all(1 <= score <= 10 for score in scores.values())
    assert scores["aspirin"] < 2 < scores["chloramphenicol"] < scores["morphine"]
    assert synthetic_accessibility(mol(broken)) > synthetic_accessibility(mol(nitropyrene)) + 2


@pytest.mark.parametrize("smiles", [*MOLECULES.values(), "C", "C1CCCCCCCCCCC1", "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O"])
def test_scores_of_synthesis_are_those_of_its_authors(smiles):
    assert synthetic_accessibility(mol(smiles)) == pytest.approx(_scorer().calculateScore(mol(smiles)), abs=1e-9)


@cache
def _scorer() -> Any:
    """The authors' program, which comes with RDKit."""
    path = Path(RDConfig.RDContribDir) / "SA_Score" / "sascorer.py"
    spec = importlib.util.spec_from_file_location("sascorer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
