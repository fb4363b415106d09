"""The report in a real browser: it filters and sorts, loads nothing, complains about nothing, and is open to all."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.explain.claims.importance import Importance
from graphflip.report.page import write_report
from graphflip.report.results import Results, ResultSet, UnreadInput

from .pairs import explanation, failure

CHROMIUM = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to open reports in a browser")


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = [
        explanation("banana", p_counterfactual=0.7, importance=Importance({0: 0.3, 1: -0.1}, {(0, 1): 0.2})),
        explanation("apple", "O=[N+]([O-])c1ccccc1", "OC(=O)c1ccccc1", p_counterfactual=0.8),
        explanation("cherry", p_counterfactual=0.95, evidence=None),
        failure("date"),
    ]
    unread = (UnreadInput("elder", "bad_input", f"No SMILES: {'C(=O)' * 60}"),)
    sets = ResultSet("one", tuple(found), 4, unread), ResultSet("two", (found[0],), 1)
    tables = ("### A table\n\n| method | figure |\n| --- | --- |\n| walk | 0.5 |\n",)
    write_report(path, Results("fruit", sets, tables))
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as engine:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        running = engine.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


@pytest.fixture
def page(browser, address) -> Iterator[Page]:
    """The report in a fresh window; whatever it complains about or asks for fails the test."""
    context = browser.new_context()
    opened, trouble, asked = context.new_page(), [], []
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(address)
    yield opened
    context.close()
    assert trouble == []
    assert asked == [address]


def names(page) -> list[str]:
    return page.locator("tbody tr:visible .name").all_text_contents()


def test_find_and_choose(page):
    assert names(page) == ["banana", "apple", "cherry", "date", "elder", "banana"]
    assert page.locator("output").inner_text() == "6 explanations"
    page.get_by_label("Find").fill("NITRO carboxy")
    assert names(page) == ["apple"]
    assert page.locator("output").inner_text() == "1 of 6 explanations"
    page.get_by_label("Find").fill("")
    page.get_by_label("Outcome").select_option("flipped")
    page.get_by_label("Origin").select_option("one")
    assert names(page) == ["banana", "apple", "cherry"]


def test_sort_by_columns(page):
    page.set_viewport_size({"width": 1200, "height": 800})
    head = page.get_by_role("columnheader", name="Probability")
    head.get_by_role("button").click()
    assert names(page)[:4] == ["banana", "banana", "apple", "cherry"]
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").press("Enter")
    assert names(page)[:2] == ["cherry", "apple"]
    assert head.get_attribute("aria-sort") == "descending"
    page.get_by_role("columnheader", name="Input").get_by_role("button").click()
    assert names(page) == ["apple", "banana", "banana", "cherry", "date", "elder"]
    assert head.get_attribute("aria-sort") is None


def test_a_phone_sorts_too(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_label("Sort by").select_option("most probable")
    assert names(page)[:2] == ["cherry", "apple"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_words_point_at_pictures(page):
    row = page.locator("tr", has_text="apple")
    item = row.locator(".words li").first
    assert row.locator("g.hot").count() == 0
    item.hover()
    assert row.locator("g.hot").count() > 0
    assert page.locator("g.hot").count() == row.locator("g.hot").count()
    page.locator("h1").hover()
    assert page.locator("g.hot").count() == 0
    row.locator("g.changed .label").first.hover()
    assert row.locator("li.hot").count() == 1


def test_it_can_be_read_without_its_script(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert len(names(page)) == 6
    assert not page.locator("form").is_visible()
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_serious_fault_for_people_who_need_help(browser, address, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    # The checker is a script of its own, which the page's policy would refuse.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    violations = axe.Axe().run(page).response["violations"]
    context.close()
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []


def test_filters_by_direction(browser, tmp_path):
    """Of explanations in both directions those to one class are shown, and what changes is counted for each."""
    back = explanation("apple", "OC(=O)c1ccccc1", "O=[N+]([O-])c1ccccc1", target=0)
    found = explanation("banana", "O=[N+]([O-])c1ccccc1", "OC(=O)c1ccccc1"), back
    write_report(tmp_path / "both.html", Results("both", (ResultSet("one", found, 2),)))
    page = browser.new_page()
    page.goto((tmp_path / "both.html").as_uri())
    headings = page.locator(".often h3").all_text_contents()
    assert headings == ["To mutagen (1)", "To safe (1)"]
    page.get_by_label("Direction").select_option("safe")
    assert names(page) == ["apple"]
    page.get_by_label("Direction").select_option("mutagen")
    assert names(page) == ["banana"]
    page.close()


def test_filters_by_judge_and_where_it_matters(page):
    """Judges, and colors that are shown on demand; a long SMILES in an error stays in its column."""
    page.select_option("[name=judge]", "all")
    assert names(page) == [], "the trees agree with none of them"
    page.select_option("[name=judge]", "+another GNN")
    assert names(page) == ["banana", "apple", "banana"], "nobody was asked about the cherry"
    page.select_option("[name=judge]", "-trees")
    assert names(page) == ["banana", "apple", "banana"]
    page.select_option("[name=judge]", "")
    colors = page.locator(".gf .toward")
    assert colors.count() > 0
    assert not colors.first.is_visible()
    page.get_by_label("Where it matters").check()
    assert colors.first.is_visible()
    cell, note = page.locator("tr:has-text('elder') td.what"), "el => el.scrollWidth <= el.clientWidth + 1"
    assert cell.evaluate(note)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == "explanations.csv"
