"""Count the answers that are others on another kind of processor; write results/quality/processors.json.

Usage: python tools/processors.py [--limit 100]   (GRAPHFLIP_DATA)

Validation graphs of each set are explained twice, by two processes. The second one has only the instructions of old
processors, so that sums are added up in another order and rounded in another way.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from graphflip.explain.query import Prefer

OUT = Path(__file__).parents[1] / "results" / "quality" / "processors.json"
DATASETS, ROWS = ("ames", "mutagenicity", "nci1", "aids"), ("balanced", "minimal")
OLD = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=100, help="graphs of each set at most")
    parser.add_argument("--answer", help=argparse.SUPPRESS)  # what a process of this tool is asked to do
    options = parser.parse_args()
    if options.answer:
        data, prefer = options.answer.split("/")
        print(json.dumps(answers(data, prefer, options.limit)))
        return
    found: dict[str, Any] = {
        "command": f"python tools/processors.py --limit {options.limit}",
        "processors": [torch.backends.cpu.get_cpu_capability(), OLD["ATEN_CPU_CAPABILITY"]],
    }
    for data in DATASETS:
        found[data] = {row: compared(f"{data}/{row}", options.limit) for row in ROWS}
        print(data, found[data], flush=True)
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def compared(what: str, limit: int) -> dict[str, Any]:
    """Answers about validation graphs, how many of them are others, and the largest difference of any network."""
    surroundings = ({}, OLD)
    command = [sys.executable, __file__, "--limit", str(limit), "--answer", what]
    runs = [
        subprocess.Popen(command, env={**os.environ, **more, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True)
        for more in surroundings
    ]
    here, there = (json.loads(run.communicate()[0]) for run in runs)
    others = sum(one["edits"] != other["edits"] for one, other in zip(here, there, strict=True))
    shown = sum(one["calls"] != other["calls"] for one, other in zip(here, there, strict=True))
    apart = max(abs(one["probability"] - other["probability"]) for one, other in zip(here, there, strict=True))
    return {"answers": len(here), "others": others, "other_calls": shown, "probability_apart": apart}


def answers(data: str, prefer: Prefer, limit: int) -> list[dict[str, Any]]:
    """The classifier's word on each graph, the edits of its answer, and how many graphs were shown for it."""
    import graphflip
    from graphflip.data.source import load_dataset

    torch.set_num_threads(1)
    explainer, graphs = graphflip.load(data), load_dataset(data).part("validation").graphs(slice(0, limit))
    found = []
    for k in range(len(graphs)):
        answer = explainer.explain(graphs[k], prefer=prefer)
        edits = [edit.to_json() for edit in answer.edits]
        found.append({"probability": answer.p_factual, "edits": edits, "calls": answer.classifier_calls})
    return found


if __name__ == "__main__":
    main()
