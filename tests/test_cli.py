"""The command line: what it prints, what it writes, and what it says when something is wrong."""

import json
import subprocess
import sys

import pytest


def run(*arguments, **more):
    command = [sys.executable, "-m", "graphflip", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


def test_help_names_every_command():
    shown = run("--help")
    assert shown.returncode == 0
    assert all(command in shown.stdout for command in ("train", "models", "demo", "bench"))


def test_version():
    import graphflip

    assert run("--version").stdout.strip() == f"graphflip {graphflip.__version__}"


def test_molecules_are_printed_as_they_are():
    from graphflip.cli.terminal import complaints, console

    for output in (console, complaints):
        with output.capture() as shown:
            output.print("c1:c:c:o:c:1", markup=False, highlight=False)
        assert shown.get() == "c1:c:c:o:c:1\n"


@pytest.mark.parametrize("how", [[], ["--out", "job"]])
def test_scripts_learn_from_the_exit_code_that_nothing_could_be_read(tmp_path, how):
    """One row that can be explained is enough for 0."""
    (tmp_path / "both.smi").write_text("CCO\nno-molecule\n")
    (tmp_path / "none.smi").write_text("no-molecule\n")
    none = run("explain", "none.smi", *how, cwd=tmp_path)
    assert (none.returncode, "bad_input" in none.stdout) == (3, True), none.stderr
    both = run("explain", "both.smi", *(part.replace("job", "other") for part in how), cwd=tmp_path)
    assert both.returncode == 0, both.stderr


def test_train_writes_a_model_folder_and_resume_ends_the_same(tmp_path):
    settings = ("--epochs", 1, "--batch-size", 128, "--seed", 3)
    first = run("train", "classifier", "planted", "--out", tmp_path / "a", *settings)
    assert first.returncode == 0, first.stderr
    assert "auroc" in first.stdout
    assert {path.name for path in (tmp_path / "a").iterdir()} >= {"card.json", "weights.safetensors", "curves.csv"}
    again = run("train", "classifier", "planted", "--out", tmp_path / "a", *settings, "--resume")
    assert again.returncode == 0, again.stderr
    other = run("train", "classifier", "planted", "--out", tmp_path / "b", *settings)
    assert other.returncode == 0, other.stderr
    cards = [json.loads((tmp_path / name / "card.json").read_text()) for name in "ab"]
    assert cards[0]["sha256"] == cards[1]["sha256"]
    refused = run("train", "classifier", "planted", "--out", tmp_path / "a", "--epochs", 3, "--resume")
    assert refused.returncode == 2
    assert "epochs: 1 -> 3" in refused.stderr


def test_a_surrogate_learns_from_labels_or_from_a_teacher(tmp_path):
    settings = ("--epochs", 1, "--batch-size", 128)
    first = run("train", "surrogate", "planted", "--preset", "linear", "--out", tmp_path / "a", *settings)
    assert first.returncode == 0, first.stderr
    taught = run(
        *("train", "surrogate", "planted", "--preset", "counts", "--out", tmp_path / "b", *settings),
        *("--teacher", tmp_path / "a"),
    )
    assert taught.returncode == 0, taught.stderr
    assert "agreement" in taught.stdout
    teacher, pupil = (json.loads((tmp_path / name / "card.json").read_text()) for name in "ab")
    assert pupil["training"]["teacher"] == teacher["sha256"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "classifier", "nowhere.csv", "--out", "x"), "nowhere.csv"),
        (("train", "vae", "planted", "--preset", "baroque", "--out", "x"), "vae: modern"),
        (("bench", "paper", "--data", "moon"), "moon"),
        (("train", "surrogate", "planted", "--teacher", "moon", "--out", "x"), "moon"),
        (("train", "surrogate", "planted", "--teacher", "mutagenicity/vae", "--out", "x"), "AbstractClassifier"),
        (("train", "vae", "planted", "--teacher", "mutagenicity/classifier", "--out", "x"), "for a surrogate"),
        (("train", "classifier", "planted", "--epochs", "0", "--out", "x"), "epochs"),
    ],
)
def test_what_a_user_can_get_wrong_is_a_message_and_not_a_traceback(tmp_path, arguments, message):
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_bad_rows_are_named_or_skipped_and_counted(tmp_path):
    rows = [f"{'C' * (1 + k % 5)}{'O' if k % 2 else 'N'},{k % 2}" for k in range(40)]
    file = tmp_path / "few.csv"
    file.write_text("\n".join(["smiles,label", *rows, "notamolecule((,1"]) + "\n")
    refused = run("train", "classifier", file, "--out", tmp_path / "m", "--epochs", 1)
    assert refused.returncode == 2
    assert "few.csv" in refused.stderr
    assert "42" in refused.stderr
    skipped = run("train", "classifier", file, "--out", tmp_path / "m", "--epochs", 1, "--batch-size", 8, "--skip-bad")
    assert skipped.returncode == 0, skipped.stderr
    assert "1 row could not be read and was left out" in skipped.stderr
