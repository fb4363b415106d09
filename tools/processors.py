"""Compare answers of the quality benchmark on two kinds of processors; write results/quality/processors.json.

Usage: python tools/processors.py FOLDER

FOLDER is a copy of results/quality in which rows were explained anew on another machine: remove their files, then
`graphflip bench quality --data mutagenicity --methods balanced,minimal --out FOLDER`.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

import torch

QUALITY = Path(__file__).parents[1] / "results" / "quality"
DATASET, ROWS = "mutagenicity", ("balanced", "minimal")
FIGURES = ("flip_ratio", "nafr", "nafr_other", "edge_sp", "mean_heavy_edits", "one_minimal")


def main(folder: Path) -> None:
    found = {
        "command": f"graphflip bench quality --data {DATASET} --methods {','.join(ROWS)} --out FOLDER",
        "processor": f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        **{row: compared(folder, row) for row in ROWS},
    }
    (QUALITY / "processors.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def compared(folder: Path, row: str) -> dict[str, Any]:
    """Number of answers of a row that are others in a folder, and its figures there."""
    here, there = (edits(each, row) for each in (QUALITY, folder))
    if here.keys() != there.keys():
        sys.exit(f"{folder} must have the answers of {DATASET}/{row} about the same graphs as {QUALITY}.")
    figures = json.loads((folder / "table.json").read_text(encoding="utf-8"))[DATASET][row]
    others = sum(here[name] != there[name] for name in here)
    return {"answers": len(here), "others": others, **{name: figures[name] for name in FIGURES}}


def edits(folder: Path, row: str) -> dict[str, Any]:
    """Edits of the answer about each graph."""
    lines = (folder / DATASET / f"{row}-seed0.jsonl").read_text(encoding="utf-8").splitlines()
    return {answer["id"]: answer["edits"] for answer in map(json.loads, lines)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
