"""Attacks by classifiers of the user's: they change, die, hang, or give something else than answers."""

import json
import signal
import sys
import time

from graphflip.jobs.engines import Processes

from .place import Place, attack

_MINE = "from hostile import Hostile\n\n\ndef make(schema):\n    return Hostile(schema, [{}])\n"


def _outcomes(place: Place) -> dict[str, int]:
    return json.loads((place.folder / "job" / "manifest.json").read_text())["outcomes"]


@attack
def another_classifier_when_a_job_goes_on(place: Place) -> None:
    """The code that --classifier names is changed between two runs of a job: the second is refused."""
    table = place.table(["id,smiles", *(f"m{k},CCO" for k in range(4))])
    asked = (table, "--out", "job", "--classifier", "mine:make")
    (place.folder / "mine.py").write_text(_MINE.format("0.0, 1.0"))
    first = place.explain(*asked)
    assert first.returncode == 0, first.stderr
    again = place.explain(*asked)
    assert again.returncode == 0, again.stderr
    (place.folder / "mine.py").write_text(_MINE.format("1.0, 0.0"))
    changed = place.explain(*asked)
    assert changed.returncode == 2
    assert "settings.classifier: its weights or its answers" in changed.stderr


@attack
def a_classifier_that_kills_its_process(place: Place) -> None:
    """The command with its defaults: the rows of which processes die have an outcome, all others are explained."""
    table = place.table(["id,smiles", "a,CO", "b,CNC", "c,CCCN"])
    run = place.explain(table, "--out", "job", "--classifier", "hostile:deadly")
    assert run.returncode == 0, run.stderr
    assert _outcomes(place) == {"already_there": 2, "crashed": 1}


@attack
def a_classifier_that_sleeps(place: Place) -> None:
    """A row has a time limit, and an outcome that says so."""
    table = place.table(["id,smiles", "a,CCCN", "b,CO", "c,CNC"])
    run = place.explain(table, "--out", "job", "--classifier", "hostile:sleepy", "--row-seconds", 3)
    assert run.returncode == 0, run.stderr
    assert _outcomes(place) == {"already_there": 2, "out_of_time": 1}


@attack
def a_classifier_that_exits(place: Place) -> None:
    """`sys.exit` in a classifier is a failure of one row."""
    answers = _hostile(place, "leaving")
    assert [answer["outcome"] for answer in answers] == ["already_there", "failed", "already_there"]


@attack
def a_classifier_that_raises(place: Place) -> None:
    answers = _hostile(place, "rude")
    assert [answer["outcome"] for answer in answers] == ["already_there", "failed", "already_there"]


@attack
def a_classifier_of_one_dimension(place: Place) -> None:
    """A vector in place of a row for each graph is an error of ours, said before any row is worked on or for each."""
    table = place.table(["id,smiles", "a,CO"])
    run = place.explain(table, "--out", "job", "--classifier", "hostile:flat")
    assert "Traceback" not in run.stderr, run.stderr
    assert run.returncode == 2 or "flipped" not in _outcomes(place)


@attack
def ctrl_c_while_a_child_works(place: Place) -> None:
    """The first Ctrl-C finishes what is begun and ends with 130; no process is left."""
    table = place.table(["id,smiles", *(f"m{k},CO" for k in range(20)), "z,CCCN", *(f"n{k},CO" for k in range(9))])
    go = place.folder / "go"
    run = place.started(
        *("explain", table, "--model", place.kit, "--out", "job", "--target", "fancy", "--shard-size", 7),
        *("--classifier", "hostile:patient"),
        HOSTILE_GO=str(go),
    )
    deadline = time.monotonic() + 90
    while not (place.folder / "job/shards/0000/0000001.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)
    go.write_text("")
    told = run.communicate(timeout=60)
    assert run.returncode == 130, told


def _hostile(place: Place, name: str) -> list[dict]:
    from .place import CLASSIFIERS

    sys.path.insert(0, str(CLASSIFIERS))
    try:
        table = place.table(["id,smiles", "a,CO", "b,CNC", "c,CCCN"])
        return place.job(table, Processes(1, 20.0), classifier=f"hostile:{name}")
    finally:
        sys.path.remove(str(CLASSIFIERS))
