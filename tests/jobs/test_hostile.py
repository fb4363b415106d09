"""Classifiers that misbehave: the outcome says so, and nothing is reported as flipped that is not."""

import json
import shutil
from pathlib import Path

import pytest

from graphflip.errors import ConfigError
from graphflip.jobs import JobSettings, Processes, explained, open_source, run_job

from .conftest import answers_of


@pytest.fixture
def hostile(kit, tmp_path, monkeypatch):
    """Runs a job with a classifier of hostile.py."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    table = tmp_path / "molecules.smi"

    def run(name, engine=None, molecules=("CO", "CNC", "COC", "CCCN")):
        table.write_text("\n".join(["nonsense((", *molecules]))
        settings = JobSettings.of(
            model=str(kit), classifier=f"hostile:{name}", prefer="minimal", target="fancy", budget=1
        )
        run_job(open_source(str(table)), settings, tmp_path / name, engine)
        bad, *answers = answers_of(tmp_path / name)
        assert bad["outcome"] == "bad_input"
        assert len(answers) == len(molecules)
        return answers

    return run


@pytest.mark.parametrize("name", ["not_a_number", "infinite"])
def test_numbers_that_are_none(hostile, name):
    answers = hostile(name)
    assert {answer["outcome"] for answer in answers} == {"not_a_number"}
    assert not any(answer["flipped"] for answer in answers)
    assert all(json.loads(answer["record"])["p_counterfactual"] is None for answer in answers)


@pytest.mark.parametrize("name", ["constant", "saturated"])
def test_a_classifier_that_cannot_be_moved(hostile, name):
    # All moves are tried: in another process, where not every call is checked for shapes.
    (answer,) = hostile(name, Processes(1), molecules=["CO"])
    assert answer["outcome"] in ("out_of_moves", "no_move_allowed")
    assert answer["note"]
    assert not answer["flipped"]


def test_a_budget_is_for_each_row(hostile):
    answers = hostile("frugal")
    assert {answer["outcome"] for answer in answers} == {"out_of_calls"}


@pytest.mark.parametrize(("name", "words"), [("greedy", "memory"), ("rude", "no such key")])
def test_a_classifier_that_fails_on_some_fails_on_those_alone(hostile, name, words):
    answers = hostile(name)
    failed = [answer for answer in answers if answer["outcome"] == "failed"]
    assert [answer["input"] for answer in failed] == ["CNC", "COC"]
    assert all(words in answer["note"] for answer in failed)
    assert {answer["outcome"] for answer in answers if answer not in failed} == {"already_there"}


def test_a_process_that_dies_takes_no_answers_with_it(hostile):
    answers = hostile("deadly", Processes(2))
    crashed = [answer["input"] for answer in answers if answer["outcome"] == "crashed"]
    assert crashed == ["CNC", "COC"]
    assert [answer["outcome"] for answer in answers if answer["input"] not in crashed] == ["already_there"] * 2


def test_a_kit_without_a_classifier_explains_the_one_that_is_named(kit, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    shutil.copytree(kit, tmp_path / "kit")
    (tmp_path / "kit" / "classifier").rename(tmp_path / "kit" / "judge")
    asked = {"model": str(tmp_path / "kit"), "target": "fancy"}
    with pytest.raises(ConfigError, match="no classifier of its own"):
        run_job(open_source("CO"), JobSettings.of(**asked), tmp_path / "none")
    run_job(open_source("CO"), JobSettings.of(**asked, classifier="hostile:rude"), tmp_path / "job")
    (found,) = explained(tmp_path / "job")
    assert found.outcome.value == "already_there"
    assert found.p_factual == pytest.approx(0.731, abs=1e-3)  # the logits 0 and 1 of that classifier
