"""A Dask cluster whose workers, scheduler and client are killed in turns."""

import asyncio
import random
import socket
from multiprocessing.process import BaseProcess

from distributed import Scheduler, Worker
from rig import Rig
from victims import finish, kill, running, start

from graphflip.jobs import open_source, run_job
from graphflip.jobs.cluster import Dask

_VICTIMS = ("worker", "worker", "scheduler", "client")


class Cluster:
    """A scheduler and workers in processes of their own, on loopback."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in range(workers)]

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def kill_worker(self, rng: random.Random) -> None:
        k = rng.randrange(len(self.workers))
        kill(self.workers[k])
        self.workers[k] = self._worker()

    def kill_scheduler(self) -> None:
        self.stop()
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in self.workers]

    def stop(self) -> None:
        for process in (self.scheduler, *self.workers):
            if process.exitcode is None:
                kill(process)

    def _scheduler(self) -> BaseProcess:
        return start(lambda: asyncio.run(_serve(Scheduler, host="127.0.0.1", port=self.port, dashboard=False)))

    def _worker(self) -> BaseProcess:
        return start(lambda: asyncio.run(_serve(Worker, self.address, nthreads=1, dashboard=False)))


async def _serve(kind: type, *arguments, **options) -> None:
    async with kind(*arguments, **options) as server:
        await server.finished()


def dask_kills(rig: Rig, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill workers, schedulers and clients until so many have died; every answer must be there once."""
    rng, done, jobs, counts = random.Random(seed), dict.fromkeys(_VICTIMS, 0), 0, rig.nothing()
    cluster = Cluster(2)
    try:
        while sum(done.values()) < kills:
            jobs += 1
            out = rig.folder / f"cluster{jobs}"
            job = start(lambda out=out: _job(rig, out, cluster.address))
            while sum(done.values()) < kills and _one_shard_more(rig, job, out):
                victim = rng.choice(_VICTIMS)
                done[victim] += 1
                if victim == "worker":
                    cluster.kill_worker(rng)
                elif victim == "scheduler":
                    cluster.kill_scheduler()
                else:
                    kill(job)
                    job = start(lambda out=out: _job(rig, out, cluster.address))
            finish(job)
            counts.update(rig.compare(out))
            print(f"  job {jobs}: {done}, {dict(counts)}", flush=True)
    finally:
        cluster.stop()
    return {"kills": sum(done.values()), "jobs": jobs, **{f"{name}_kills": n for name, n in done.items()}, **counts}


def _job(rig: Rig, out, address: str) -> None:
    run_job(open_source(str(rig.table)), rig.settings, out, Dask(address), shard_size=2)


def _one_shard_more(rig: Rig, job: BaseProcess, out) -> bool:
    before = rig.num_shards(out)
    return running(job, float("inf"), until=lambda: rig.num_shards(out) > before)
