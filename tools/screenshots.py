"""Pictures for the documentation: docs/img/report-*.png (the demo's explanations), viewer-*.png and marks.png.

Usage: python tools/screenshots.py [FOLDER]     (a folder that `graphflip demo` wrote; needs chromium)
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from graphflip.data.molecules.famous import famous_molecules
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.edits import Edit, apply_edits
from graphflip.graph import Graph
from graphflip.report.demo import run_demo
from graphflip.report.draw.palette import page_style
from graphflip.report.draw.pictures import draw_legend, draw_pair
from graphflip.schema import Continuous, Schema

IMAGES = Path(__file__).parent.parent / "docs" / "img"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--force-color-profile=srgb"]


def main(folder: Path | None) -> None:
    IMAGES.mkdir(exist_ok=True)
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as engine:
        page = folder / "index.html" if folder else run_demo(Path(temporary), print)
        browser = engine.chromium.launch(executable_path=chromium, args=FLAGS)
        shoot_report(browser, page.resolve().as_uri())
        shoot_marks(browser)
        shoot_viewer(browser)
        browser.close()


def shoot_report(browser: Browser, address: str) -> None:
    for name, scheme, width, height in (
        ("report-light", "light", 1200, 1480),
        ("report-dark", "dark", 1200, 1480),
        ("report-phone", "light", 390, 820),
    ):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(address)
        if name == "report-phone":
            page.locator("tbody tr").first.evaluate("(row) => row.scrollIntoView()")
        page.screenshot(path=IMAGES / f"{name}.png")
        page.close()


def shoot_marks(browser: Browser) -> None:
    """A molecule, and a directed graph whose edges have weights."""
    pairs = "".join(f"<p>{before}{after}</p>" for before, after in (drawn(*pair) for pair in examples()))
    style = f"body{{margin:16px}}p{{margin:12px 0}}p svg{{margin-right:48px;vertical-align:middle}}{page_style()}"
    page = browser.new_page(viewport={"width": 660, "height": 300})
    page.set_content(f"<style>{style}</style>{draw_legend().svg(standalone=False)}{pairs}")
    page.screenshot(path=IMAGES / "marks.png", full_page=True)
    page.close()


def drawn(factual: Graph, counterfactual: Graph) -> tuple[str, str]:
    before, after = draw_pair(factual, counterfactual)
    return before.svg(standalone=False), after.svg(standalone=False)


def examples() -> Iterator[tuple[Graph, Graph]]:
    schema = molecule_schema(("C", "N", "O", "Cl"), 20, explicit_hydrogens=False)
    aniline = from_smiles("Nc1ccc(CCCl)cc1", schema)
    changes = [
        Edit("set_node", (0,), {"type": "N"}, {"type": "O"}),
        Edit("remove_edge", (6, 7), {"type": "single"}, {}),
        Edit("remove_node", (7,), {"type": "Cl"}, {}),
        Edit("add_node", (10,), {}, {"type": "O"}),
        Edit("add_edge", (5, 10), {}, {"type": "double"}),
    ]
    yield aniline, apply_edits(aniline, changes)
    weighted = Schema(edges=(Continuous(name="weight"),), max_nodes=6, directed=True)
    edges = [(0, 1, 0.31), (1, 2, 0.9), (3, 1, 0.42), (1, 4, 0.77), (4, 5, 0.6)]
    graph = Graph.build(weighted, [{}] * 6, [(i, j, {"weight": weight}) for i, j, weight in edges])
    changes = [
        Edit("set_edge", (0, 1), {"weight": 0.31}, {"weight": 0.78}),
        Edit("remove_edge", (4, 5), {"weight": 0.6}, {}),
        Edit("add_edge", (2, 5), {}, {"weight": 0.5}),
    ]
    yield graph, apply_edits(graph, changes)


def shoot_viewer(browser: Browser) -> None:
    """The first example and its frontier."""
    port = "8773"
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "graphflip",
            "serve",
            "--port",
            port,
            "--token",
            "shots",
            "--forget",
            "--seconds",
            "900",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        next(line for line in server.stdout or () if "viewer is at" in line)
        for name, scheme, width, height in (
            ("viewer-light", "light", 1280, 1480),
            ("viewer-dark", "dark", 1280, 1480),
            ("viewer-phone", "light", 390, 820),
        ):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_default_timeout(300_000)
            page.goto(f"http://127.0.0.1:{port}/?token=shots")
            page.get_by_role("heading", name="is predicted").wait_for()
            page.get_by_label("Answers").select_option("frontier")
            page.get_by_role("button", name="Explain", exact=True).click()
            page.locator("#slider:enabled").wait_for()
            page.get_by_label("Where it matters").check()
            if name == "viewer-phone":
                page.locator("#stage").evaluate("(stage) => stage.scrollIntoView()")
            page.screenshot(path=IMAGES / f"{name}.png")
            if name == "viewer-light":
                shoot_workbench(page)
            page.close()
    finally:
        server.terminate()
        server.wait(timeout=60)


def shoot_workbench(page: Page) -> None:
    """Preferences side by side, and a table of well-known molecules."""
    page.set_viewport_size({"width": 1280, "height": 1100})
    page.get_by_role("button", name="Compare preferences").click()
    page.wait_for_function("() => document.querySelectorAll('.compared:not([aria-busy])').length === 3")
    page.locator(".original svg").wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=IMAGES / "viewer-comparison.png")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "molecules.smi"
        file.write_text("".join(f"{one.smiles} {one.name.replace(' ', '_')}\n" for one in famous_molecules()[:6]))
        page.locator("#file").set_input_files(file)
        page.get_by_label("Answers").select_option("1")
        page.get_by_role("button", name="Explain all").click()
        page.get_by_text("6 of 6 explained").wait_for()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=IMAGES / "viewer-table.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
