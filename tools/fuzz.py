"""Feed every parser with inputs that a fuzzer (atheris) derives from valid ones; figures go to results/faults.json.

Usage: python tools/fuzz.py [--runs 10000] [--quick] [PARSER …]     (what is found is kept in tests/corpus/PARSER)
"""

import argparse
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
_SECONDS, _MEGABYTES = 20, 2048
"""An input that takes longer, or makes the process larger, counts as a finding."""
_ENOUGH = 5
"""So many findings in one parser, and it is to be mended first."""


def main() -> None:
    from figures import contribute
    from parsers import PARSERS, make

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PARSER", help=f"{', '.join(PARSERS)}; all of them by default")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="500 inputs for each; no figures are written")
    options = parser.parse_args()
    findings = 0
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        make(Path(folder))
        for name in options.names or PARSERS:
            figures = run(name, 500 if options.quick else options.runs, Path(folder))
            print(f"{name:14} {figures}", flush=True)
            findings += figures["findings"]
            if not options.quick:
                contribute("fuzz", {name: figures})
    sys.exit(findings > 0)


def run(name: str, runs: int, folder: Path) -> dict[str, int]:
    """Fuzz one parser in processes of their own, one more after each finding until all runs are done."""
    figures = {"inputs": 0, "findings": 0, "megabytes": 0, "longest_seconds": 0}
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    while figures["inputs"] < runs and figures["findings"] < _ENOUGH:
        done = figures["inputs"]
        command = [sys.executable, __file__, "--child", name, str(runs - done), str(folder), str(done)]
        child = subprocess.run(command, capture_output=True, text=True, errors="replace")
        counts = [int(text) for text in re.findall(r"^#(\d+)\s", child.stderr, re.MULTILINE)]
        if not counts:
            raise RuntimeError(f"{name}: the fuzzer has not run:\n{child.stderr[-2000:]}")
        figures["inputs"] += max(1, *counts)
        figures["megabytes"] = max(figures["megabytes"], _stat("peak_rss_mb", child.stderr))
        figures["longest_seconds"] = max(figures["longest_seconds"], _stat("slowest_unit_time_sec", child.stderr))
        if child.returncode:
            figures["findings"] += 1
            print(child.stdout[-3000:], child.stderr[-3000:], file=sys.stderr, flush=True)
    with suppress(OSError):  # if nothing was found, it is empty
        (CORPUS / name).rmdir()
    return figures


def _stat(name: str, log: str) -> int:
    found = re.search(rf"^stat::{name}:\s+(\d+)", log, re.MULTILINE)
    return int(found.group(1)) if found else 0


def child(name: str, runs: int, folder: Path, seed: int) -> None:
    """Fuzz; never returns."""
    import atheris

    with atheris.instrument_imports(include=["graphflip"]):
        from parsers import examples, parse

    seeds, place = folder / f"seeds-{name}", folder / f"place-{name}"
    seeds.mkdir(exist_ok=True)
    for k, content in enumerate(examples(name, folder)):
        (seeds / f"example{k}").write_bytes(content)
    options = [f"-runs={runs}", "-max_len=65536", f"-seed={seed + 1}", f"-timeout={_SECONDS}", "-print_final_stats=1"]
    options += [f"-rss_limit_mb={_MEGABYTES}", f"-artifact_prefix={CORPUS / name}/", str(seeds)]
    atheris.Setup([sys.argv[0], *options], lambda content: parse(name, content, place, folder) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    main()
