"""Pictures for the documentation: docs/img/report-*.png, of the demo's explanations, and docs/img/viewer-*.png.

Usage: python tools/screenshots.py [FOLDER]     (a folder that `graphflip demo` wrote; needs chromium)
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from graphflip.report.demo import run_demo

IMAGES = Path(__file__).parent.parent / "docs" / "img"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--force-color-profile=srgb"]


def main(folder: Path | None) -> None:
    IMAGES.mkdir(exist_ok=True)
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as engine:
        page = folder / "index.html" if folder else run_demo(Path(temporary), print)
        browser = engine.chromium.launch(executable_path=chromium, args=FLAGS)
        shoot_report(browser, page.resolve().as_uri())
        shoot_viewer(browser)
        browser.close()


def shoot_report(browser: Browser, address: str) -> None:
    for name, scheme, width, height in (
        ("report-light", "light", 1200, 820),
        ("report-dark", "dark", 1200, 820),
        ("report-phone", "light", 390, 820),
    ):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(address)
        page.screenshot(path=IMAGES / f"{name}.png")
        page.close()


def shoot_viewer(browser: Browser) -> None:
    """The first example with up to three answers."""
    port = "8773"
    server = subprocess.Popen(
        [sys.executable, "-m", "graphflip", "serve", "--port", port], stdout=subprocess.PIPE, text=True
    )
    try:
        next(line for line in server.stdout or () if "viewer is at" in line)
        for name, scheme, width, height in (
            ("viewer-light", "light", 1280, 1240),
            ("viewer-dark", "dark", 1280, 1240),
            ("viewer-phone", "light", 390, 1500),
        ):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_default_timeout(300_000)
            page.goto(f"http://127.0.0.1:{port}")
            page.get_by_label("Answers").select_option("3")
            page.get_by_role("button", name="Explain").click()
            page.locator("#slider:enabled").wait_for()
            page.screenshot(path=IMAGES / f"{name}.png")
            page.close()
    finally:
        server.terminate()
        server.wait(timeout=60)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
