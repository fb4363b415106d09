"""Disturb jobs, training and files in every way we know; figures go to results/faults.json.

Usage: python tools/faults [--quick] [--only explain,train,files]     (full disks need the rights of root)
"""

import argparse
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import torch
from attacked import hostile
from cluster import dask_faults
from disk import full_disk, limited_files, read_only_disk
from files import damaged_files
from kills import explain_kills, train_kills
from rig import ROOT, Rig, load
from surroundings import clock_jumps, out_of_memory, two_jobs

import graphflip

figures = load(ROOT / "tools" / "figures.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few faults of each kind; nothing is written")
    parser.add_argument("--only", default="", help="some kinds, by name")
    options = parser.parse_args()
    torch.set_num_threads(1)
    few = options.quick
    with tempfile.TemporaryDirectory(prefix="faults") as folder:
        rig = Rig.build(Path(folder), rows=20 if few else 60)
        faults = {
            "explain": lambda: explain_kills(rig, 6 if few else 50),
            "train": lambda: train_kills(rig.folder, 5 if few else 20),
            "files": lambda: damaged_files(rig, 2 if few else 12),
            "limited_files": lambda: limited_files(rig, 2 if few else 10),
            "full_disk": lambda: full_disk(rig, 2 if few else 10),
            "read_only_disk": lambda: read_only_disk(rig),
            "clock": lambda: clock_jumps(rig),
            "two_jobs": lambda: two_jobs(rig, 2 if few else 10),
            "dask": lambda: dask_faults(rig, 4 if few else 20),
            "hostile": lambda: hostile(Path(folder), partial(figures.contribute, "hostile")),
            "memory": lambda: out_of_memory(rig),  # last: it leaves threads here, with which nothing may fork
        }
        if os.geteuid() != 0:  # a disk of its own cannot be mounted
            del faults["full_disk"], faults["read_only_disk"]
        for name in options.only.split(",") if options.only else faults:
            began = time.monotonic()
            print(name, flush=True)
            found = faults[name]()
            print(f"  {found} in {time.monotonic() - began:.0f} s", flush=True)
            if not few:
                figures.contribute(name, found)
                figures.contribute("about", {"command": "make faults", "version": graphflip.__version__})


if __name__ == "__main__":
    main()
