"""Attacks that would go unnoticed: files that are cut or newer, inputs that change, runs that meet in one folder."""

import json
import os
import sys
import threading

from graphflip.data.planted.motif import planted
from graphflip.errors import GraphflipError, JobError
from graphflip.jobs import InProcess, open_source, run_job
from graphflip.jobs import engines as engines_module
from graphflip.jobs.export import write_csv
from graphflip.jobs.tables import COLUMNS
from graphflip.models.storage.lock import folder_lock, model_lock
from graphflip.report.results import read_results

from .place import CLASSIFIERS, Place, attack, refused


@attack
def a_report_of_cut_explanations(place: Place) -> None:
    """The folder of a job whose file of explanations lost its last lines is refused; so is a newer manifest."""
    place.job(place.table(["id,smiles", *(f"m{k},CCO" for k in range(5))]))
    out = place.folder / "job"
    assert read_results(out).sets[0].total == 5
    records = out / "counterfactuals.jsonl"
    whole = records.read_text().splitlines(keepends=True)
    for kept in (whole[:3], [], [*whole, whole[0]]):
        records.write_text("".join(kept))
        refused(lambda: read_results(out), JobError, "cut or changed")
    records.write_text("".join(whole))
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"format": 99}))
    refused(lambda: read_results(out), GraphflipError, "format 99")


@attack
def an_input_that_is_edited_in_place(place: Place) -> None:
    """Its size and its time are what they were, and it is noticed all the same."""
    table = place.table(["id,smiles", *(f"m{k},CCO" for k in range(6))])
    before = table.stat()

    class Meddling(InProcess):
        def map(self, order, tasks, tick):
            for k, done in enumerate(super().map(order, tasks, tick)):
                yield done
                if k == 1:
                    with table.open("r+") as file:
                        file.write(table.read_text().replace("m5,CCO", "m5,CCN"))
                    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))

    job = lambda: run_job(open_source(str(table)), place.settings(), place.folder / "job", Meddling(), 1)  # noqa: E731
    refused(job, JobError, "must stay as it is")


@attack
def two_training_runs_in_one_folder(place: Place) -> None:
    """The second is refused, and so is one over a finished model; the command does both."""
    with folder_lock(place.folder / "model"):
        options = ("--out", "model", "--epochs", 1)
        run = place.command("train", "classifier", "planted", *options)
        assert run.returncode == 2, run.stderr
        assert "at work in this folder" in run.stderr
    (place.folder / "model" / "card.json").write_text("{}")
    refused(
        lambda: model_lock(place.folder / "model", "card.json", resume=False).__enter__(), GraphflipError, "finished"
    )
    with model_lock(place.folder / "model", "card.json", resume=True):
        pass


@attack
def two_kits_in_one_folder(place: Place) -> None:
    from graphflip.fit.kit import _claim, fit_kit

    dataset = planted(20, seed=0).split_randomly()
    _claim(place.folder / "kit", {}, resume=False)
    refused(lambda: fit_kit(dataset, place.folder / "kit"), GraphflipError, "begun here")
    assert threading.active_count() >= 1


@attack
def a_fit_that_is_stopped(place: Place) -> None:
    """Its readiness.json and its models are those of a fit that was not stopped."""
    from graphflip.fit.kit import fit_kit

    dataset = planted(40, seed=5, min_nodes=4, max_nodes=6).split_randomly()

    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("vae"):
            raise KeyboardInterrupt

    fit_kit(dataset, place.folder / "whole", minutes=1e-3)
    refused(lambda: fit_kit(dataset, place.folder / "kit", minutes=1e-3, watch=stop), KeyboardInterrupt)
    fit_kit(dataset, place.folder / "kit", minutes=1e-3, resume=True)
    for path in [place.folder / "whole" / "readiness.json", *place.folder.glob("whole/*/weights.safetensors")]:
        assert (place.folder / "kit" / path.relative_to(place.folder / "whole")).read_bytes() == path.read_bytes()


@attack
def kills_faster_than_a_shard(place: Place) -> None:
    """Answers are written while a shard is worked on: each run gets further, though none finishes the shard."""
    table, out = place.table(["id,smiles", *(f"m{k},CCO" for k in range(6))]), place.folder / "job"
    worked: list[int] = []

    class Killed(InProcess):
        def map(self, order, tasks, tick):
            for done in super().map(order, tasks, tick):
                worked.append(len(done.task.rows))
                yield done
                if done.num_rows < len(done.task.rows):
                    raise KeyboardInterrupt

    before, engines_module.WRITE_EVERY = engines_module.WRITE_EVERY, 0.0
    try:
        for _ in range(5):
            refused(lambda: run_job(open_source(str(table)), place.settings(), out, Killed(), 6), KeyboardInterrupt)
        assert run_job(open_source(str(table)), place.settings(), out, Killed(), 6).finished
    finally:
        engines_module.WRITE_EVERY = before
    assert worked == [6, 5, 4, 3, 2, 1]
    assert len((out / "counterfactuals.jsonl").read_text().splitlines()) == 6
    assert not list(out.rglob("*.begun.*"))


@attack
def a_value_that_is_no_number(place: Place) -> None:
    """A model that predicts NaN has failed; the input is not to blame."""
    sys.path.insert(0, str(CLASSIFIERS))
    try:
        table = place.table(["id,smiles", "a,CCO"])
        (answer,) = place.job(table, classifier="hostile:valueless", target="raise by 1")
    finally:
        sys.path.remove(str(CLASSIFIERS))
    assert answer["outcome"] in ("failed", "not_a_number"), answer


@attack
def formulas_in_disguise(place: Place) -> None:
    """Wide signs, and formulas behind a mark at which spreadsheets split."""
    cells = ["\uff1d1+1", "x;=1+1", "x|@A1", "x\n=1", " =1", "=1"]
    write_csv(place.folder / "x.csv", [dict.fromkeys(COLUMNS) | {"id": cell} for cell in cells])
    text = (place.folder / "x.csv").read_text(encoding="utf-8")
    for plain in ('"\uff1d', ";=", "|@", "\n=", '" =', '"='):
        assert plain not in text, plain
