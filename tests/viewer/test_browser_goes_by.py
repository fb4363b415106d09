"""The page "What it goes by" in a browser: a real summary, its pictures, and the way from a recourse to its graphs."""

import json
import re

import pytest
from playwright.sync_api import expect

from .browsing import CHROMIUM, PATIENCE
from .serving import serving
from .test_browser_page import serious

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the page")

MOLECULES = [
    *(f"O=[N+]([O-])c1ccc({group})cc1" for group in ("C", "CC", "O", "N", "Cl", "Br", "F")),
    *(f"O=[N+]([O-])c1cccc({group})c1" for group in ("C", "CC", "O", "N", "Cl")),
]


@pytest.fixture(scope="module")
def summary(explainer, tmp_path_factory):
    """A summary of nitro compounds."""
    folder = tmp_path_factory.mktemp("summary")
    small = {"sample": 3, "answers": 0, "shortlist": 12, "num": 3, "num_graphs": 0, "believed": False}
    found = explainer.summarize(MOLECULES, "nonmutagen", name="nitro compounds", **small)
    (folder / "summary.json").write_text(json.dumps(found.to_json()))
    return folder, found


def test_one_goes_from_a_recourse_to_its_graphs(browser, summary):
    """The list is that of the summary; a graph that a recourse flips is opened in the workbench, and explained."""
    folder, found = summary
    (part,) = found.directions
    first = part.recourses[0]
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    with serving(models=("mutagenicity",), summaries=(str(folder),), seconds=300.0, quick_seconds=120.0) as address:
        context = browser.new_context(base_url=address, bypass_csp=True)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto("/")
        page.get_by_role("link", name="What it goes by").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("What mutagenicity goes by")
        expect(page.locator("body")).to_contain_text(first.words, ignore_case=True)
        expect(page.locator("svg").first).to_be_visible()
        for theme, width in (("light", 1200), ("dark", 360)):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            assert serious(axe, page) == [], theme
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        page.set_viewport_size({"width": 1200, "height": 900})
        page.locator("summary", has_text=re.compile(rf"^The {len(first.covers)} ")).first.click()
        chosen = page.get_by_role("link", name=first.covers[0], exact=True).first
        chosen.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("is predicted mutagen")
        expect(page.locator("#subline")).to_have_text(found.inputs[first.covers[0]])
        context.close()
