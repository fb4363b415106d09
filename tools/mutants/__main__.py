"""Plant faults one at a time and run the tests that belong to the place; figures go to results/mutants.json.

Usage: python tools/mutants [--automatic 100] [--seconds 120] [--minutes 40] [--only listed|automatic]

A run goes on where an earlier one stopped: a fault that was tried with the same code and tests is not tried again, nor
is one that was noticed by tests that are all still there.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from operators import Fault, automatic

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "mutants.json"
HERE = Path(__file__).parent
COPIED = ("src", "tests", "tools", "pyproject.toml", "examples", "results", "docs")

_NETWORKS = (
    "tests/explain/test_paper_laws.py tests/models/test_pegvae.py tests/models/test_decode.py tests/test_laws.py"
)
TESTS = {
    "metrics.py": "tests/test_metrics.py",
    "edits.py": "tests/test_full_graphs.py tests/test_edits.py",
    "jsongraph.py": "tests/test_graph.py tests/explain/test_records.py",
    "ged/": "tests/test_ged_starts.py tests/test_ged_swapped.py tests/test_ged_parts.py tests/test_ged.py",
    "coloring/": "tests/test_mix.py tests/test_refinement.py tests/test_isomorphism.py tests/test_graph_equality.py",
    "bench/measure.py": "tests/bench/test_measured_times.py tests/bench/test_measure_laws.py "
    "tests/bench/test_measure.py",
    "bench/paper/elbo.py": "tests/bench/test_paper_splits.py",
    "bench/paper/splits.py": "tests/bench/test_paper_splits.py",
    "bench/paper/": "tests/bench/test_paper_text.py tests/bench/test_measure_laws.py",
    "models/training/": "tests/bench/test_paper_text.py tests/models/test_recipes.py",
    "explain/moves/restrictions.py": "tests/explain/test_edit_laws.py tests/explain/test_constraints.py",
    "explain/moves/environments.py": "tests/explain/test_edit_laws.py tests/explain/test_environments.py",
    "explain/edits/": "tests/explain/test_edit_laws.py tests/explain/test_minimize.py tests/explain/test_candidates.py",
    "explain/latent/": "tests/explain/test_latent_promises.py tests/explain/test_paper_laws.py "
    "tests/explain/test_traversal.py tests/explain/test_baselines.py",
    "models/networks/classifier.py": "tests/models/test_edges_seen.py tests/explain/test_paper_laws.py",
    "models/networks/trees.py": "tests/models/test_thresholds.py tests/models/test_trees.py",
    "models/networks/wl.py": "tests/models/test_removed_nodes.py tests/models/test_wl.py tests/nn/test_variations.py "
    "tests/models/test_trees.py",
    "models/networks/decode.py": f"tests/models/test_needed_slots.py {_NETWORKS}",
    "models/networks/pegvae.py": f"tests/models/test_linear_config.py {_NETWORKS}",
    "models/networks/": _NETWORKS,
    "models/storage/files.py": "tests/models/test_leftovers.py tests/models/test_own_folder.py "
    "tests/models/test_files.py",
    "models/storage/": "tests/models/test_files.py tests/jobs/test_seals.py tests/models/test_store.py",
    "nn/": "tests/nn",
    "data/tables.py": "tests/data/test_lines_and_columns.py tests/data/test_tables.py tests/data/test_smiles.py",
    "jobs/export.py": "tests/jobs/test_export.py",
    "jobs/": "tests/jobs/test_seals.py tests/jobs/test_damage.py tests/jobs/test_run.py",
}
"""Tests that belong to a module, by the beginning of its path; the first that fits counts."""

CORE = (
    *("metrics.py", "edits.py", "ged/bounds.py", "ged/problem.py", "ged/search.py", "coloring/refinement.py"),
    *("bench/measure.py", "explain/latent/traversal.py", "explain/latent/active.py", "explain/latent/baselines.py"),
    *("models/networks/decode.py", "models/networks/likelihood.py", "models/networks/paper.py"),
    *("models/networks/pegvae.py", "models/networks/trees.py", "models/networks/wl.py", "nn/basis.py", "nn/layers.py"),
    *("jobs/folder.py", "jobs/export.py", "data/tables.py", "models/storage/files.py", "models/storage/store.py"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--automatic", type=int, default=100, help="number of faults of the automatic operator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120.0, help="most processor seconds of tests")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fault after this time")
    parser.add_argument("--only", choices=("listed", "automatic"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for package in ("pandas", "scipy.optimize", "rdkit.Chem", "sklearn.ensemble"):  # once, before children are forked
        import_module(package)
    faults = [] if options.only == "automatic" else listed()
    if options.only != "listed":
        faults += automatic(ROOT / "src" / "graphflip", list(CORE), options.automatic, options.seed)
    deadline = time.monotonic() + 60 * options.minutes
    keys = [_key(fault) for fault in faults]  # of the code as it is copied now
    stored = json.loads(RESULTS.read_text())["faults"] if RESULTS.exists() else []
    lines = {key: _line(fault) for fault, key in zip(faults, keys, strict=True)}
    files = {fault.file: _digests(fault) for fault in faults}
    tried = {
        one["key"]: one | {"code": lines[one["key"]]}
        for one in stored
        if one["key"] in keys and _still_holds(one, files[one["file"]])
    }
    _write([tried[key] for key in keys if key in tried], len(faults))
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        place = _copied(Path(folder))
        for fault, key in zip(faults, keys, strict=True):
            late = time.monotonic() >= deadline
            if key in tried or late or not _is_sound(place, tests_of(fault.file), options.seconds):
                continue
            tried[key] = {"key": key, "tests": files[fault.file], **_tried(fault, place, options.seconds)}
            print(f"{tried[key]['outcome']:9} {fault.file}: {fault.name}", flush=True)
            _write([tried[key] for key in keys if key in tried], len(faults))


def listed() -> list[Fault]:
    """The faults of faults.json; a piece of code that is not there exactly once is an error."""
    faults = []
    for one in json.loads((HERE / "faults.json").read_text()):
        source = (ROOT / "src" / "graphflip" / one["file"]).read_text()
        if source.count(one["old"]) != 1:
            raise SystemExit(
                f"{one['file']}: {one['old']!r} must be there once. Bring tools/mutants/faults.json to date."
            )
        faults.append(Fault(one["name"], one["file"], one["old"], one["new"], source.index(one["old"])))
    return faults


def tests_of(file: str) -> list[str]:
    """Arguments of pytest for a module."""
    beginning = next(name for name in TESTS if file.startswith(name))
    return [test for test in TESTS[beginning].split() if "::" not in test]


def _tried(fault: Fault, place: Path, seconds: float) -> dict[str, Any]:
    """Plant a fault in the copy, run the tests, and take it out again."""
    path = place / "src" / "graphflip" / fault.file
    whole = path.read_text()
    path.write_text(fault.plant(whole))
    began = time.monotonic()
    try:
        outcome = _outcome(place, tests_of(fault.file), seconds)
        if outcome == "survived":
            outcome = _outcome(place, tests_of(fault.file), seconds, shapes=True)
    finally:
        path.write_text(whole)
    told = {"name": fault.name, "file": fault.file, "code": _line(fault), "old": fault.old, "new": fault.new}
    return {**told, "outcome": outcome, "seconds": round(time.monotonic() - began, 1)}


def _line(fault: Fault) -> str:
    """The line of code that a fault is in."""
    whole = (ROOT / "src" / "graphflip" / fault.file).read_text()
    return whole[whole.rfind("\n", 0, fault.start) + 1 :].splitlines()[0].strip()


def _outcome(place: Path, tests: list[str], seconds: float, shapes: bool = False, planted: bool = True) -> str:
    """Run tests on the copy in a child that has the large packages already; of ours, it imports everything anew.

    Without checking `shapes` they take a third of the time. What a run without a fault compiles is kept for the others.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        os._exit(_run_tests(place, tests, shapes, planted))
    deadline = time.monotonic() + 20 * seconds  # of a machine that does other things, too
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return {0: "survived", -signal.SIGXCPU: "too long"}.get(code, "noticed")
        time.sleep(0.05)
    os.killpg(child, 9)
    os.waitpid(child, 0)
    return "too long"


def _run_tests(place: Path, tests: list[str], shapes: bool, planted: bool) -> int:
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    os.chdir(place)
    os.environ |= {"PYTHONPATH": str(place / "src"), "OMP_NUM_THREADS": "1"}
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1" if planted else ""
    sys.path[:] = [str(place / "src"), *(path for path in sys.path if path != str(HERE))]
    sys.dont_write_bytecode = planted
    try:
        if not shapes:
            os.environ["JAXTYPING_DISABLE"] = "1"
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    except BaseException:
        return 1


_sound: dict[tuple[str, ...], bool] = {}


def _is_sound(place: Path, tests: list[str], seconds: float) -> bool:
    """True if tests pass without any fault, in half of the time that they have; else what they say means nothing."""
    key = tuple(tests)
    if key not in _sound:
        _sound[key] = _outcome(place, tests, seconds / 2, planted=False) == "survived"
        print(f"{'sound' if _sound[key] else 'UNSOUND':9} {' '.join(tests)}", flush=True)
    return _sound[key]


def _copied(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    return folder


def _key(fault: Fault) -> str:
    """What a result depends on beside the tests: the fault, and the module."""
    digest = hashlib.sha256(repr(fault).encode())
    digest.update((ROOT / "src" / "graphflip" / fault.file).read_bytes())
    return digest.hexdigest()[:16]


def _digests(fault: Fault) -> list[str]:
    """A digest of each file of tests that belongs to the place of a fault."""
    places = [ROOT / test for test in tests_of(fault.file)]
    files = [file for place in places for file in ([place] if place.is_file() else sorted(place.glob("*.py")))]
    return [hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in files]


def _still_holds(result: dict[str, Any], tests: list[str]) -> bool:
    """True if a result is what these tests would say: a fault that some of them noticed is noticed by all together."""
    before = result.get("tests")
    return before == tests or (before is not None and result["outcome"] == "noticed" and set(before) <= set(tests))


def _write(tried: list[dict[str, Any]], planned: int) -> None:
    reasons = json.loads((HERE / "equivalent.json").read_text())
    survivors = [one for one in tried if one["outcome"] == "survived"]
    shown = [
        {"name": one["name"], "file": one["file"], "code": one.get("code", ""), "old": one["old"], "new": one["new"]}
        | {"reason": reasons.get(f"{one['file']}: {one.get('code')}: {one['old']} -> {one['new']}", "")}
        for one in survivors
    ]
    noticed = sum(one["outcome"] == "noticed" for one in tried)
    figures: dict[str, float | None] = {"planned": planned, "planted": len(tried), "noticed": noticed}
    figures["too_long"] = sum(one["outcome"] == "too long" for one in tried)
    figures["equivalent"] = sum(bool(one["reason"]) for one in shown)
    figures["share"] = round(noticed / len(tried), 3) if tried else None
    RESULTS.write_text(json.dumps({**figures, "survivors": shown, "faults": tried}, indent=1) + "\n")


if __name__ == "__main__":
    main()
