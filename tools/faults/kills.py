"""Jobs and training runs that are killed with -9 at random moments and started again."""

import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import psutil
from rig import Rig, command, sha256_of_weights, start

_TRAIN = ("--epochs", 6, "--batch-size", 64, "--seed", 3, "--resume")


def explain_kills(rig: Rig, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill jobs, of one process and of two in turns, until so many have died; every answer must be there once."""
    rng, counts, done, jobs, orphans = random.Random(seed), Counter(lost=0, doubled=0, differ=0), 0, 0, 0
    while done < kills:
        jobs += 1
        out = rig.folder / f"killed{jobs}"
        while True:
            job = start(rig.explain(out, "--workers", 1 + jobs % 2))
            left = kill_at_random(job, out, rng) if done < kills else None
            if left is None:
                break
            done, orphans = done + 1, orphans + left
        if job.wait() != 0:
            raise RuntimeError(f"{out}: a job that was not killed must end well; exit code {job.returncode}")
        counts.update(rig.compare(out))
        print(f"  job {jobs}: {done} kills, {dict(counts)}", flush=True)
    return {"kills": done, "jobs": jobs, "orphans": orphans, **counts}


def kill_at_random(job: subprocess.Popen, out: Path, rng: random.Random) -> int | None:
    """Kill a job, mostly while it is writing; gives how many of its processes outlived it. None if it was faster."""
    written = num_shards(out)
    if rng.random() < 0.75:
        while job.poll() is None and num_shards(out) <= written:
            time.sleep(0.01)
    deadline = time.monotonic() + rng.uniform(0, 1.5)
    while job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    if job.poll() is not None:
        return None
    children = psutil.Process(job.pid).children(recursive=True)
    job.kill()
    job.wait()
    return len(psutil.wait_procs(children, timeout=60)[1])


def num_shards(out: Path) -> int:
    return len(list(out.glob("shards/*/*.json")))


def train_kills(folder: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill training runs until so many have died; the weights must be those of an undisturbed run."""
    rng, done, runs, differ = random.Random(seed), 0, 0, 0
    began = time.monotonic()
    start(_train(folder / "train")).wait()
    seconds = time.monotonic() - began
    while done < kills:
        runs += 1
        out = folder / f"train{runs}"
        while True:
            run = start(_train(out))
            try:
                run.wait(rng.uniform(0.3, 1.1) * seconds if done < kills else None)
                break
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait()
                done += 1
        differ += sha256_of_weights(out) != sha256_of_weights(folder / "train")
        print(f"  training run {runs}: {done} kills, {differ} differ", flush=True)
    return {"kills": done, "runs": runs, "differ": differ}


def _train(out: Path) -> list[str]:
    return command("train", "classifier", "planted", "--out", out, *_TRAIN)
