"""`graphflip explain` and `graphflip export` as a user meets them: signals, messages, exit codes."""

import signal
import subprocess
import sys

import pytest

from graphflip.cli import main
from graphflip.jobs import open_source, run_job

from .conftest import answers_of, small_kit


def command(*arguments):
    return [sys.executable, "-m", "graphflip", *map(str, arguments)]


def run(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    return small_kit.write_molecules(tmp_path_factory.mktemp("longer") / "molecules.csv", 40)


def asked(table, kit, out):
    what = ("explain", table, "--model", kit, "--out", out, "--prefer", "minimal")
    return (*what, "--target", "fancy", "--budget", 2, "--shard-size", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_stopped_job_goes_on_with_the_same_command(longer, kit, settings, tmp_path, number):
    out = tmp_path / "job"
    job = subprocess.Popen(command(*asked(longer, kit, out)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job.stdout.readline()  # the first row is done
    job.send_signal(number)
    _, complaint = job.communicate(timeout=120)
    if number == signal.SIGINT:
        assert job.returncode == 130
        assert "Give the same command again to go on" in complaint
    assert not (out / "counterfactuals.jsonl").exists()
    again = run(*asked(longer, kit, out))
    assert again.returncode == 0, again.stderr
    assert "(40/40)" in again.stdout
    run_job(open_source(str(longer)), settings, tmp_path / "whole")
    assert answers_of(out) == answers_of(tmp_path / "whole")


def test_one_molecule_is_explained_on_the_terminal(kit, tmp_path):
    printed = run("explain", "CCC", "--model", kit, "--prefer", "minimal", "--target", "fancy")
    assert printed.returncode == 0, printed.stderr
    assert "CCC: flipped; target fancy" in printed.stdout
    assert "CCC -> " in printed.stdout
    wrong = run("explain", "C(C", "--model", kit, "--out", tmp_path / "job")
    assert wrong.returncode == 0
    assert "bad_input" in wrong.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "moon"), "A kit must be one of"),
        (("--target", "moon"), "one of the classes"),
        (("--target", "7"), "one of the classes"),
        (("--forbid-node-type", "Xx"), "forbid_node_types"),
        (("--freeze", "x"), "by its number"),
        (("--freeze-edge", "3"), "two nodes"),
        (("--forbid-op", "explode"), "kinds of edit"),
        (("--confidence", "2"), "confidence"),
        (("--classifier", "nowhere:factory"), "nowhere"),
        (("--budget", "0"), "budget"),
    ],
)
def test_what_a_user_can_get_wrong_is_a_message(kit, options, message, tmp_path, monkeypatch, capsys):
    model = () if "--model" in options else ("--model", str(kit))
    monkeypatch.setattr(sys, "argv", ["graphflip", "explain", "CCC", *model, *options, "--out", str(tmp_path / "job")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "job" / "manifest.json").exists()


def test_export(undisturbed, tmp_path):
    result = run("export", undisturbed, "--to", tmp_path / "x.csv")
    assert result.returncode == 0, result.stderr
    assert "12 answers" in result.stdout
