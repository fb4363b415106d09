"""The viewer in a real browser: what a person does, with mouse, keyboard and reload; nothing lands in the console."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")

MUTAGEN = "CN(C)N=O"
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)  # on a busy machine everything takes longer; nothing here is about how long


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield launched
        launched.close()


@pytest.fixture
def context(browser, server) -> Iterator[BrowserContext]:
    """A browser session in which no page may complain or ask another server for anything."""
    made = browser.new_context(base_url=server, viewport={"width": 1200, "height": 900})
    made.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    made.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    made.on("weberror", lambda error: complaints.append(str(error.error)))
    made.on("request", lambda one: None if one.url.startswith((server, "blob:")) else complaints.append(one.url))
    yield made
    made.close()
    expected = ("status of 422", "status of 404")  # what the browser itself says of a refused request
    assert [text for text in complaints if not any(known in text for known in expected)] == []


@pytest.fixture
def page(context) -> Page:
    return opened(context)


@pytest.fixture(scope="module")
def answered(browser, server) -> tuple[dict, str]:
    """The state of a browser that has an answer, and the address of that."""
    context = browser.new_context(base_url=server)
    context.set_default_timeout(PATIENCE)
    page = opened(context)
    enter(page, MUTAGEN)
    explain(page)
    state, address = context.storage_state(), page.url
    context.close()
    return state, address


def opened(context: BrowserContext, address: str = "/") -> Page:
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#before svg")).to_be_visible()
    return page


def enter(page: Page, smiles: str) -> None:
    page.get_by_label("Molecule").fill(smiles)
    page.get_by_label("Molecule").press("Enter")


def explain(page: Page, prefer: str = "Minimal") -> None:
    """Explain, and wait until the address names another answer than before."""
    before = page.url
    page.get_by_role("radio", name=prefer).check()
    page.get_by_role("button", name="Explain").click()
    page.wait_for_function("(before) => location.hash && location.href !== before", arg=before)
    expect(page.locator("#details")).to_be_visible()
    expect(page.locator("#explain")).to_be_focused()


def test_a_person_explains_a_molecule(page, tmp_path):
    """Enter, explain, slide, freeze, explain again, undo, download, reload."""
    enter(page, MUTAGEN)
    expect(page.get_by_role("heading", level=1)).to_contain_text("is predicted mutagen")
    explain(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("it is nonmutagen")
    expect(page.locator("#after svg")).to_be_visible()

    slider = page.get_by_role("slider", name="The way there")
    expect(slider).to_be_enabled()
    last = page.locator("#after").inner_html()
    slider.focus()
    slider.press("Home")
    expect(page.locator("#after-title")).to_have_text("On the way")
    expect(page.locator("#path-text")).to_contain_text("step 0 of")
    assert page.locator("#after").inner_html() != last
    slider.press("End")
    expect(page.locator("#after-title")).to_have_text("Changed")
    assert page.locator("#after").inner_html() == last

    first = page.locator("#changes label").first
    first.hover()
    expect(page.locator(".drawing .lit")).not_to_have_count(0)
    page.get_by_role("heading", level=1).hover()
    expect(page.locator(".drawing .lit")).to_have_count(0)
    page.locator("#after .changed circle.spot, #after .added circle.spot").first.hover()
    expect(page.locator("#changes .pointed")).to_have_count(1)
    expect(page.locator(".drawing .lit")).not_to_have_count(0)
    page.get_by_role("heading", level=1).hover()
    expect(page.locator("#changes .pointed")).to_have_count(0)

    change = page.locator("#changes input").first
    change.uncheck()
    expect(page.locator("#undo-text")).to_contain_text("nonmutagen")
    expect(page.locator("#after-title")).to_have_text("With changes undone")
    change.check()
    expect(page.locator("#undo-text")).to_be_hidden()

    kept = {kind: downloaded(page, kind, tmp_path) for kind in ("SMILES", "SVG", "JSON lines", "Python")}
    assert kept["SMILES"].splitlines()[0].split()[0] == MUTAGEN
    assert kept["SVG"].startswith("<svg")
    record = json.loads(kept["JSON lines"])
    assert record["flipped"]
    assert record["smiles"]["factual"] == MUTAGEN
    assert "graphflip" in kept["Python"]

    answer = page.get_by_role("heading", level=1).inner_text()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(answer)
    expect(page.get_by_label("Molecule")).to_have_value(MUTAGEN)


def downloaded(page: Page, button: str, folder: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.read_text()


def test_what_is_frozen_stays(page):
    enter(page, MUTAGEN)
    expect(page.get_by_role("heading", level=1)).to_contain_text("is predicted mutagen")
    oxygen = page.get_by_role("checkbox", name="keep O4", exact=True)
    oxygen.click()
    page.get_by_role("checkbox", name="keep N3", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.get_by_label("Keep as it is")).to_have_value("3, 4")
    expect(oxygen).to_have_attribute("aria-checked", "true")
    page.get_by_label("All bonds of rings").check()
    explain(page)
    asked = page.evaluate("fetch('/api/jobs').then((answer) => answer.json())")[-1]["asked"]
    assert (asked["freeze_nodes"], asked["freeze_rings"], asked["prefer"]) == ([3, 4], True, "minimal")
    marks = page.evaluate(
        "[...document.querySelectorAll('#before .removed, #before .changed')].map((e) => e.classList[0])"
    )
    assert not {"atom-3", "atom-4", "bond-3-4"} & set(marks)
    page.get_by_role("checkbox", name="keep O4", exact=True).click()
    expect(page.get_by_label("Keep as it is")).to_have_value("3")
    page.get_by_label("Keep as it is").fill("three")
    expect(page.locator("#freeze-message")).to_contain_text("Write numbers")


@pytest.mark.parametrize(
    ("smiles", "says"),
    [
        ("c1ccc", "RDKit"),
        ("C" * 70, "at most 50 nodes"),
        ("C" * 300, "at most 200 characters"),
        ("C C", "without spaces"),
    ],
    ids=["bad", "large", "long", "spaces"],
)
def test_a_molecule_that_cannot_be_used_is_said_beside_the_field(page, smiles, says):
    before = page.locator("#before").inner_html()
    enter(page, smiles)
    field = page.get_by_label("Molecule")
    expect(page.locator("#smiles-message")).to_contain_text(says)
    expect(field).to_have_attribute("aria-invalid", "true")
    assert "smiles-message" in field.get_attribute("aria-describedby")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#details")).to_be_hidden()
    enter(page, "CO")
    expect(page.locator("#smiles-message")).to_be_hidden()
    expect(page.locator("#subline")).to_have_text("CO")
    assert page.locator("#before").inner_html() != before


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


def test_alternatives_and_files(page, tmp_path):
    file = tmp_path / "mine.smi"
    file.write_text(f"{MUTAGEN} first\nCO second\n(( broken\n")
    page.locator("#file").set_input_files(file)
    expect(page.locator("#entries-list li")).to_have_count(3)
    expect(page.get_by_role("heading", level=1)).to_contain_text("First is predicted mutagen")
    page.get_by_role("button", name="second").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Second is predicted")
    page.get_by_role("button", name="first").click()
    expect(page.locator("#subline")).to_have_text(MUTAGEN)
    page.get_by_label("Answers").select_option("3")
    explain(page)
    tabs = page.get_by_role("radio", name="edit")
    expect(tabs).not_to_have_count(0)
    seen = page.locator("#subline").inner_text()
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tabs.nth(1)).to_have_attribute("aria-checked", "true")
    assert page.locator("#subline").inner_text() != seen
    record = page.evaluate("fetch('/api/jobs/' + location.hash.slice(1).split('/')[0]).then((a) => a.json())")
    saved = tmp_path / "counterfactuals.jsonl"
    saved.write_text("".join(json.dumps(one["record"]) + "\n" for one in record["answers"]))
    page.locator("#file").set_input_files(saved)
    expect(page.locator("#entries-list li")).to_have_count(len(record["answers"]))
    expect(page.locator("#details")).to_be_visible()


def test_values_of_directed_graphs(page, flow):
    page.get_by_label("Model").select_option("flow")
    expect(page.get_by_role("heading", level=1)).to_have_text("Open a file of graphs to begin")
    expect(page.get_by_role("textbox", name="Graph")).to_be_disabled()
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#smiles-message")).to_contain_text("Open a file of graphs")
    page.locator("#file").set_input_files(flow / "graphs.jsonl")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Graph 0 has the predicted value")
    value = float(page.locator("#before-class b").inner_text())
    expect(page.locator("#before .head")).not_to_have_count(0)
    edge = page.get_by_role("checkbox", name="keep edge").first
    edge.click()
    part = edge.get_attribute("data-part")
    expect(page.get_by_label("Keep as it is")).to_have_value(part)
    target = page.get_by_label("Target")
    expect(target).to_have_value("raise by 1")
    target.fill("no such thing")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("#job-message")).to_contain_text("A target must be")
    target.fill("raise by 0.01")
    explain(page)
    expect(page.locator("#after-bar")).to_contain_text("to be at least")
    assert float(page.locator("#after-class b").inner_text()) > value
    expect(page.locator(f"#before .bond-{part}")).not_to_have_class("changed")
    page.reload()
    expect(page.get_by_label("Model")).to_have_value("flow")
    expect(target).to_have_value("raise by 0.01")
    expect(page.get_by_label("Keep as it is")).to_have_value(part)
    page.get_by_label("Model").select_option("mutagenicity")
    expect(page.get_by_role("heading", level=1)).to_contain_text("is predicted")
    expect(page.locator("#entries")).to_be_hidden()


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
