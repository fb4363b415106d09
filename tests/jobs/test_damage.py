"""Files that are damaged, changed or in use, and disks that are full: nothing is lost, and what is wrong is said."""

import errno
import os
import shutil

import pytest

from graphflip.errors import DataError, JobError
from graphflip.jobs import JobSettings, answers, open_source, run_job
from graphflip.jobs.folder import MANIFEST
from graphflip.models.storage.lock import folder_lock

from .conftest import Counted, answers_of, begun


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
    other = JobSettings.of(settings.model, query=settings.query, budget=1)
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
    other = JobSettings.of(model=str(kit), prefer="balanced", budget=3, target="fancy")
    with pytest.raises(JobError) as refusal:
        run_job(open_source(str(table)), other, tmp_path)
    assert "settings.prefer: minimal -> balanced" in str(refusal.value)
    assert "settings.budget: 2 -> 3" in str(refusal.value)
    with pytest.raises(JobError, match="shard_size: 2 -> 4"):
        run_job(open_source(str(table)), settings, tmp_path, shard_size=4)


def test_another_version_is_refused(table, settings, tmp_path, monkeypatch):
    begun(table, settings, tmp_path)
    monkeypatch.setattr(answers, "__version__", "99.0")
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
    room, whole = 10, os.fsync  # of each file and then of its folder: a manifest, two shards and their cards

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


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_is_no_folder_for_a_job(out, table, settings, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(JobError, match="this must be a folder, and a file has the name"):
        run_job(open_source(str(table)), settings, tmp_path / out)
    assert (tmp_path / "file").read_text() == "mine"


def test_one_job_for_each_folder(table, settings, tmp_path):
    with folder_lock(tmp_path), pytest.raises(JobError, match=rf"another job is at work.*process {os.getpid()}"):
        run_job(open_source(str(table)), settings, tmp_path)
    assert not (tmp_path / MANIFEST).exists()
    assert run_job(open_source(str(table)), settings, tmp_path).finished


def test_leftovers_of_killed_writers_are_removed(table, settings, tmp_path):
    begun(table, settings, tmp_path)
    names = (".manifest.json.0123456789ab.graphflip", "shards/0000/.0000003.parquet.0123456789ab.graphflip")
    left = [tmp_path / name for name in names]
    for path in left:
        path.write_bytes(b"half")
    run_job(open_source(str(table)), settings, tmp_path)
    assert not any(path.exists() for path in left)
