"""Files of jobs and kits that are cut, changed or swapped."""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rig import Rig, small_kit

from graphflip.errors import GraphflipError
from graphflip.jobs import JobSettings, answers, open_source, run_job
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
    run_job(
        open_source(str(rig.table)),
        JobSettings.of(rig.settings.model, query=rig.settings.query, budget=1),
        other / "job",
        shard_size=2,
    )
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


def _settings(rig: Rig) -> JobSettings:
    return rig.settings.model_copy(update={"model": str(rig.folder / "damaged" / "kit")})
