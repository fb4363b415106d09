"""How large a report of many explanations is, how long it takes to write, and how soon a browser shows it.

Usage: python benchmarks/report.py [--rows 1000] [--quick] [--out FILE]    (needs chromium; JSON on the last line)
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from graphflip.data.molecules.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.molecules.smiles import load_rdkit_molecules
from graphflip.edits import Edit, apply_edits
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.evidence import Evidence
from graphflip.graph import Graph
from graphflip.report.page import write_report
from graphflip.report.results import Results, ResultSet

SCHEMA = molecule_schema(("C", "H", "N", "O", "F", "P", "S", "Cl", "Br", "I"), 100, explicit_hydrogens=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="number of explanations")
    parser.add_argument("--quick", action="store_true", help="fifty explanations")
    parser.add_argument("--out", type=Path, help="keep the figures in this file")
    arguments = parser.parse_args()
    count = 50 if arguments.quick else arguments.rows
    found = explanations(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        began = time.process_time()
        write_report(path, Results("benchmark", (ResultSet("benchmark", found, count),)))
        figures = {"rows": count, "write_seconds": round(time.process_time() - began, 2)}
        figures["megabytes"] = round(path.stat().st_size / 1e6, 2)
        figures |= opening(path.as_uri())
    figures |= {"cores": os.cpu_count(), "load_average": round(os.getloadavg()[0], 2)}
    if arguments.out:
        kept = {"command": f"python benchmarks/report.py --rows {count}", **figures}
        arguments.out.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(figures))


def explanations(count: int) -> tuple[Counterfactual, ...]:
    """Molecules that come with RDKit, with hydrogens as nodes, two changes each and a way of 100 steps."""
    data = load_rdkit_molecules(max_nodes=26)
    evidence = Evidence({"another GNN": 0.9, "trees": 0.6}, True, True, 1.0, True, True, True)
    way = tuple(k / 100 for k in range(101))
    return tuple(
        Counterfactual(
            *(f"molecule {k}", "benchmark", 1, *changed(data.graphs([k])), 0.05, 0.95, Outcome.FLIPPED),
            probabilities=way,
            classes=("no", "yes"),
            evidence=evidence,
        )
        for k in islice(cycle(range(len(data))), count)
    )


def changed(graph: Graph) -> tuple[Graph, Graph]:
    """A molecule with a hydrogen made chlorine and a carbon made nitrogen: what counts here is what is drawn."""
    factual = from_smiles(to_smiles(graph) or "CC", SCHEMA)
    types = [node["type"] for node in factual.nodes() if node is not None]
    edits = [
        Edit("set_node", (types.index(old),), {"type": old}, {"type": new})
        for old, new in (("H", "Cl"), ("C", "N"))
        if old in types
    ]
    return factual, apply_edits(factual, edits)


def opening(address: str, repeats: int = 5) -> dict[str, float]:
    """Medians of what it takes until the page is painted, and until a filter shows."""
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as engine:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = engine.chromium.launch(executable_path=chromium, args=flags)
        runs = [opened(browser, address) for _ in range(repeats)]
        browser.close()
    return {key: round(median(run[key] for run in runs), 3) for key in runs[0]}


def opened(browser: Browser, address: str) -> dict[str, float]:
    """Wall time, and processor time of all the browser's processes, which a busy machine does not add to."""
    page, painted = browser.new_page(viewport={"width": 1280, "height": 900}), _PAINTED
    began, used = time.perf_counter(), processor_seconds(browser)
    page.goto(address)
    page.evaluate(painted)
    figures = {"open_seconds": time.perf_counter() - began, "open_cpu_seconds": processor_seconds(browser) - used}
    began, used = time.perf_counter(), processor_seconds(browser)
    page.get_by_label("Find").fill("molecule 7")
    page.evaluate(painted)
    figures |= {"filter_seconds": time.perf_counter() - began, "filter_cpu_seconds": processor_seconds(browser) - used}
    page.close()
    return figures


_PAINTED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def processor_seconds(browser: Browser) -> float:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(process["cpuTime"] for process in processes)


if __name__ == "__main__":
    main()
