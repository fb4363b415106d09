"""A Dask cluster whose workers, scheduler and client are killed in turns."""

import random
import subprocess
import sys
import time
from pathlib import Path

from kills import kill_at_random, num_shards
from rig import Rig, start

_PORT = 18786
_ADDRESS = f"tcp://127.0.0.1:{_PORT}"


class Cluster:
    """A scheduler and two workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scheduler = self._scheduler()
        self.workers = [self._worker(), self._worker()]

    def kill_worker(self, rng: random.Random) -> None:
        k = rng.randrange(2)
        self._end(self.workers[k])
        self.workers[k] = self._worker()

    def kill_scheduler(self, rng: random.Random) -> None:
        for process in (self.scheduler, *self.workers):
            self._end(process)
        self.scheduler = self._scheduler()
        self.workers = [self._worker(), self._worker()]

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            self._end(process)

    def _end(self, process: subprocess.Popen) -> None:
        process.kill()
        process.wait()

    def _scheduler(self) -> subprocess.Popen:
        return self._start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(_PORT))

    def _worker(self) -> subprocess.Popen:
        return self._start("distributed.cli.dask_worker", _ADDRESS, "--nthreads", "1", "--no-nanny")

    def _start(self, module: str, *options: str) -> subprocess.Popen:
        return start([sys.executable, "-m", module, *options, "--no-dashboard"], cwd=self.folder)


def dask_kills(rig: Rig, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill workers, schedulers and clients until so many have died; every answer must be there once."""
    rng, done, out = random.Random(seed), {"worker": 0, "scheduler": 0, "client": 0}, rig.folder / "cluster"
    cluster = Cluster(rig.folder)
    command = rig.explain(out, "--engine", "dask", "--scheduler", _ADDRESS)
    try:
        job = start(command)
        while sum(done.values()) < kills and job.poll() is None:
            before = num_shards(out)
            while job.poll() is None and num_shards(out) <= before:
                time.sleep(0.05)
            victim = rng.choice(["worker", "worker", "scheduler", "client"])
            if victim == "worker":
                cluster.kill_worker(rng)
            elif victim == "scheduler":
                cluster.kill_scheduler(rng)
            elif kill_at_random(job, out, rng) is not None:
                job = start(command)
            done[victim] += 1
            print(f"  {done}, {num_shards(out)} shards", flush=True)
        job.wait()
    finally:
        cluster.stop()
    return {"kills": sum(done.values()), **{f"{name}_kills": n for name, n in done.items()}, **rig.compare(out)}
