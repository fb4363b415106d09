"""Feed every parser with inputs that a fuzzer (atheris) derives from valid ones; figures go to results/faults.json.

Usage: python tools/fuzz.py [--runs 10000] [--quick] [PARSER …]     (what is found is kept in tests/corpus/PARSER)
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

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


class Meter(NamedTuple):
    """What a fuzzed process has done, kept in a file that outlives it however it ends."""

    inputs: float = 0.0
    longest_seconds: float = 0.0
    megabytes_before: float = 0.0
    megabytes: float = 0.0

    def write(self, path: Path) -> None:
        np.array(self).tofile(path)

    @classmethod
    def read(cls, path: Path) -> "Meter":
        return cls(*np.fromfile(path).tolist())


def run(name: str, runs: int, folder: Path) -> dict[str, float]:
    """Fuzz one parser in processes of their own, one more after each finding until all runs are done.

    `longest_seconds` is the slowest input; `megabytes` is the largest size of the process, of which it had
    `megabytes_before` when it had read valid inputs and so imported everything.
    """
    inputs, findings, meters = 0, 0, []
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    while inputs < runs and findings < _ENOUGH:
        file = folder / f"meter-{name}"
        Meter().write(file)
        command = [sys.executable, __file__, "--child", name, str(runs - inputs), str(folder), str(inputs)]
        child = subprocess.run(command, capture_output=True, text=True, errors="replace")
        meters.append(Meter.read(file))
        if not meters[-1].inputs:
            raise RuntimeError(f"{name}: the fuzzer has not run:\n{child.stderr[-2000:]}")
        inputs += round(meters[-1].inputs)
        if child.returncode:
            findings += 1
            print(child.stdout[-3000:], child.stderr[-3000:], file=sys.stderr, flush=True)
    with suppress(OSError):  # if nothing was found, it is empty
        (CORPUS / name).rmdir()
    largest = max(meters, key=lambda meter: meter.megabytes)
    return {
        "inputs": inputs,
        "findings": findings,
        "longest_seconds": round(max(meter.longest_seconds for meter in meters), 4),
        "megabytes_before": round(largest.megabytes_before),
        "megabytes": round(largest.megabytes),
    }


def child(name: str, runs: int, folder: Path, seed: int) -> None:
    """Fuzz; never returns."""
    import atheris  # pyright: ignore[reportMissingModuleSource]

    with atheris.instrument_imports(include=["graphflip"]):
        from parsers import examples, parse

    seeds, place = folder / f"seeds-{name}", folder / f"place-{name}"
    seeds.mkdir(exist_ok=True)
    for k, content in enumerate(examples(name, folder)):
        (seeds / f"example{k}").write_bytes(content)
        parse(name, content, place, folder)  # imports what it needs
    meter = np.memmap(folder / f"meter-{name}", dtype=np.float64, mode="r+")
    meter[2] = _peak_megabytes()

    def once(content: bytes) -> None:
        began = time.perf_counter()
        try:
            parse(name, content, place, folder)
        finally:
            seconds = time.perf_counter() - began
            meter[:] = Meter(meter[0] + 1, max(meter[1], seconds), meter[2], _peak_megabytes())

    options = [f"-runs={runs}", "-max_len=65536", f"-seed={seed + 1}", f"-timeout={_SECONDS}"]
    options += [f"-rss_limit_mb={_MEGABYTES}", f"-artifact_prefix={CORPUS / name}/", str(seeds)]
    atheris.Setup([sys.argv[0], *options], once)
    atheris.Fuzz()


def _peak_megabytes() -> float:
    """The largest size that this process has had; `getrusage` would count that of its parent, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    main()
