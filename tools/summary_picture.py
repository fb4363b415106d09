"""The picture of a summary for the README: docs/img/summary-light.png.

Usage: python tools/summary_picture.py FOLDER     (a folder that `graphflip summarize` wrote; needs chromium)
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGE = Path(__file__).parent.parent / "docs" / "img" / "summary-light.png"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--force-color-profile=srgb"]


def main(folder: Path) -> None:
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1180}, color_scheme="light")
        page.goto((folder / "index.html").resolve().as_uri())
        page.screenshot(path=IMAGE)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
