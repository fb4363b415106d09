"""Disturb jobs, training and files in every way we know, and write results/faults.json.

Usage: python tools/faults [--quick] [--only explain,train,files,clock,two_jobs,memory,dask]
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import torch
from cluster import dask_kills
from files import clock_jumps, damaged_files, out_of_memory, two_jobs
from kills import explain_kills, train_kills
from rig import ROOT, Rig

import graphflip
from graphflip.models.files import write_atomically

RESULTS = ROOT / "results" / "faults.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few faults of each kind; nothing is written")
    parser.add_argument("--only", default="", help="some kinds, by name")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="faults") as folder:
        rig = Rig.build(Path(folder), rows=20 if options.quick else 60)
        few = options.quick
        faults = {
            "explain": lambda: explain_kills(rig, 4 if few else 50),
            "train": lambda: train_kills(rig.folder, 2 if few else 20),
            "files": lambda: damaged_files(rig, 2 if few else 20),
            "clock": lambda: clock_jumps(rig),
            "two_jobs": lambda: two_jobs(rig),
            "memory": lambda: out_of_memory(rig),
            "dask": lambda: dask_kills(rig, 3 if few else 20),
        }
        chosen = options.only.split(",") if options.only else list(faults)
        found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        for name in chosen:
            began = time.monotonic()
            print(name, flush=True)
            found[name] = found.get(name, {}) | faults[name]()
            print(f"  {found[name]} in {time.monotonic() - began:.0f} s", flush=True)
            found["about"] = {"command": "make faults", "rows": rig.rows, "version": graphflip.__version__}
            if not few:
                write_atomically(RESULTS, (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
