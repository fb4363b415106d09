"""A Dask cluster that is disturbed: workers, scheduler and client die, workers freeze, the connection is cut."""

import asyncio
import os
import random
import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

from distributed import Scheduler, Worker
from rig import Rig
from victims import finish, kill, running, start

from graphflip.jobs import open_source, run_job
from graphflip.jobs.cluster import Dask

_KILLS = ("worker_kills", "scheduler_kills", "client_kills")
_OTHERS = ("frozen_workers", "cut_connections")


class Cluster:
    """A scheduler and workers in processes of their own, on loopback; clients reach them through a wire."""

    def __init__(self, workers: int) -> None:
        self.port, self.wire_port = _free_port(), _free_port()
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in range(workers)]
        self.wire = self._wire()

    @property
    def address(self) -> str:
        """What a client connects to."""
        return f"tcp://127.0.0.1:{self.wire_port}"

    def kill_worker(self, rng: random.Random) -> None:
        k = rng.randrange(len(self.workers))
        kill(self.workers[k])
        self.workers[k] = self._worker()

    def kill_scheduler(self) -> None:
        for process in (self.scheduler, *self.workers):
            kill(process)
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in self.workers]

    def freeze_worker(self, rng: random.Random) -> None:
        worker = rng.choice(self.workers)
        os.kill(worker.pid or 0, signal.SIGSTOP)
        time.sleep(rng.uniform(0, 3))
        os.kill(worker.pid or 0, signal.SIGCONT)

    def cut(self) -> None:
        kill(self.wire)
        self.wire = self._wire()

    def stop(self) -> None:
        for process in (self.scheduler, *self.workers, self.wire):
            if process.exitcode is None:
                kill(process)

    def _scheduler(self) -> BaseProcess:
        return start(lambda: asyncio.run(_serve(Scheduler, host="127.0.0.1", port=self.port, dashboard=False)))

    def _worker(self) -> BaseProcess:
        return start(lambda: asyncio.run(_serve(Worker, f"tcp://127.0.0.1:{self.port}", nthreads=1, dashboard=False)))

    def _wire(self) -> BaseProcess:
        return start(lambda: asyncio.run(_forward(self.wire_port, self.port)))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def _serve(kind: type, *arguments, **options) -> None:
    async with kind(*arguments, **options) as server:
        await server.finished()


async def _forward(port: int, to: int) -> None:
    async def connected(near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        try:
            far, to_far = await asyncio.open_connection("127.0.0.1", to)
        except OSError:  # nobody listens there yet
            to_near.close()
            return
        await asyncio.gather(_pump(near, to_far), _pump(far, to_near))

    async with await asyncio.start_server(connected, "127.0.0.1", port) as server:
        await server.serve_forever()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while content := await source.read(1 << 16):
            sink.write(content)
            await sink.drain()
    sink.close()


def dask_faults(rig: Rig, kills: int, seed: int = 0) -> dict[str, int]:
    """Disturb jobs on a cluster until so many processes have died; every answer must be there once."""
    rng, jobs, counts = random.Random(seed), 0, rig.nothing()
    done: Counter[str] = Counter(dict.fromkeys(_KILLS + _OTHERS, 0))
    cluster = Cluster(2)
    try:
        while (left := kills - sum(done[name] for name in _KILLS)) > 0:
            jobs += 1
            out = rig.folder / f"cluster{jobs}"
            done.update(_disturbed(rig, out, cluster, left, rng))
            counts.update(rig.compare(out))
            print(f"  job {jobs}: {dict(done)}, {dict(counts)}", flush=True)
    finally:
        cluster.stop()
    return {"kills": sum(done[name] for name in _KILLS), "jobs": jobs, **done, **counts}


def _disturbed(rig: Rig, out: Path, cluster: Cluster, kills: int, rng: random.Random) -> Counter[str]:
    """Run one job to its end with something happening after each shard, up to so many kills; gives what happened."""
    done: Counter[str] = Counter()
    job = start(lambda: _job(rig, out, cluster.address))
    while sum(done[name] for name in _KILLS) < kills and _one_shard_more(rig, job, out):
        event = rng.choice(_KILLS + _OTHERS)
        done[event] += 1
        if event == "worker_kills":
            cluster.kill_worker(rng)
        elif event == "scheduler_kills":
            cluster.kill_scheduler()
        elif event == "client_kills":
            kill(job)
            job = start(lambda: _job(rig, out, cluster.address))
        elif event == "frozen_workers":
            cluster.freeze_worker(rng)
        else:
            cluster.cut()
    finish(job)
    return done


def _job(rig: Rig, out: Path, address: str) -> None:
    run_job(open_source(str(rig.table)), rig.settings, out, Dask(address, unencrypted=True), shard_size=2)


def _one_shard_more(rig: Rig, job: BaseProcess, out: Path) -> bool:
    before = rig.num_shards(out)
    return running(job, float("inf"), until=lambda: rig.num_shards(out) > before)
