"""`graphflip explain` and `graphflip export` as a user meets them: signals, messages, exit codes."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from graphflip.cli import main

from .conftest import answers_of


def command(*arguments):
    return [sys.executable, "-m", "graphflip", *map(str, arguments)]


def test_a_stopped_job_goes_on_with_the_same_command(table, kit, tmp_path, monkeypatch):
    out, go = tmp_path / "job", tmp_path / "go"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    monkeypatch.setenv("HOSTILE_GO", str(go))
    asked = command(
        *("explain", table, "--model", kit, "--out", out, "--shard-size", 1),
        *("--classifier", "hostile:patient", "--target", "fancy"),
    )
    for number, workers in ((signal.SIGKILL, "1"), (signal.SIGINT, "2")):
        pipe = subprocess.PIPE
        asking = [*asked, "--workers", workers]
        job = subprocess.Popen(asking, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        job.stdout.readline()  # a row is done
        os.killpg(job.pid, number)  # workers, too, as by Ctrl-C on a terminal
        if number == signal.SIGINT:
            go.touch()
        _, complaint = job.communicate(timeout=300)
        assert not (out / "counterfactuals.jsonl").exists()
    assert job.returncode == 130
    assert complaint.startswith("Stopped after ")
    assert "Give the same command again to go on" in complaint
    again = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert "(12/12)" in again.stdout
    answers = answers_of(out)
    assert [answer["row"] for answer in answers] == list(range(2, 14))
    assert Counter(answer["outcome"] for answer in answers) == {"already_there": 8, "bad_input": 4}


def run(monkeypatch, *arguments):
    """A command in this process; gives its exit code."""
    monkeypatch.setattr(sys, "argv", ["graphflip", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_one_molecule_is_explained_on_the_terminal(kit, tmp_path, monkeypatch, capsys):
    asked = ("--model", kit, "--prefer", "minimal", "--target", "fancy", "--budget", 2)
    assert run(monkeypatch, "explain", "CCC", *asked) == 0
    printed = capsys.readouterr().out
    assert "CCC: flipped; target fancy" in printed
    assert "CCC -> " in printed
    assert run(monkeypatch, "explain", "C(C", *asked, "--out", tmp_path / "job") == 3
    assert "bad_input" in capsys.readouterr().out
    (tmp_path / "empty.smi").touch()
    for more in ((), ("--out", tmp_path / "none")):
        assert run(monkeypatch, "explain", tmp_path / "empty.smi", *asked, *more) == 2
        assert "at least one row" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "moon"), "A kit must be one of"),
        (("--target", "moon"), "one of the classes"),
        (("--target", "7"), "one of the classes"),
        (("--target", "raise by 1"), "not a value"),
        (("--forbid-node-type", "Xx"), "forbid_node_types"),
        (("--freeze", "x"), "by its number"),
        (("--freeze-edge", "3"), "two nodes"),
        (("--forbid-op", "explode"), "kinds of edit"),
        (("--confidence", "2"), "confidence"),
        (("--classifier", "nowhere:factory"), "nowhere"),
        (("--budget", "0"), "budget"),
        (("--num", "2", "--frontier"), "Either `num` different answers or the whole `frontier`"),
        (("--scheduler", "tcp://127.0.0.1:9"), "--engine dask"),
    ],
)
def test_what_a_user_can_get_wrong_is_a_message(kit, options, message, tmp_path, monkeypatch, capsys):
    model = () if "--model" in options else ("--model", kit)
    assert run(monkeypatch, "explain", "CCC", *model, *options, "--out", tmp_path / "job") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "job" / "manifest.json").exists()


def test_rings_are_frozen_if_asked(kit, tmp_path, monkeypatch):
    asked = ("--model", kit, "--prefer", "minimal", "--target", "fancy")
    allowed = ("--forbid-op", "add_node,set_node,remove_node,add_edge")
    for number, (options, outcome) in enumerate([((), "flipped"), (("--freeze-rings",), "no_move_allowed")]):
        job = tmp_path / str(number)
        assert run(monkeypatch, "explain", "C1CC1", *asked, *allowed, *options, "--out", job) == 0
        assert [answer["outcome"] for answer in answers_of(job)] == [outcome]


def test_the_largest_part_of_a_salt_is_explained(kit, tmp_path, monkeypatch, capsys):
    asked = ("--model", kit, "--prefer", "minimal", "--target", "fancy", "--budget", 2)
    salt = "CC[NH3+].[Cl-]"
    assert run(monkeypatch, "explain", salt, *asked, "--as-is") == 3
    printed = capsys.readouterr().out
    assert "bad_input" in printed
    assert "give CCN, or leave out `--as-is`" in printed
    (tmp_path / "salts.smi").write_text(f"{salt} x\nCC[O-].[K+] y\n")
    assert run(monkeypatch, "explain", tmp_path / "salts.smi", *asked, "--parent", "--out", tmp_path / "job") == 0
    assert run(monkeypatch, "explain", tmp_path / "salts.smi", *asked, "--out", tmp_path / "job") == 0
    answers = answers_of(tmp_path / "job")
    assert [answer["input"] for answer in answers] == [salt, "CC[O-].[K+]"]
    assert [answer["smiles_factual"] for answer in answers] == [salt, "CC[O-].[K+]"]
    assert "left out and carried along: chloride (Cl-)" in answers[0]["note"]
    assert json.loads(answers[1]["record"])["source"] == "CC[O-].[K+]"


def test_export(undisturbed, tmp_path, monkeypatch, capsys):
    assert run(monkeypatch, "export", undisturbed, "--to", tmp_path / "x.csv") == 0
    assert "12 answers" in capsys.readouterr().out
