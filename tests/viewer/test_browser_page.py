"""The page in a real browser: tabs and people are kept apart, it is accessible, and fits phone and theme."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Route, expect

from .browsing import CHROMIUM, MUTAGEN, PATIENCE, enter, explain, molecule, opened

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")


def test_two_tabs_do_not_mix(context, page):
    other = opened(context)
    molecule(page, MUTAGEN)
    molecule(other, "O=[N+]([O-])c1ccccc1")
    explain(page)
    expect(other.locator("#subline")).to_have_text("O=[N+]([O-])c1ccccc1")
    expect(other.locator("#details")).to_be_hidden()
    explain(other)
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")
    expect(other.locator("#subline")).to_contain_text("O=[N+]([O-])c1ccccc1 →")
    page.reload()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")


def test_other_people_see_nothing_of_it(context, answered):
    """A link has the question: whoever opens it asks it themselves, and sees no other job."""
    _, address, job = answered
    page = opened(context, address)
    expect(page.locator("#details")).to_be_visible()
    (own,) = page.evaluate("() => fetch('/api/jobs').then((answer) => answer.json())")
    assert own["id"] != job
    assert page.evaluate(f"() => fetch('/api/jobs/{job}').then((answer) => answer.status)") == 404


def test_an_answer_does_not_take_the_place_of_what_is_looked_at_by_then(page):
    molecule(page, MUTAGEN)
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    molecule(page, "CO")
    expect(page.get_by_role("button", name="Explain", exact=True)).to_be_visible()
    expect(page.locator("#history-list li")).to_have_count(1)
    expect(page.locator("#history-list")).not_to_contain_text("computing")
    expect(page.locator("#subline")).to_have_text("CO")
    page.locator("#history-list a").click()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")
    expect(page.get_by_label("Molecule", exact=True)).to_have_value(MUTAGEN)


def test_cancel(page):
    molecule(page, "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34")
    page.get_by_label("Answers").select_option("frontier")
    page.get_by_role("radio", name="Believable").check()
    page.get_by_role("button", name="Explain", exact=True).click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("#problem")).to_have_text(re.compile("Cancelled|Stopped"))  # without or with a first answer
    expect(page.get_by_role("button", name="Explain", exact=True)).to_be_focused()


def test_no_fault_of_accessibility(browser, server, answered, tmp_path):
    """In every state of the page, in both themes, and on a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    state, address, _ = answered
    context = browser.new_context(base_url=server, storage_state=state, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()

    def check(name: str) -> None:
        for theme, width in (("light", 1200), ("dark", 360)):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            assert serious(axe, page) == [], f"{name}, {theme}, {width} wide"
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width, f"{name}, {width} wide"

    page.goto(address)
    expect(page.locator("#slider:enabled")).to_be_visible()
    page.locator("summary", has_text="More options").click()
    page.locator("summary", has_text="How far to trust").click()
    page.get_by_label("Where it matters").check()
    check("an answer")
    page.get_by_role("button", name="Edit it by hand").click()
    expect(page.locator("#editor-verdict li").first).to_be_visible()
    check("the editor")
    page.get_by_role("button", name="Close", exact=True).click()
    held: list[Route] = []
    page.route(re.compile(r"/api/jobs/[^/]+\?"), lambda route: held.append(route))
    page.get_by_role("button", name="Compare preferences").click()
    expect(page.locator(".compared[aria-busy]").first).to_be_visible()
    check("a comparison that is computed")
    molecule(page, "O=[N+]([O-])c1ccccc1")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    check("computing")
    page.unroute_all()
    for route in held:
        with suppress(Error):  # the page has given up some of them
            route.continue_()
    page.go_back()
    expect(page.locator(".compared svg.gf")).to_have_count(3)
    check("a comparison")
    enter(page, "((")
    expect(page.locator("#problem")).to_be_visible()
    check("an error")
    enter(page, "")
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter a molecule to begin")
    check("empty")
    (tmp_path / "mine.smi").write_text(f"{MUTAGEN} first\nCO second\n(( broken\n")
    page.locator("#file").set_input_files(tmp_path / "mine.smi")
    expect(page.locator("#table tbody tr")).to_have_count(3)
    check("a file")
    page.get_by_role("radio", name="Minimal").check()
    page.get_by_role("button", name="Explain all 2").click()
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")
    check("a table")
    page.goto("/docs")
    expect(page.locator("#operations h1")).to_be_visible()
    check("the API")
    context.close()


def serious(axe, page: Page, **options) -> list[str]:
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]} | options).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


def test_it_fits_a_phone(browser, server, answered):
    state, address, _ = answered
    context = browser.new_context(
        base_url=server, storage_state=state, viewport={"width": 360, "height": 740}, is_mobile=True
    )
    context.set_default_timeout(PATIENCE)
    page = opened(context, address)
    expect(page.get_by_role("slider")).to_be_enabled()
    beyond = "e => e.getBoundingClientRect().right > 361"
    wide = f"[...document.querySelectorAll('*')].filter({beyond}).map(e => e.outerHTML.slice(0, 90))"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.evaluate(wide)
    assert page.locator("#model").bounding_box()["width"] > 80, "the name of the model is to be read"
    assert page.get_by_role("link", name="What it goes by").bounding_box()["height"] < 40, "in one line"
    context.close()


def test_the_theme_can_be_chosen(page):
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between dark and light").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.reload()
    expect(page.locator("#before svg")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after
