"""Attacks with folders: files of the user's that a job could remove, overwrite or follow."""

import os
import stat

from graphflip.errors import ConfigError, JobError
from graphflip.jobs import open_source, run_job
from graphflip.jobs.folder import check_folder
from graphflip.models.storage.files import check_own_folder, whole_file

from .place import Place, attack, refused

OWN = (".a.b.c", ".bashrc.pre.oh-my-zsh", "report.html", "counterfactuals.jsonl", "notes.txt")


@attack
def a_folder_that_holds_other_files(place: Place) -> None:
    """A job that is told to write into a user's folder refuses, and leaves nothing there."""
    home = place.folder / "home"
    for name in OWN:
        home.mkdir(exist_ok=True)
        (home / name).write_text(name)
    run = place.explain("CCO", "--out", home)
    assert run.returncode == 2
    assert "must have a folder of its own" in run.stderr
    assert {path.name: path.read_text() for path in home.iterdir()} == {name: name for name in OWN}


@attack
def hidden_files_in_the_folder_of_a_job(place: Place) -> None:
    """What a job cleans up are files that it made."""
    table, out = place.table(["id,smiles", "a,CO"]), place.folder / "job"
    place.job(table)
    for name in OWN[:2]:
        (out / name).write_text(name)
    half = out / ".manifest.json.0123456789ab.graphflip"
    half.write_text("half")
    place.job(table)
    assert all((out / name).read_text() == name for name in OWN[:2])
    assert not half.exists()


@attack
def a_demo_in_a_folder_of_the_users(place: Place) -> None:
    (place.folder / "index.html").write_text("mine")
    refused(lambda: check_own_folder(place.folder, "counterfactuals.jsonl"), ConfigError)
    run = place.command("demo", "--out", place.folder)
    assert run.returncode == 2
    assert (place.folder / "index.html").read_text() == "mine"


@attack
def training_in_a_folder_of_the_users(place: Place) -> None:
    """A model is written to a folder of its own: what a user keeps in another one stays as it is."""
    home = place.folder / "home"
    home.mkdir()
    (home / "curves.csv").write_text("mine")
    for resume in ((), ("--resume",)):
        run = place.command("train", "classifier", "planted", "--out", home, "--epochs", 1, *resume)
        assert run.returncode == 2
        assert "must have a folder of their own" in run.stderr
    assert {path.name: path.read_text() for path in home.iterdir()} == {"curves.csv": "mine"}


@attack
def a_lock_that_is_a_link(place: Place) -> None:
    """The file that a link named .lock points to keeps its content."""
    table, out, target = place.table(["id,smiles", "a,CO"]), place.folder / "job", place.folder / "precious"
    target.write_text("precious")
    out.mkdir()
    (out / ".lock").symlink_to(target)
    check_folder(out)
    refused(lambda: run_job(open_source(str(table)), place.settings(), out), JobError, "is a link")
    assert target.read_text() == "precious"


@attack
def a_strict_umask(place: Place) -> None:
    """Files are as private as the user's umask asks for."""
    before = os.umask(0o077)
    try:
        place.job(place.table(["id,smiles", "a,CO"]))
    finally:
        os.umask(before)
    files = [path for path in (place.folder / "job").rglob("*") if path.is_file()]
    assert files
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)


@attack
def a_report_that_is_killed_again_and_again(place: Place) -> None:
    """Half-written files of killed processes are removed by the next; one that is being written is not."""
    target = place.folder / "report.html"
    for name in ("000000000000", "0123456789ab"):
        (place.folder / f".report.html.{name}.graphflip").write_text("half")
    with whole_file(target, "w") as first:
        with whole_file(target, "w") as second:
            second.write("second")
        first.write("first")
    assert [path.name for path in place.folder.iterdir()] == ["report.html"]
    assert target.read_text() == "first"


@attack
def a_power_cut_after_a_rename(place: Place) -> None:
    """The folder is flushed after the file has its name."""
    flushed, whole = [], os.fsync

    def noting(handle: int) -> None:
        flushed.append((stat.S_ISDIR(os.fstat(handle).st_mode), (place.folder / "file").exists()))
        whole(handle)

    os.fsync = noting
    try:
        with whole_file(place.folder / "file") as file:
            file.write(b"content")
    finally:
        os.fsync = whole
    assert flushed == [(False, False), (True, True)]
