"""Jobs and training runs that are killed with -9 at random moments and started again."""

import random
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

from rig import Rig, sha256_of_weights
from victims import finish, kill, moment, running, start, start_command

from graphflip.data.planted.motif import planted
from graphflip.jobs import open_source, run_job
from graphflip.models.training import recipes

_EPOCHS = 6
_FOR_EACH = 4  # kills of a training run, so that there are several


def explain_kills(rig: Rig, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill jobs until so many have died: forked ones, and the command with one process and with two; every answer must
    be there once."""
    rng, counts, orphans = random.Random(seed), rig.nothing(), 0
    ways: list[Callable[[Path], BaseProcess]] = [
        *[lambda out: start(lambda: run_job(open_source(str(rig.table)), rig.settings, out, shard_size=2))] * 3,
        lambda out: start_command(*rig.explain(out, "--workers", 1)),
        lambda out: start_command(*rig.explain(out, "--workers", 2)),
    ]
    seconds = [_seconds(way, rig.folder / f"whole{k}") for k, way in enumerate(ways)]
    done, jobs = 0, 0
    while done < kills:
        out = rig.folder / f"killed{jobs}"
        way, lasts = ways[jobs % len(ways)], seconds[jobs % len(ways)]
        while running(job := way(out), moment(rng, lasts)) and done < kills:
            orphans += kill(job)
            done += 1
        finish(job)
        jobs += 1
        counts.update(rig.compare(out))
        print(f"  job {jobs}: {done} kills, {dict(counts)}", flush=True)
    return {"kills": done, "jobs": jobs, "orphans": orphans, **counts}


def train_kills(folder: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill training runs until so many have died; the weights must be those of an undisturbed run."""
    rng, done, runs, differ = random.Random(seed), 0, 0, 0
    ways: list[Callable[[Path], BaseProcess]] = [*[lambda out: start(lambda: _train(out))] * 4, _train_by_command]
    seconds = [_seconds(way, folder / f"train{k}") for k, way in enumerate(ways)]
    while done < kills:
        which, out = runs % len(ways), folder / f"killed-train{runs}"
        goal = min(kills, done + _FOR_EACH)
        while running(run := ways[which](out), moment(rng, seconds[which])) and done < goal:
            kill(run)
            done += 1
        finish(run)
        runs += 1
        differ += sha256_of_weights(out) != sha256_of_weights(folder / f"train{which}")
        print(f"  training run {runs}: {done} kills, {differ} differ", flush=True)
    return {"kills": done, "runs": runs, "differ": differ}


def _seconds(way: Callable[[Path], BaseProcess], out: Path) -> float:
    began = time.monotonic()
    finish(way(out))
    return time.monotonic() - began


def _train(out: Path) -> None:
    """Checkpoints are written after every epoch, so that there is something to go on from."""
    with mock.patch.object(recipes, "fit", partial(recipes.fit, checkpoint_seconds=0.0)):
        changes = {"epochs": _EPOCHS, "batch_size": 16, "seed": 3}
        recipes.train_model("classifier", planted(80, seed=1), out, changes=changes, resume=True)


def _train_by_command(out: Path) -> BaseProcess:
    options = ("--epochs", 2, "--batch-size", 64, "--seed", 3, "--resume")
    return start_command("train", "classifier", "planted", "--out", out, *options)
