"""How large a report of many explanations is, how long it takes to write, and how soon a browser shows it.

Usage: python benchmarks/report.py [--rows 1000] [--quick]     (needs chromium; one JSON object on the last line)
"""

import argparse
import json
import shutil
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from graphflip.data.molecule import from_smiles, molecule_schema, to_smiles
from graphflip.data.smiles import load_rdkit_molecules
from graphflip.edits import Edit, apply_edits
from graphflip.explain.evidence import Evidence
from graphflip.explain.explainer import Counterfactual, Outcome
from graphflip.graph import Graph
from graphflip.report.page import write_report
from graphflip.report.results import Lot, Results

SCHEMA = molecule_schema(("C", "H", "N", "O", "F", "P", "S", "Cl", "Br", "I"), 100, explicit_hydrogens=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="number of explanations")
    parser.add_argument("--quick", action="store_true", help="fifty explanations")
    arguments = parser.parse_args()
    count = 50 if arguments.quick else arguments.rows
    found = explanations(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        began = time.process_time()
        write_report(path, Results("benchmark", (Lot("benchmark", found, count),)))
        figures = {"rows": count, "write_seconds": round(time.process_time() - began, 2)}
        figures["megabytes"] = round(path.stat().st_size / 1e6, 2)
        figures |= opening(path.as_uri())
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
    """Seconds until the page is loaded and painted, until a filter shows, and until the last row is in sight."""
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as engine:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = engine.chromium.launch(executable_path=chromium, args=flags)
        runs = [opened(browser, address) for _ in range(repeats)]
        browser.close()
    return {key: round(median(run[key] for run in runs), 3) for key in runs[0]}


def opened(browser: Browser, address: str) -> dict[str, float]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    began = time.perf_counter()
    page.goto(address)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    opened_after = time.perf_counter() - began
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    began = time.perf_counter()
    page.get_by_label("Find").fill("molecule 7")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    filtered_after = time.perf_counter() - began
    page.close()
    return {"open_seconds": opened_after, "first_paint_seconds": paint / 1000, "filter_seconds": filtered_after}


if __name__ == "__main__":
    main()
