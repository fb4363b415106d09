"""Jobs give every answer exactly once, whatever happens to them."""

import errno
import json
import os
import shutil
from collections import Counter

import pytest

from graphflip.errors import DataError, JobError
from graphflip.explain.records import read_records, to_record
from graphflip.jobs import InProcess, Processes, Settings, explained, of_graphs, open_source, run_job
from graphflip.jobs import run as run_module
from graphflip.jobs.engines import AbstractEngine, Done
from graphflip.jobs.folder import MANIFEST, JobFolder, read_manifest
from graphflip.jobs.lock import folder_lock

from .conftest import answers_of, small_kit


class Counted(AbstractEngine):
    """In process, up to so many shards; counts them."""

    def __init__(self, limit=None):
        self.limit, self.count = limit, 0

    def map(self, order, tasks, tick):
        for done in InProcess().map(order, tasks, tick):
            self.count += 1
            yield done
            if self.count == self.limit:
                raise KeyboardInterrupt


def begun(table, settings, folder, shards=3):
    """A job that was stopped hard after some shards."""
    with pytest.raises(KeyboardInterrupt):
        run_job(open_source(str(table)), settings, folder, Counted(shards), shard_size=2)
    return folder


def test_every_row_has_its_answer_in_order(undisturbed, table):
    answers = answers_of(undisturbed)
    assert [answer["row"] for answer in answers] == [2 + k for k in range(12)]
    assert [answer["input"] for answer in answers] == [
        line.split(",")[1] for line in table.read_text().splitlines()[1:]
    ]
    bad = [answer for answer in answers if answer["outcome"] == "bad_input"]
    assert [answer["input"] for answer in bad] == list(small_kit.BAD)
    assert all(answer["note"] and answer["record"] is None for answer in bad)
    assert {"flipped", "already_there"} <= {answer["outcome"] for answer in answers}


def test_what_people_read_is_what_the_shards_hold(undisturbed, kit):
    answers = answers_of(undisturbed)
    lines = (undisturbed / "counterfactuals.jsonl").read_text().splitlines()
    assert lines == [answer["record"] for answer in answers if answer["record"]]
    schema = small_kit.SCHEMA
    found = list(read_records(undisturbed / "counterfactuals.jsonl", schema))
    assert [one.id for one in found] == [answer["id"] for answer in answers if answer["record"]]
    assert [to_record(one) for one in explained(undisturbed)] == [to_record(one) for one in found]
    unexplained = (undisturbed / "unexplained.csv").read_text()
    assert all(repr(text)[1:-1] in unexplained for text in small_kit.BAD)
    counted = json.loads((undisturbed / MANIFEST).read_text())["outcomes"]
    assert counted == Counter(answer["outcome"] for answer in answers)


@pytest.mark.parametrize("size", [1, 5, 100])
def test_answers_do_not_depend_on_shards(table, settings, undisturbed, tmp_path, size):
    summary = run_job(open_source(str(table)), settings, tmp_path, shard_size=size)
    assert (summary.finished, summary.done, summary.total) == (True, 12, 12)
    assert answers_of(tmp_path) == answers_of(undisturbed)
    assert len(list(tmp_path.glob("shards/*/*.parquet"))) == -(-12 // size)


def test_answers_do_not_depend_on_processes(table, settings, undisturbed, tmp_path):
    assert run_job(open_source(str(table)), settings, tmp_path, Processes(2)).finished
    assert answers_of(tmp_path) == answers_of(undisturbed)


def test_a_job_goes_on_where_it_was(table, settings, undisturbed, tmp_path):
    begun(table, settings, tmp_path)
    rest = Counted()
    assert run_job(open_source(str(table)), settings, tmp_path, rest).finished
    assert rest.count == 3
    assert answers_of(tmp_path) == answers_of(undisturbed)
    again = Counted()
    assert run_job(open_source(str(table)), settings, tmp_path, again).finished
    assert again.count == 0


def test_progress_counts_rows_of_earlier_runs_and_of_this_one(table, settings, tmp_path):
    begun(table, settings, tmp_path)
    seen = []
    run_job(open_source(str(table)), settings, tmp_path, watch=seen.append)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[0].done, seen[0].new) == (2, 0)
    assert (seen[-1].done, seen[-1].new, seen[-1].total) == (12, 6, 12)
    assert sum(seen[-1].outcomes.values()) == 12
    assert seen[-1].rate > 0
    assert seen[-1].seconds_left == 0


def flip_a_bit(path):
    blob = bytearray(path.read_bytes())
    blob[len(blob) // 2] ^= 16
    path.write_bytes(bytes(blob))


def truncate(path):
    path.write_bytes(path.read_bytes()[:-7])


def swap(path):
    other = path.with_name(path.name.replace("0000001", "0000002"))
    keep = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(keep)


@pytest.mark.parametrize("suffix", [".parquet", ".json"])
@pytest.mark.parametrize("damage", [flip_a_bit, truncate, swap, os.unlink, lambda path: path.write_bytes(b"")])
def test_damaged_shards_are_computed_again(undisturbed, table, settings, tmp_path, damage, suffix):
    folder = tmp_path / "job"
    run_job(open_source(str(table)), settings, folder, shard_size=3)
    damage(folder / "shards" / "0000" / f"0000001{suffix}")
    with pytest.raises(JobError, match="Run the job again"):
        answers_of(folder)
    again = Counted()
    assert run_job(open_source(str(table)), settings, folder, again).finished
    assert again.count == (2 if damage is swap else 1)
    assert answers_of(folder) == answers_of(undisturbed)


def test_shards_of_another_job_are_not_taken(table, settings, undisturbed, tmp_path):
    other = settings.model_copy(update={"budget": 1})
    run_job(open_source(str(table)), other, tmp_path / "other", shard_size=2)
    begun(table, settings, tmp_path / "job", shards=2)
    shutil.copytree(tmp_path / "other" / "shards", tmp_path / "job" / "shards", dirs_exist_ok=True)
    run_job(open_source(str(table)), settings, tmp_path / "job")
    assert answers_of(tmp_path / "job") == answers_of(undisturbed)


def test_a_damaged_manifest_is_refused(table, settings, tmp_path):
    begun(table, settings, tmp_path)
    whole = (tmp_path / MANIFEST).read_bytes()
    for damaged in (
        b"",
        whole[:40],
        b"[]",
        b"\xff" + whole,
        b"[" * 100_000,
        whole.replace(b'"rows": 12', b'"rows": -1'),
    ):
        (tmp_path / MANIFEST).write_bytes(damaged)
        with pytest.raises(JobError, match=r"manifest\.json"):
            run_job(open_source(str(table)), settings, tmp_path)
    (tmp_path / MANIFEST).write_bytes(whole.replace(b'"format": 1', b'"format": 99'))
    with pytest.raises(JobError, match="format 99"):
        run_job(open_source(str(table)), settings, tmp_path)


def test_other_settings_are_refused_with_the_difference(table, settings, kit, tmp_path):
    begun(table, settings, tmp_path)
    other = Settings.of(model=str(kit), prefer="balanced", budget=3, target="fancy")
    with pytest.raises(JobError) as refusal:
        run_job(open_source(str(table)), other, tmp_path)
    assert "settings.prefer: minimal -> balanced" in str(refusal.value)
    assert "settings.budget: 2 -> 3" in str(refusal.value)
    with pytest.raises(JobError, match="shard_size: 2 -> 4"):
        run_job(open_source(str(table)), settings, tmp_path, shard_size=4)


def test_another_version_is_refused(table, settings, tmp_path, monkeypatch):
    begun(table, settings, tmp_path)
    monkeypatch.setattr(run_module, "__version__", "99.0")
    with pytest.raises(JobError, match=r"versions.graphflip: .* -> 99\.0"):
        run_job(open_source(str(table)), settings, tmp_path)


def test_another_input_is_refused(table, settings, undisturbed, tmp_path):
    own = tmp_path / "molecules.csv"
    shutil.copy(table, own)
    begun(own, settings, tmp_path / "job")
    own.write_text(own.read_text().replace("m11,", "m12,"))
    with pytest.raises(JobError, match="input_sha256"):
        run_job(open_source(str(own)), settings, tmp_path / "job")
    shutil.copy(table, own)
    run_job(open_source(str(own)), settings, tmp_path / "job")
    assert answers_of(tmp_path / "job") == answers_of(undisturbed)


@pytest.mark.parametrize("change", ["edit", "cut", "remove", "touch"])
def test_an_input_that_changes_meanwhile_is_noticed(table, settings, undisturbed, tmp_path, change):
    own = tmp_path / "molecules.csv"
    shutil.copy(table, own)
    text = own.read_text()

    class Meddling(Counted):
        def map(self, order, tasks, tick):
            for done in super().map(order, tasks, tick):
                yield done
                if self.count == 2 and change == "touch":
                    os.utime(own, ns=(1, 1))
                elif self.count == 2 and change == "remove":
                    own.unlink()
                elif self.count == 2:
                    own.write_text(text.replace("m11,", "m99,") if change == "edit" else text[:60])

    job = (open_source(str(own)), settings, tmp_path / "job", Meddling(), 2)
    if change == "touch":
        run_job(*job)
    else:
        with pytest.raises((JobError, DataError), match=r"must stay (as|where) it is"):
            run_job(*job)
        own.write_text(text)
        run_job(open_source(str(own)), settings, tmp_path / "job")
    assert answers_of(tmp_path / "job") == answers_of(undisturbed)


def test_a_full_disk_damages_nothing(table, settings, undisturbed, tmp_path, monkeypatch):
    room, whole = 5, os.fsync

    def full(handle):
        nonlocal room
        room -= 1
        if room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(JobError, match=r"No space left on device.*run the same command again"):
            run_job(open_source(str(table)), settings, tmp_path, shard_size=2)
    rest = Counted()
    assert run_job(open_source(str(table)), settings, tmp_path, rest).finished
    assert rest.count == 4
    assert answers_of(tmp_path) == answers_of(undisturbed)


def test_a_folder_that_cannot_be_written_is_an_error(table, settings, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError, match="must be writable"):
        run_job(open_source(str(table)), settings, tmp_path / "file")


def test_one_job_for_each_folder(table, settings, tmp_path):
    with folder_lock(tmp_path), pytest.raises(JobError, match=rf"another job is at work.*process {os.getpid()}"):
        run_job(open_source(str(table)), settings, tmp_path)
    assert not (tmp_path / MANIFEST).exists()
    assert run_job(open_source(str(table)), settings, tmp_path).finished


def test_leftovers_of_killed_writers_are_removed(table, settings, tmp_path):
    begun(table, settings, tmp_path)
    left = [tmp_path / ".manifest.json.abc", tmp_path / "shards" / "0000" / ".0000003.parquet.xyz"]
    for path in left:
        path.write_bytes(b"half")
    run_job(open_source(str(table)), settings, tmp_path)
    assert not any(path.exists() for path in left)


class Deadly(Counted):
    """An engine on which processes die of one row."""

    def map(self, order, tasks, tick):
        for task in tasks:
            dead = any(row.id == "m3" for row in task.rows)
            yield Done(task, None) if dead else next(InProcess().map(order, [task], tick))


def test_a_row_that_kills_processes_is_recorded_and_the_others_are_explained(table, settings, undisturbed, tmp_path):
    assert run_job(open_source(str(table)), settings, tmp_path, Deadly(), shard_size=4).finished
    ours, theirs = answers_of(tmp_path), answers_of(undisturbed)
    assert [answer["outcome"] for answer in ours if answer["id"] == "m3"] == ["crashed"]
    assert [a for a in ours if a["id"] != "m3"] == [a for a in theirs if a["id"] != "m3"]


def test_several_answers_for_a_row_stand_together(table, settings, tmp_path):
    several = settings.model_copy(update={"num": 2})
    run_job(open_source(str(table)), several, tmp_path, Processes(1))  # long where every call is checked
    rows = [(answer["row"], answer["answer"]) for answer in answers_of(tmp_path)]
    assert rows == sorted(rows)
    assert {row for row, _ in rows} == set(range(2, 14))
    assert sum(read_manifest(tmp_path).outcomes.values()) == 12


def test_graphs_at_hand_are_a_source(settings, undisturbed, tmp_path):
    found = list(explained(undisturbed))
    run_job(of_graphs([one.factual for one in found], [one.id for one in found]), settings, tmp_path)
    assert [json.loads(answer["record"]) for answer in answers_of(tmp_path)] == [
        json.loads(answer["record"]) for answer in answers_of(undisturbed) if answer["record"]
    ]


def test_an_empty_input_is_refused(settings, tmp_path):
    (tmp_path / "none.csv").write_text("smiles\n")
    with pytest.raises(DataError, match="at least one row"):
        run_job(open_source(str(tmp_path / "none.csv")), settings, tmp_path / "job")


def test_shards_are_spread_over_folders(undisturbed):
    folder = JobFolder(undisturbed, read_manifest(undisturbed))
    assert folder.shard(2_000_001).parent.name == "2000"
    assert folder.shard(999).parent != folder.shard(1000).parent
