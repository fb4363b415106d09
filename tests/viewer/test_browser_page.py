"""The page in a real browser: tabs and people are kept apart, it is accessible, and fits phone and theme."""

import pytest
from playwright.sync_api import Page, expect

from .browsing import CHROMIUM, MUTAGEN, PATIENCE, enter, explain, opened

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")


def test_two_tabs_do_not_mix(context, page):
    other = opened(context)
    enter(page, MUTAGEN)
    enter(other, "O=[N+]([O-])c1ccccc1")
    expect(page.locator("#subline")).to_have_text(MUTAGEN)
    explain(page)
    expect(other.locator("#subline")).to_have_text("O=[N+]([O-])c1ccccc1")
    expect(other.locator("#details")).to_be_hidden()
    explain(other)
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")
    expect(other.locator("#subline")).to_contain_text("O=[N+]([O-])c1ccccc1 →")
    page.reload()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")


def test_other_people_see_nothing_of_it(context, answered):
    page = opened(context, answered[1])
    expect(page.get_by_role("heading", level=1)).to_contain_text("is predicted")
    expect(page.locator("#details")).to_be_hidden()
    assert page.evaluate("fetch('/api/jobs').then((answer) => answer.json())") == []


def test_an_answer_does_not_take_the_place_of_what_is_looked_at_by_then(page):
    enter(page, MUTAGEN)
    expect(page.locator("#subline")).to_have_text(MUTAGEN)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    enter(page, "CO")
    expect(page.locator("#subline")).to_have_text("CO")
    expect(page.locator("#history-list li")).to_have_count(1)
    expect(page.locator("#subline")).to_have_text("CO")
    page.locator("#history-list a").click()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")
    expect(page.get_by_label("Molecule")).to_have_value(MUTAGEN)


def test_cancel(page):
    enter(page, "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34")
    expect(page.locator("#subline")).to_contain_text("c2c34")
    page.get_by_label("Answers").select_option("frontier")
    page.get_by_role("radio", name="Believable").check()
    page.get_by_role("button", name="Explain").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#job-message")).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Explain")).to_be_visible()


def test_no_serious_fault_of_accessibility(browser, server, answered):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    state, address = answered
    context = browser.new_context(base_url=server, storage_state=state, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    for shown, where in (("#before svg", "/"), ("#slider:enabled", address), ("#operations h1", "/docs")):
        page = context.new_page()
        page.goto(where)
        expect(page.locator(shown)).to_be_visible()
        assert serious(axe, page) == [], where
        page.emulate_media(color_scheme="dark")
        assert serious(axe, page, runOnly=["color-contrast"]) == [], f"{where} in the dark"
    context.close()


def serious(axe, page: Page, **options) -> list[str]:
    found = axe.Axe().run(page, options={"resultTypes": ["violations"]} | options).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in ("serious", "critical")
    ]


def test_it_fits_a_phone(browser, server, answered):
    state, address = answered
    context = browser.new_context(
        base_url=server, storage_state=state, viewport={"width": 360, "height": 740}, is_mobile=True
    )
    context.set_default_timeout(PATIENCE)
    page = opened(context, address)
    expect(page.get_by_role("slider")).to_be_enabled()
    beyond = "e => e.getBoundingClientRect().right > 361"
    wide = f"[...document.querySelectorAll('*')].filter({beyond}).map(e => e.outerHTML.slice(0, 90))"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.evaluate(wide)
    context.close()


def test_the_theme_can_be_chosen(page):
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between dark and light").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.reload()
    expect(page.locator("#before svg")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after
