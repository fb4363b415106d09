"""Feed every parser with inputs that a fuzzer (atheris) derives from valid ones, and write results/fuzz.json.

Usage: python tools/fuzz.py [--runs 10000] [PARSER …]     (what is found is kept in tests/corpus/PARSER)
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
RESULTS = ROOT / "results" / "fuzz.json"
_SECONDS, _MEGABYTES = 20, 2048
"""An input that takes longer, or makes the process larger, counts as a finding."""


def main() -> None:
    from parsers import PARSERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PARSERS], help="parsers; all of them by default")
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        prepare(Path(folder))
        for name in options.names or PARSERS:
            found[name] = run(name, options.runs, Path(folder))
            print(f"{name:14} {found[name]}", flush=True)
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(any(figures["findings"] for figures in found.values()))


def prepare(folder: Path) -> None:
    """A kit and a job, whose files are examples."""
    from small_kit import make_kit, write_molecules

    from graphflip.jobs import Settings, open_source, run_job

    kit, table = make_kit(folder / "kit"), write_molecules(folder / "molecules.csv", 6)
    settings = Settings.of(model=str(kit), prefer="minimal", target="fancy", budget=1)
    run_job(open_source(str(table)), settings, folder / "job")


def run(name: str, runs: int, folder: Path) -> dict[str, int]:
    """Fuzz one parser in a process of its own, again after each finding until all runs are done."""
    done, findings = 0, 0
    while done < runs:
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, "--child", name, str(runs - done), str(folder), str(done)]
        child = subprocess.run(command, capture_output=True, text=True)
        (folder / f"{name}.log").write_text(child.stdout + child.stderr)
        counts = [int(text) for text in re.findall(r"^#(\d+)\s", child.stderr, re.MULTILINE)]
        done += max([1, *counts])
        if child.returncode:
            findings += 1
            print(child.stdout[-500:], child.stderr[-3000:], file=sys.stderr, flush=True)
        elif not counts:
            raise RuntimeError(f"{name}: the fuzzer has not run:\n{child.stderr[-2000:]}")
    return {"inputs": done, "findings": findings}


def child(name: str, runs: int, folder: Path, seed: int) -> None:
    """Fuzz; never returns."""
    import atheris

    with atheris.instrument_imports(include=["graphflip"]):
        from parsers import examples, parse

    seeds, place = folder / f"seeds-{name}", folder / f"place-{name}"
    seeds.mkdir(exist_ok=True)
    for k, content in enumerate(examples(name, folder / "kit", folder / "job")):
        (seeds / f"example{k}").write_bytes(content)
    options = [f"-runs={runs}", "-max_len=8192", f"-seed={seed + 1}", f"-timeout={_SECONDS}"]
    options += [f"-rss_limit_mb={_MEGABYTES}", f"-artifact_prefix={CORPUS / name}/", str(seeds)]
    atheris.Setup([sys.argv[0], *options], lambda content: parse(name, content, place, folder / "kit") and None)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    main()
