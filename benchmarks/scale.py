"""Jobs: speed-up of two workers, overhead per row, memory. Writes results/scale.json.

Usage: python benchmarks/scale.py [--quick]     (on an idle machine with two cores or more; 30 minutes, quick: 3)
"""

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from graphflip.data.famous import famous_molecules
from graphflip.jobs.folder import JobFolder, read_manifest
from graphflip.models.files import write_atomically

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows; nothing is written")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="scale") as name:
        folder = Path(name)
        figures = {
            "speed": speed(folder, rows=14 if quick else 140),
            "memory": memory(folder, [500, 1000] if quick else [1_000, 10_000, 100_000]),
            "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "load": os.getloadavg()[0]},
        }
    print(json.dumps(figures, indent=1))
    if not quick:
        write_atomically(ROOT / "results" / "scale.json", (json.dumps(figures, indent=1) + "\n").encode())


def speed(folder: Path, rows: int) -> dict[str, float]:
    """Seconds of the same job with one worker and with two, in processes and on Dask; what each row costs besides."""
    molecules = [molecule.smiles for molecule in famous_molecules()]
    table = folder / "molecules.smi"
    table.write_text("".join(f"{molecules[k % len(molecules)]} m{k}\n" for k in range(rows)))
    figures: dict[str, float] = {"rows": rows}
    for engine in ("local", "dask"):
        for workers in (1, 2):
            out = folder / f"{engine}{workers}"
            options = ("--engine", engine, "--workers", workers, "--shard-size", 5)
            figures[f"{engine}_{workers}"] = round(explain(table, out, *options)["seconds"], 2)
        figures[f"{engine}_speedup"] = round(figures[f"{engine}_1"] / figures[f"{engine}_2"], 3)
    first = folder / "local1"
    searched = sum(answer["seconds"] or 0 for answer in JobFolder(first, read_manifest(first)).answers())
    figures["seconds_per_row"] = round(searched / rows, 4)
    figures["bytes_per_row"] = round(sum(path.stat().st_size for path in first.rglob("*.parquet")) / rows)
    return figures


def memory(folder: Path, counts: list[int]) -> dict[str, dict[str, float]]:
    """Largest memory and time of jobs of so many rows, which cost next to nothing to explain: the target is there."""
    spec = importlib.util.spec_from_file_location("small_kit", ROOT / "tools" / "small_kit.py")
    small_kit = importlib.util.module_from_spec(spec)  # pyright: ignore[reportArgumentType]
    spec.loader.exec_module(small_kit)  # pyright: ignore[reportOptionalMemberAccess]
    kit = small_kit.make_kit(folder / "kit", common=1.0)
    found = {}
    for count in counts:
        table = folder / f"{count}.csv"
        texts = (small_kit.molecule(1 + k % 20_000) for k in range(count))
        table.write_text("smiles\n" + "".join(f"{text}\n" for text in texts))
        options = ("--model", kit, "--target", "fancy", "--prefer", "minimal")
        found[str(count)] = explain(table, folder / f"job{count}", *options)
    return found


def explain(table: Path, out: Path, *options: object) -> dict[str, float]:
    """Wall time and largest memory of a command."""
    command = [sys.executable, "-m", "graphflip", "explain", str(table), "--out", str(out), *map(str, options)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}")
    return {"seconds": time.monotonic() - began, "megabytes": usage.ru_maxrss / 1024}


if __name__ == "__main__":
    main()
