"""Files that are cut, changed, swapped or in use; clocks that jump; memory that ends."""

import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from rig import ROOT, Rig, small_kit, start

from graphflip.errors import GraphflipError
from graphflip.jobs import Processes, Settings, answers, open_source, run_job
from graphflip.jobs.folder import MANIFEST

Damage = Callable[[Path, Path, random.Random], None]


def cut(path: Path, other: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content))])


def flip(path: Path, other: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(content))


def swap(path: Path, other: Path, rng: random.Random) -> None:
    path.write_bytes(other.read_bytes())


DAMAGES: dict[str, Damage] = {"cut": cut, "flipped": flip, "swapped": swap}


def damaged_files(rig: Rig, times: int, seed: int = 0) -> dict[str, dict[str, int]]:
    """Damage each kind of file in each way, so many times: noticed (repaired or refused), harmless, or wrong."""
    rng, found = random.Random(seed), {}
    other = rig.folder / "other"
    run_job(open_source(str(rig.table)), rig.settings.model_copy(update={"budget": 1}), other / "job", shard_size=2)
    small_kit.make_kit(other / "kit", seed=9)
    pristine = rig.folder / "pristine"
    shutil.copytree(rig.kit, rig.folder / "damaged" / "kit")
    run_job(open_source(str(rig.table)), _settings(rig), rig.folder / "damaged" / "job", shard_size=2)
    (rig.folder / "damaged").rename(pristine)
    for kind, (where, foreign) in _places(rig, other).items():
        for name, damage in DAMAGES.items():
            counts = Counter(noticed=0, harmless=0, wrong=0)
            for _ in range(1 if damage is swap else times):
                counts[_effect(rig, where, foreign, damage, rng)] += 1
            found[f"{kind} {name}"] = dict(counts)
    return found


def _places(rig: Rig, other: Path) -> dict[str, tuple[str, Path]]:
    shard = "job/shards/0000/0000003"
    return {
        "shard": (f"{shard}.parquet", other / f"{shard}.parquet"),
        "shard card": (f"{shard}.json", other / f"{shard}.json"),
        "manifest": (f"job/{MANIFEST}", other / "job" / MANIFEST),
        "model card": ("kit/classifier/card.json", other / "kit/classifier/card.json"),
        "weights": ("kit/classifier/weights.safetensors", other / "kit/classifier/weights.safetensors"),
        "knowledge": ("kit/knowledge.json", other / "kit/knowledge.json"),
    }


def _effect(rig: Rig, where: str, foreign: Path, damage: Damage, rng: random.Random) -> str:
    """What a job that goes on with a damaged file does."""
    place = rig.folder / "damaged"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(rig.folder / "pristine", place)
    damage(place / where, foreign, rng)
    answers._loaded.cache_clear()
    answers.kit_digest.cache_clear()
    try:
        summary = run_job(open_source(str(rig.table)), _settings(rig), place / "job")
    except GraphflipError:
        return "noticed"
    if any(rig.compare(place / "job").values()):
        return "wrong"
    return "noticed" if summary.repaired else "harmless"


def _settings(rig: Rig) -> Settings:
    return rig.settings.model_copy(update={"model": str(rig.folder / "damaged" / "kit")})


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


def two_jobs(rig: Rig) -> dict[str, int]:
    """Two jobs in one folder: one is refused politely, the other is not disturbed."""
    out = rig.folder / "twice"
    jobs = [start(rig.explain(out), stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [job.communicate()[1] for job in jobs]
    refused = sum(
        job.returncode == 2 and "another job is at work" in text for job, text in zip(jobs, told, strict=True)
    )
    return {"refused": refused, "finished": sum(job.returncode == 0 for job in jobs), **rig.compare(out)}


def out_of_memory(rig: Rig) -> dict[str, int]:
    """Workers that the system kills on some rows: these are recorded, the others explained."""
    out, hostile = rig.folder / "memory", str(ROOT / "tests" / "jobs")
    with mock.patch("sys.path", [hostile, *os.sys.path]):
        settings = Settings.of(model=str(rig.kit), classifier="hostile:deadly", prefer="minimal", target="fancy")
        summary = run_job(open_source(str(rig.table)), settings, out, Processes(2), shard_size=4)
    return {"crashed": summary.outcomes.get("crashed", 0), "rows": summary.done, "lost": rig.rows - summary.done}
