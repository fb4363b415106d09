"""The workbench in a browser: many molecules as a table, answers side by side, a drawn molecule, all options."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from .browsing import CHROMIUM, MUTAGEN, explain, molecule

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")


MARKED = """() => [...document.querySelectorAll("#before .removed, #before .changed")].map((e) => e.classList[0])"""


def saved(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.locator("#table").get_by_role("button", name=button, exact=True).click()
    return download.value.path().read_bytes()


def test_a_file_becomes_a_table_of_answers(page, tmp_path):
    """Explain all, sort, filter, open a row and come back, reload, take everything along."""
    file = tmp_path / "mine.smi"
    file.write_text(f"{MUTAGEN} NDMA\nO=[N+]([O-])c1ccccc1 nitrobenzene\n(( broken\n")
    page.locator("#file").set_input_files(file)
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(3)
    expect(page.locator("#subline")).to_have_text("3 entries, 1 of them unusable")
    page.get_by_role("radio", name="Minimal").check()
    page.get_by_role("button", name="Explain all 2").click()
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")
    expect(rows.first.locator(".thumb svg")).to_have_count(2)
    page.get_by_role("button", name="Name").click()
    page.get_by_role("button", name="Name").click()
    expect(rows.first).to_contain_text("nitrobenzene")
    page.get_by_label("Find", exact=True).fill("ndma")
    expect(page.locator("#table tbody tr:visible")).to_have_count(1)
    expect(page.locator("#table-count")).to_have_text("1 of 3")
    page.get_by_role("link", name="NDMA").click()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")
    page.locator("#changes input").first.uncheck()
    expect(page.locator("#undo-text")).to_be_visible()
    page.get_by_role("link", name="← mine.smi").click()
    expect(page.locator("tr[aria-current=true]")).to_contain_text("NDMA")
    page.reload()
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")
    table = list(csv.DictReader(io.StringIO(saved(page, "CSV").decode())))
    assert [row["id"] for row in table] == ["NDMA", "nitrobenzene"]
    assert saved(page, "SDF").count(b"$$$$") == 4
    assert len(saved(page, "JSON lines").splitlines()) == 2
    assert saved(page, "PNG")[:2] == saved(page, "SVG")[:2] == b"PK"
    assert b"What changes most often" in saved(page, "Report")
    expect(page.locator("#history-list")).to_contain_text("mine.smi table, 2 of 3")


def test_answers_side_by_side(page):
    molecule(page, MUTAGEN)
    explain(page)
    page.get_by_role("button", name="Compare preferences").click()
    cards = page.locator(".compared")
    expect(cards).to_have_count(3)
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    expect(page.locator(".compared[aria-busy]")).to_have_count(0)
    for number, name in enumerate(("minimal", "balanced", "believable")):
        expect(cards.nth(number)).to_contain_text(f"mutagenicity: {name}")
        expect(cards.nth(number)).to_contain_text("Similarity")
    page.reload()
    expect(page.locator(".compared svg.gf")).to_have_count(3)
    expect(page.locator(".original svg.gf")).to_be_visible()
    expect(page.locator(".original")).to_contain_text(re.compile(r"mutagenicity\s*mutagen \d"))
    cards.nth(2).get_by_role("link").click()
    expect(page.locator("#details")).to_be_visible()
    expect(page.get_by_role("radio", name="Believable")).to_be_checked()
    page.get_by_role("button", name="Compare models").click()
    expect(page.locator(".compared svg.gf")).to_have_count(2)
    expect(cards.nth(0)).to_contain_text("mutagenicity: believable")
    expect(cards.nth(1)).to_contain_text("again: believable")
    page.go_back()
    expect(page.locator("#details")).to_be_visible()
    page.go_back()
    expect(cards).to_have_count(3)


def test_a_table_is_stopped_and_gone_on_with(page, tmp_path):
    """Also after a reload; what has been found stays."""
    groups = ("C", "Cl", "Br", "F", "O", "N", "CC", "CCl")  # so many that some are left when the button is found
    rows = [f"O=[N+]([O-])c1ccc2ccc3cc({group})cc4ccc1c2c34 {group}" for group in groups]
    (tmp_path / "mine.smi").write_text("\n".join(["CO quick", *rows]) + "\n")
    page.locator("#file").set_input_files(tmp_path / "mine.smi")
    page.get_by_role("button", name="Explain all 9").click()
    expect(page.locator("#subline")).to_have_text(re.compile("[1-8] of 9 explained"))
    page.locator("#table").get_by_role("button", name="Stop").click()
    resume = page.locator("#table").get_by_role("button", name=re.compile("Go on with [1-8]"))
    expect(resume).to_be_visible()
    explained = page.locator("#subline").inner_text()
    page.reload()
    expect(page.locator("#subline")).to_have_text(explained)
    resume.click()
    expect(page.locator("#subline")).to_have_text("9 of 9 explained")


def test_a_molecule_is_drawn_and_an_answer_edited_by_hand(page):
    """The models say at once what they think of what is drawn."""
    molecule(page, MUTAGEN)
    page.get_by_role("button", name="Draw", exact=True).click()
    verdict = page.locator("#editor-verdict")
    expect(verdict).to_contain_text("classifier: mutagen")
    expect(verdict).to_contain_text("trees: mutagen")
    expect(page.locator("#canvas")).to_have_attribute("data-as-drawn", "true")
    page.get_by_role("button", name="Close", exact=True).click()
    explain(page)
    changed = page.locator("#subline").inner_text().split(" → ")[1]
    page.get_by_role("button", name="Edit it by hand").click()
    expect(verdict).to_contain_text("Wanted: nonmutagen")
    expect(verdict).to_contain_text("✓ classifier: nonmutagen")
    expect(page.locator("#canvas")).to_have_attribute("data-as-drawn", "true")
    page.get_by_role("button", name="Use this molecule").click()
    expect(page.locator("#before svg")).to_be_visible()
    expect(page.locator("#details")).to_be_hidden()
    expect(page.locator("#subline")).to_have_text(changed)
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(verdict).to_contain_text("classifier: nonmutagen")
    page.get_by_role("button", name="Use and explain").click()
    expect(page.locator("#subline")).to_contain_text(f"{changed} →")


def test_it_is_colored_where_it_matters_and_copied(page):
    """Colors come with a legend and can be switched off; buttons copy; limits are said before they are hit."""
    expect(page.locator("#smiles-hint")).to_contain_text(re.compile(r"Up to 50 atoms.*up to 200 rows"))
    molecule(page, MUTAGEN)
    explain(page)
    colors = page.locator("#before circle.toward, #before circle.away")
    expect(colors).to_have_count(5)
    expect(colors.first).to_be_hidden()
    page.get_by_label("Where it matters").check()
    expect(colors.first).to_be_visible()
    expect(page.locator("#matters-legend")).to_be_visible()
    expect(page.locator("#matters-legend")).to_contain_text("changes here lead to the target")
    expect(page.locator("#matters-most")).to_contain_text(re.compile(r"strongest color is a change of 0\.\d"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy SMILES").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    after = page.locator("#subline").inner_text().split(" → ")[1]
    assert page.evaluate("() => navigator.clipboard.readText()") == after
    page.get_by_role("button", name="Copy link").click()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url


def test_all_options_of_the_command_line_are_asked(page):
    """They are in the address, too, and are restored from it."""
    molecule(page, MUTAGEN)
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Most edits").fill("6")
    page.get_by_label("Keep what matches (SMARTS)").fill("N=O")
    page.get_by_label("Cl", exact=True).uncheck()
    page.get_by_label("Least confidence").fill("0.6")
    expect(page.locator("#more-count")).to_have_text("4 set")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#stage[data-job]")).to_be_visible()
    job = page.locator("#stage").get_attribute("data-job")
    asked = page.evaluate(f"() => fetch('/api/jobs/{job}').then((answer) => answer.json())")["asked"]
    wanted = {"budget": 6, "freeze_smarts": ["N=O"], "forbid_node_types": ["Cl"], "confidence": 0.6}
    assert wanted.items() <= asked.items()
    assert not {"atom-3", "atom-4"} & set(page.evaluate(MARKED)), "what matches stays"
    expect(page.locator("#python")).to_contain_text("freeze_smarts=('N=O',)")
    page.reload()
    expect(page.locator("#stage[data-job]")).to_be_visible()
    expect(page.get_by_label("Most edits")).to_have_value("6")
    expect(page.get_by_label("Cl", exact=True)).not_to_be_checked()
    expect(page.locator("#more-count")).to_have_text("4 set")
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Least confidence").fill("2")
    page.get_by_role("button", name="Explain", exact=True).click()
    assert page.get_by_label("Least confidence").evaluate("(field) => !field.validity.valid")
