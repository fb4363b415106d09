"""Run the benchmarks in full and put the last line of each into results/speed.json, beside the command.

Usage: python tools/benchmark_results.py [NAME ...]   (layers, train_step, explain, answers, ged)

Needs GRAPHFLIP_DATA, exmol (`pip install 'graphflip[peers]'`) and idle cores.
"""

import json
import subprocess
import sys
from pathlib import Path

from graphflip.models.storage.files import write_atomically

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "results" / "speed.json"
SECTIONS = {
    "layers": "benchmarks/layers.py",
    "train_step": "benchmarks/train_step.py",
    "explain": "benchmarks/explain.py",
    "answers": "benchmarks/answers.py",
    "ged": "benchmarks/ged.py",
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(SECTIONS)
    if unknown:
        sys.exit(f"Sections are {', '.join(SECTIONS)}; got {', '.join(sorted(unknown))}.")
    stored = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    results = {name: stored[name] for name in SECTIONS if name in stored}
    for name in names or SECTIONS:
        command = SECTIONS[name].split()
        run = subprocess.run([sys.executable, *command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        results[name] = {"command": f"python {SECTIONS[name]}", **json.loads(run.stdout.splitlines()[-1])}
        write_atomically(TARGET, (json.dumps(results, indent=1) + "\n").encode())
        print(name, results[name], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
