"""Plant the faults that people met at the page and in the report, one at a time: does the test that is named notice?

Usage: python tools/mutants/pages.py [--only WORD] [--minutes 40] [--take outcomes.jsonl]

The faults are those of pages.json. Figures go to results/page_faults.json, a table to tests/viewer/FAULTS.md. A run
goes on where an earlier one stopped: a fault that was noticed with the same code and tests is not tried again.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).parent / "pages.json"
RESULTS = ROOT / "results" / "page_faults.json"
TABLE = ROOT / "tests" / "viewer" / "FAULTS.md"
COPIED = ("src", "tests", "tools", "examples", "results", "pyproject.toml")
PATIENCE = "PATIENCE = 120_000", "PATIENCE = 30_000"
"""Milliseconds that a browser test waits for what a fault keeps from happening: less here, and none is lost by it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="plant only faults with this word in what they are about")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fault after this time")
    parser.add_argument("--take", type=Path, help="take over what a run that was stopped has written to this file")
    options = parser.parse_args()
    faults = json.loads(FAULTS.read_text())
    for fault in faults:
        _check(fault)
    known = {one["key"]: one for one in json.loads(RESULTS.read_text())["faults"]} if RESULTS.exists() else {}
    noticed = {key: one for key, one in known.items() if one["outcome"] == "noticed"}
    tried = {key: noticed[key] for fault in faults if (key := _key(fault)) in noticed}
    if options.take:
        taken = zip(faults, _read(options.take, faults), strict=True)
        tried |= {
            _key(one): {"key": _key(one), **one, **found} for one, found in taken if found["outcome"] != "unsound"
        }
    deadline = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="pages") as folder:
        place, left = _copied(Path(folder)), [one for one in faults if _key(one) not in tried]
        left = [one for one in left if options.only in one["about"]]
        for some in (*_together(left), *([one] for one in left if not _is_fetched(one))):
            if time.monotonic() > deadline:
                break
            for fault, outcome in zip(some, _outcomes(some, place), strict=True):
                tried[_key(fault)] = {"key": _key(fault), **fault, **outcome}
                print(f"{outcome['outcome']:9} {fault['about']}: {fault['fault']}: {outcome['said']}", flush=True)
            _write([tried[_key(one)] for one in faults if _key(one) in tried], len(faults))
    _write([tried[_key(one)] for one in faults if _key(one) in tried], len(faults))


def _check(fault: dict[str, Any]) -> None:
    """End with a message if the code of a fault is not there exactly once, or its test does not exist."""
    file, _, test = fault["test"].partition("::")
    if (ROOT / "src" / "graphflip" / fault["file"]).read_text().count(fault["old"]) != 1:
        raise SystemExit(f"{fault['file']}: {fault['old']!r} must be there once. Bring {FAULTS.name} to date.")
    if f"def {test.partition('[')[0]}(" not in (ROOT / file).read_text():
        raise SystemExit(f"{fault['test']}: there is no such test. Bring {FAULTS.name} to date.")


def _is_fetched(fault: dict[str, Any]) -> bool:
    """True if a fault is in a file that browsers fetch: there it can be planted while the server runs."""
    return fault["file"].startswith("viewer/assets/")


def _together(faults: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The faults that can be planted while the server runs, by file of tests."""
    fetched = [fault for fault in faults if _is_fetched(fault)]
    files = dict.fromkeys(fault["test"].partition("::")[0] for fault in fetched)
    return [[fault for fault in fetched if fault["test"].startswith(f"{file}::")] for file in files]


def _outcomes(faults: list[dict[str, Any]], place: Path) -> list[dict[str, Any]]:
    return _planted_in_the_browser(faults, place) if _is_fetched(faults[0]) else [_planted(faults[0], place)]


def _planted_in_the_browser(faults: list[dict[str, Any]], place: Path) -> list[dict[str, Any]]:
    """Run the tests of some faults without and with each of them, beside one server (see planted.py)."""
    given, told = place / "faults.json", place / "outcomes.jsonl"
    given.write_text(json.dumps(faults))
    told.write_text("")
    more = {"PLANTED_FAULTS": str(given), "PLANTED_OUTCOMES": str(told)}
    tests = dict.fromkeys(fault["test"] for fault in faults)
    last = sorted(tests, key=lambda test: "has_an_address" in test)  # that one leaves the server busy
    _pytest(place, ["-p", "planted", *last], more)
    return _read(told, faults)


def _read(told: Path, faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outcome of each fault, as the plugin wrote them down."""
    runs = [json.loads(line) for line in told.read_text().splitlines()]
    by_fault = {json.dumps(run["fault"], sort_keys=True): run for run in runs}
    found = []
    for fault in faults:
        run = by_fault.get(json.dumps(fault, sort_keys=True))  # missing if its test does not pass without any fault
        outcome = "unsound" if run is None else "survived" if run["passes"] else "noticed"
        found.append({"outcome": outcome, "said": "" if run is None else run["said"]})
    return found


def _planted(fault: dict[str, Any], place: Path) -> dict[str, Any]:
    """Plant a fault in the copy, run its test, and take it out again; without it the test must pass."""
    path = place / "src" / "graphflip" / fault["file"]
    whole = path.read_text()
    path.write_text(whole.replace(fault["old"], fault["new"]))
    try:
        passes, said = _passes(fault["test"], place)
    finally:
        path.write_text(whole)
    outcome = "survived" if passes else "noticed" if _is_sound(fault["test"], place) else "unsound"
    return {"outcome": outcome, "said": said}


_sound: dict[str, bool] = {}


def _is_sound(test: str, place: Path) -> bool:
    """True if a test passes without any fault."""
    if test not in _sound:
        _sound[test] = _passes(test, place)[0]
    return _sound[test]


def _passes(test: str, place: Path) -> tuple[bool, str]:
    """True if a test passes on the copy, and the first line of what it says otherwise."""
    run = _pytest(place, ["-x", test], {})
    said = [line[1:].strip() for line in run.stdout.splitlines() if re.match(r"E\s+\S", line)]
    return run.returncode == 0, (said or [""])[0][:160]


def _pytest(place: Path, arguments: list[str], more: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run tests of the copy; they import our modules and the plugin from there."""
    paths = os.pathsep.join([str(place / "src"), str(place / "tools" / "mutants")])
    environment = os.environ | {"PYTHONPATH": paths, "JAXTYPING_DISABLE": "1", "OMP_NUM_THREADS": "1"} | more
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    run = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    if run.returncode not in (0, 1, 5):
        raise SystemExit(f"{arguments} could not be run: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return run


def _copied(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    browsing = folder / "tests" / "viewer" / "browsing.py"
    browsing.write_text(browsing.read_text().replace(*PATIENCE))
    return folder


def _key(fault: dict[str, Any]) -> str:
    """What a result depends on: the fault, the file that it is in, and the test."""
    digest = hashlib.sha256(json.dumps(fault, sort_keys=True).encode())
    digest.update((ROOT / "src" / "graphflip" / fault["file"]).read_bytes())
    file, _, test = fault["test"].partition("::")
    digest.update((ROOT / file).read_text().partition(f"def {test}(")[2].partition("\n\n\n")[0].encode())
    return digest.hexdigest()[:16]


def _write(tried: list[dict[str, Any]], planned: int) -> None:
    noticed = sum(one["outcome"] == "noticed" for one in tried)
    figures = {"command": "python tools/mutants/pages.py", "planned": planned, "planted": len(tried)}
    told = [{name: one[name] for name in ("key", "about", "fault", "test", "outcome", "said")} for one in tried]
    RESULTS.write_text(json.dumps({**figures, "noticed": noticed, "faults": told}, indent=1) + "\n")
    rows = [
        f"| {one['about']} | {one['fault']} | `{one['test'].rpartition('/')[2]}` | {one['outcome']} |" for one in tried
    ]
    head = (
        "# Faults of the page and the report, and the tests that notice them\n\n"
        "Each was planted in the code, alone, and the test was run; without it the test passes. Written by\n"
        "`python tools/mutants/pages.py`; what exactly was planted is in `tools/mutants/pages.json`.\n\n"
        "| about | planted | test | outcome |\n|---|---|---|---|\n"
    )
    TABLE.write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
