"""What surrounds a job: the time of day, other jobs in its folder, memory."""

import os
import random
import sys
import time
from unittest import mock

from rig import ROOT, Rig, small_kit
from victims import finish, running, start

from graphflip.errors import JobError
from graphflip.jobs import AbstractEngine, JobSettings, Processes, open_source, run_job
from graphflip.jobs.cluster import Dask


def clock_jumps(rig: Rig, seed: int = 0) -> dict[str, int]:
    """The time of day leaps by days while a job runs, and files are dated into past and future."""
    rng, out, now = random.Random(seed), rig.folder / "clock", time.time

    def leaping() -> float:
        return now() + rng.uniform(-1e7, 1e7)

    with mock.patch("time.time", leaping):
        run_job(open_source(str(rig.table)), rig.settings, out, shard_size=2)
    for path in out.rglob("*.parquet"):
        os.utime(path, (rng.uniform(0, 4e9), rng.uniform(0, 4e9)))
    run_job(open_source(str(rig.table)), rig.settings, out)
    return dict(rig.compare(out))


def two_jobs(rig: Rig, times: int) -> dict[str, int]:
    """A second job in a folder is refused politely; the first is not disturbed."""
    counts, refused = rig.nothing(), 0
    for k in range(times):
        out = rig.folder / f"twice{k}"
        first = start(lambda out=out: run_job(open_source(str(rig.table)), rig.settings, out, shard_size=2))
        if not running(first, float("inf"), until=lambda out=out: rig.num_shards(out) > 0):
            raise RuntimeError(f"{out}: the first job must be at work when the second begins; it has ended.")
        try:
            run_job(open_source(str(rig.table)), rig.settings, out)
        except JobError as error:
            refused += "another job is at work" in str(error)
        finish(first)
        counts.update(rig.compare(out))
    return {"tried": times, "refused": refused, **counts}


def out_of_memory(rig: Rig) -> dict[str, dict[str, int]]:
    """Workers that die of some rows as the system's killer would have it: these are recorded, the others explained."""
    return {
        "processes": _deadly(rig, "memory", Processes(2), rows=rig.rows),
        "dask": _deadly(rig, "memory-dask", Dask(workers=2), rows=8),
    }


def _deadly(rig: Rig, name: str, engine: AbstractEngine, rows: int) -> dict[str, int]:
    table = small_kit.write_molecules(rig.folder / f"{name}.csv", rows)
    hostile = str(ROOT / "tests" / "jobs")
    paths = os.pathsep.join([hostile, *filter(None, [os.environ.get("PYTHONPATH")])])
    with mock.patch("sys.path", [hostile, *sys.path]), mock.patch.dict(os.environ, PYTHONPATH=paths):
        settings = JobSettings.of(model=str(rig.kit), classifier="hostile:deadly", prefer="minimal", target="fancy")
        summary = run_job(open_source(str(table)), settings, rig.folder / name, engine, shard_size=4)
    return {"rows": summary.done, "crashed": summary.outcomes.get("crashed", 0), "lost": rows - summary.done}
