"""The viewer in a real browser: what a person does, with mouse, keyboard and reload; nothing lands in the console."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .browsing import CHROMIUM, MUTAGEN, enter, explain, molecule

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")


def test_a_person_explains_a_molecule(page, tmp_path):
    """Enter, explain, slide, freeze, explain again, undo, download, reload."""
    molecule(page, MUTAGEN)
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
    expect(page.locator("#undo-text")).to_contain_text(re.compile("nonmutagen|no molecule"))
    expect(page.locator("#after-title")).to_have_text(re.compile("With changes undone|No molecule"))
    change.check()
    expect(page.locator("#undo-text")).to_be_hidden()

    kept = {
        kind: downloaded(page, kind, tmp_path)
        for kind in ("SMILES", "SVG", "SDF", "CSV", "Report", "JSON lines", "Python")
    }
    assert kept["SMILES"].splitlines()[0].split()[0] == MUTAGEN
    assert kept["SVG"].startswith("<svg")
    assert kept["SDF"].count("$$$$") == 2
    assert MUTAGEN in kept["CSV"]
    assert "<!doctype html>" in kept["Report"]
    record = json.loads(kept["JSON lines"])
    assert record["flipped"]
    assert record["smiles"]["factual"] == MUTAGEN
    assert "graphflip" in kept["Python"]

    answer = page.get_by_role("heading", level=1).inner_text()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(answer)
    expect(page.get_by_label("Molecule", exact=True)).to_have_value(MUTAGEN)


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
    expect(page.locator("#freeze-hint")).to_contain_text("Write numbers")
    expect(page.get_by_label("Keep as it is")).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize(
    ("smiles", "says"),
    [
        ("c1ccc", "ring 1 is not closed"),
        ("C" * 300, "at most 200 characters"),
        ("C(C)(C)(C)(C)C", "Atom 0 (C) has too many bonds: 5 in all"),
    ],
    ids=["bad", "long", "bonds"],
)
def test_a_molecule_that_cannot_be_used_is_said_beside_the_field(page, smiles, says):
    before = page.locator("#before").inner_html()
    enter(page, smiles)
    field = page.get_by_label("Molecule", exact=True)
    expect(page.locator("#problem")).to_contain_text(says)
    expect(field).to_have_attribute("aria-invalid", "true")
    assert "smiles-hint" in field.get_attribute("aria-describedby")
    expect(page.locator("#smiles-hint")).to_contain_text("cannot be used")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#details")).to_be_hidden()
    molecule(page, "CO")
    expect(page.locator("#problem")).to_be_hidden()
    assert page.locator("#before").inner_html() != before


def test_alternatives_and_files(page, tmp_path):
    file = tmp_path / "mine.smi"
    file.write_text(f"{MUTAGEN} first\nCO second\n(( broken\n")
    page.locator("#file").set_input_files(file)
    expect(page.locator("#table tbody tr")).to_have_count(3)
    expect(page.locator("#table")).to_contain_text("a parenthesis is not closed")
    page.get_by_role("button", name="first").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("First is predicted mutagen")
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
    job = page.locator("#stage").get_attribute("data-job")
    record = page.evaluate(f"() => fetch('/api/jobs/{job}').then((answer) => answer.json())")
    saved = tmp_path / "counterfactuals.jsonl"
    saved.write_text("".join(json.dumps(one["record"]) + "\n" for one in record["answers"]))
    page.locator("#file").set_input_files(saved)
    expect(page.locator("#table tbody tr")).to_have_count(len(record["answers"]))
    page.locator("#table tbody button").first.click()
    expect(page.locator("#details")).to_be_visible()
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")


def test_values_of_directed_graphs(page, flow):
    page.get_by_label("Model").select_option("flow")
    expect(page.get_by_role("heading", level=1)).to_have_text("Open a file of graphs to begin")
    expect(page.get_by_role("textbox", name="Graph")).to_be_disabled()
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#problem")).to_contain_text("Open a file of graphs")
    page.locator("#file").set_input_files(flow / "graphs.jsonl")
    page.get_by_role("button", name="graph 0").click()
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
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#problem")).to_contain_text("A target must be")
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
    expect(page.locator("#table")).to_be_hidden()
