"""Jobs: speed-up of two workers, cost of a row besides its search, memory, loss curves of one process and of two.

Usage: python benchmarks/scale.py [--quick] [--only speed,rows,memory,molecules,training]     (two idle cores)

Figures go to results/scale.json; the speed-up on Dask also to results/faults.json.
"""

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import torch
from rdkit import RDConfig

from graphflip.data.planted.motif import planted
from graphflip.jobs import AbstractEngine, JobSettings, Processes, open_source, run_job
from graphflip.jobs.answers import Order, explain_rows, kit_digest, package_versions
from graphflip.jobs.engines import Done, Task
from graphflip.jobs.folder import read_manifest
from graphflip.models.training.train import train_model

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "scale.json"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)  # pyright: ignore[reportArgumentType]
    spec.loader.exec_module(module)  # pyright: ignore[reportOptionalMemberAccess]
    return module


small_kit = load("small_kit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows; nothing is written")
    parser.add_argument("--only", default="", help="some parts, by name")
    options = parser.parse_args()
    quick = options.quick
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="scale") as name:
        folder = Path(name)
        parts = {
            "speed": lambda: speed(folder, rows=40 if quick else 400, rounds=1 if quick else 3),
            "rows": lambda: rows(folder, 300 if quick else 2_000),
            "memory": lambda: memory(folder, [500, 1000] if quick else [1_000, 10_000, 100_000]),
            "molecules": lambda: molecules(folder, 4 if quick else 50),
            "training": lambda: training(folder, 2 if quick else 8),
        }
        for part in options.only.split(",") if options.only else parts:
            figures = parts[part]()
            print(part, json.dumps(figures, indent=1), flush=True)
            if not quick:
                write(part, figures)


def write(part: str, figures: dict[str, Any]) -> None:
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    machine = {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version()}
    found |= {"command": "python benchmarks/scale.py", "machine": machine, part: figures}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    if part == "speed":
        load("figures").contribute("dask", {"speedup": figures["dask"]["speedup"]})


def speed(folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Rows per second with one worker and with two, in turns, after a round that loads the models."""
    kit, table = small_kit.make_kit(folder / "kit"), small_kit.write_molecules(folder / "all.csv", rows, bad=False)
    settings = JobSettings.of(model=str(kit), prefer="minimal", target="fancy")
    figures: dict[str, Any] = {"rows": rows}
    with ExitStack() as stack:
        for name, engines in (("local", {n: Processes(n) for n in (1, 2)}), ("dask", _dask(stack))):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            others = 0.0
            for k in range(rounds + 1):
                for workers, engine in engines.items():
                    out = folder / f"{name}{workers}-{k}"
                    began, before = time.monotonic(), _busy()
                    rate = _steady_rate(table, settings, out, engine)
                    others = max(others, (_busy() - before) / (time.monotonic() - began) - workers)
                    seconds[workers] += [rate] if k else []
            one, two = (statistics.median(seconds[workers]) for workers in (1, 2))
            figures[name] = {"one": one, "two": two, "speedup": round(two / one, 3), "busy_besides": round(others, 2)}
    return figures


def _dask(stack: ExitStack) -> dict[int, AbstractEngine]:
    """Engines on clusters that are there already, as those of many machines are."""
    from distributed import LocalCluster

    from graphflip.jobs.cluster import Dask

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    clusters = {n: stack.enter_context(LocalCluster(n_workers=n, **options)) for n in (1, 2)}
    return {n: Dask(cluster.scheduler_address, unencrypted=True) for n, cluster in clusters.items()}  # pyright: ignore


def _steady_rate(table: Path, settings: JobSettings, out: Path, engine: AbstractEngine) -> float:
    """Rows per second from the first shard to the last, so that the start of processes does not count."""
    seen = []
    run_job(open_source(str(table)), settings, out, engine, shard_size=4, watch=seen.append)
    first, last = seen[0], seen[-1]
    return round((last.done - first.done) / (last.seconds - first.seconds), 2)


def _busy() -> float:
    """Seconds for which cores of this machine have worked."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system


class Canned(AbstractEngine):
    """Has the answers already."""

    def __init__(self, blobs: dict[int, bytes]) -> None:
        self.blobs = blobs

    def map(self, order: Order, tasks: Iterable[Task], tick: Callable[[], None]) -> Iterator[Done]:
        for task in tasks:
            yield Done(task, self.blobs[task.index], len(task.rows))


def rows(folder: Path, count: int) -> dict[str, Any]:
    """What a row costs besides its explanation, and takes on disk. Its target is there, so nothing is sought."""
    kit, table = small_kit.make_kit(folder / "easy", common=1.0), folder / "easy.csv"
    table.write_text("smiles\n" + "".join(f"{small_kit.molecule(1 + k)}\n" for k in range(count)))
    settings, out, size = JobSettings.of(model=str(kit), prefer="minimal", target="fancy"), folder / "easy-job", 100
    source, order = open_source(str(table)), Order(settings, kit_digest(str(kit)), package_versions())
    unread = iter(source.rows())
    shards = list(iter(lambda: tuple(islice(unread, size)), ()))
    began = time.process_time()
    blobs = {k: explain_rows(order, shard) for k, shard in enumerate(shards)}
    explaining = time.process_time() - began
    writing, checking = (_cpu_seconds(lambda: run_job(source, settings, out, Canned(blobs), size)) for _ in range(2))
    return {
        "rows": count,
        "explaining_seconds_per_100000_rows": round(explaining / count * 1e5, 1),
        "overhead_seconds_per_100000_rows": round(writing / count * 1e5, 1),
        "seconds_to_check_100000_finished_rows": round(checking / count * 1e5, 1),
        "bytes_per_row": round(sum(path.stat().st_size for path in out.glob("shards/*/*")) / count),
    }


def molecules(folder: Path, count: int) -> dict[str, Any]:
    """Processor seconds and bytes for each of so many molecules of RDKit's, with the kit `mutagenicity`."""
    path = Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"
    texts = [line.split()[0] for line in path.read_text().splitlines()[:: 5000 // count]][:count]
    (folder / "nci.smi").write_text("".join(f"{text}\n" for text in texts))
    figures: dict[str, Any] = {"molecules": count}
    for prefer in ("minimal", "balanced"):
        settings, out = JobSettings.of(model="mutagenicity", prefer=prefer), folder / f"nci-{prefer}"
        seconds = _cpu_seconds(lambda: run_job(open_source(str(folder / "nci.smi")), settings, out))  # noqa: B023
        size = sum(path.stat().st_size for path in out.glob("shards/*/*.parquet"))
        outcomes = read_manifest(out).outcomes
        figures[prefer] = {"seconds": round(seconds / count, 2), "bytes": round(size / count), "outcomes": outcomes}
    return figures


def _cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def memory(folder: Path, counts: list[int]) -> dict[str, Any]:
    """Largest memory and time of jobs of so many rows: every tenth is a molecule whose target is there, the others are
    texts that are none, and every row has its answer."""
    kit = small_kit.make_kit(folder / "roomy", common=1.0)
    found = {}
    for count in counts:
        table = folder / f"{count}.csv"
        texts = (small_kit.molecule(1 + k % 20_000) if k % 10 == 0 else "nonsense((" for k in range(count))
        table.write_text("smiles\n" + "".join(f"{text}\n" for text in texts))
        options = ("--model", kit, "--target", "fancy", "--prefer", "minimal")
        found[str(count)] = _explain(table, folder / f"job{count}", *options)
    return found


def _explain(table: Path, out: Path, *options: object) -> dict[str, float]:
    """Wall time and largest memory of a command."""
    command = [sys.executable, "-m", "graphflip", "explain", str(table), "--out", str(out), *map(str, options)]
    began, megabytes = time.monotonic(), 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    while process.poll() is None:
        megabytes = max(megabytes, _peak_megabytes(process.pid))
        time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return {"seconds": round(time.monotonic() - began, 1), "megabytes": round(megabytes)}


def _peak_megabytes(pid: int) -> float:
    """The largest size that a process has had so far; `getrusage` would count that of its parent, too."""
    status = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2]
    return int(status.split()[0]) / 1024 if status else 0.0  # it may have ended


def training(folder: Path, epochs: int) -> dict[str, Any]:
    """Loss curves with the same global batch: one process with three seeds, which shows the noise, and two."""
    data = planted(400, seed=1)
    curves = {}
    for name, seed, processes in (("one", 0, 1), ("one, seed 1", 1, 1), ("one, seed 2", 2, 1), ("two", 0, 2)):
        out = folder / f"train-{name}"
        changes = {"epochs": epochs, "batch_size": 32, "seed": seed}
        train_model("classifier", data, out, changes=changes, processes=processes)
        lines = (out / "curves.csv").read_text().splitlines()[1:]
        curves[name] = [round(float(line.split(",")[1]), 4) for line in lines]
    return curves


if __name__ == "__main__":
    main()
