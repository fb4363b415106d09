"""A part of the kept answers, compared: all of them take minutes where shapes are checked (see golden_answers.py)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from golden_answers import CASES, answers, differences, kept_answers, stored

QUICK = [
    "mutagenicity/1/search/prefer=balanced",
    "nci1/4/cgcf",
    "mutagenicity/5/undone",
]


@pytest.mark.parametrize("name", QUICK)
def test_answers_are_those_that_were_kept(name):
    assert not list(differences(answers(CASES[name]), kept_answers(name)))


def test_every_kept_answer_has_its_case():
    assert stored()["answers"].keys() == CASES.keys()


def test_a_difference_is_seen():
    kept = stored()["answers"]["mutagenicity/0/search/prefer=balanced"]
    for key, value in (("p_counterfactual", 0.4), ("outcome", "empty"), ("edits", []), ("new", 1)):
        assert list(differences([kept[0] | {key: value}], kept))
