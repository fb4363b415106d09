"""Run the benchmarks in full and put the last line of each into results/speed.json, beside the command.

Usage: python tools/benchmark_results.py [NAME ...]     (layers, train_step, explain, ged, report; needs GRAPHFLIP_DATA)
"""

import json
import subprocess
import sys
from pathlib import Path

from graphflip.models.files import write_atomically

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "results" / "speed.json"


def main(names: list[str]) -> None:
    results = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    for name in names or ["layers", "train_step", "explain", "ged", "report"]:
        script = f"benchmarks/{name}.py"
        run = subprocess.run([sys.executable, script], cwd=ROOT, check=True, capture_output=True, text=True)
        results[name] = {"command": f"python {script}", **json.loads(run.stdout.splitlines()[-1])}
        write_atomically(TARGET, (json.dumps(results, indent=1) + "\n").encode())
        print(name, results[name], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
