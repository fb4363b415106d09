"""Disks that are full, and folders that cannot be written to any more while a job runs."""

import random
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig import Rig
from victims import start

from graphflip.errors import JobError
from graphflip.jobs import open_source, run_job

_SAID = 3


def limited_files(rig: Rig, times: int, seed: int = 0) -> dict[str, int]:
    """No file may become larger than a random size: writing fails in the middle, and the job says so and goes on."""
    rng, counts, said = random.Random(seed), rig.nothing(), 0
    for k in range(times):
        out = rig.folder / f"limited{k}"
        said += _complains(rig, out, limit=rng.randrange(1, 20_000))
        counts.update(_finished(rig, out))
    return {"tried": times, "said": said, **counts}


def full_disk(rig: Rig, times: int, seed: int = 0) -> dict[str, int]:
    """A disk with room for part of a job; more room is made later."""
    rng, counts, said = random.Random(seed), rig.nothing(), 0
    for k in range(times):
        with _disk(rig.folder / f"full{k}", f"size={rng.randrange(40, 6 * rig.rows)}k") as disk:
            said += _complains(rig, disk / "job")
            _mount("remount,size=50m", disk)
            counts.update(_finished(rig, disk / "job"))
    return {"tried": times, "said": said, **counts}


def read_only_disk(rig: Rig) -> dict[str, int]:
    """A disk that cannot be written, from the beginning or from some moment on."""
    counts, said = rig.nothing(), 0
    with _disk(rig.folder / "read-only", "size=50m") as disk:
        for k, begun in enumerate((False, True)):
            out = disk / f"job{k}"
            if begun:
                _complains(rig, out, limit=9_000)
            _mount("remount,ro", disk)
            said += _complains(rig, out)
            _mount("remount,rw", disk)
            counts.update(_finished(rig, out))
    return {"tried": 2, "said": said, **counts}


def _complains(rig: Rig, out: Path, limit: int | None = None) -> bool:
    """Whether a job ends with an error that says what to do."""

    def work() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            run_job(open_source(str(rig.table)), rig.settings, out, shard_size=2)
        except JobError as error:
            raise SystemExit(_SAID if "the folder must be writable" in str(error) else 1) from error

    job = start(work)
    job.join()
    return job.exitcode == _SAID


def _finished(rig: Rig, out: Path) -> dict[str, int]:
    run_job(open_source(str(rig.table)), rig.settings, out, shard_size=2)
    return rig.compare(out)


@contextmanager
def _disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system in memory, which takes the rights of root."""
    folder.mkdir()
    _mount(options, folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _mount(options: str, folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
