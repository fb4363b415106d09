"""Faults that a chemist met in half an hour at the page; each was seen in a browser before it was mended."""

import json
import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Route, expect

from .browsing import CHROMIUM, MUTAGEN, enter, explain, molecule, opened

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")

LARGE = "O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34"
SPOTS = """() => Object.fromEntries([...document.querySelectorAll("#before [class^=atom-] circle.spot")].map((e) =>
    [e.parentNode.classList[0], [Number(e.getAttribute("cx")), Number(e.getAttribute("cy"))]]))"""


def headline(page: Page):
    return page.get_by_role("heading", level=1)


def test_nothing_moves_under_the_pointer_and_the_stage_belongs_to_the_field(page):
    """After an error the first click on Explain counts; what is wrong is said in the place of what was right."""
    molecule(page, MUTAGEN)
    explain(page)
    button = page.get_by_role("button", name="Explain", exact=True)
    place = button.bounding_box()
    page.get_by_label("Molecule", exact=True).fill("c1ccccc1C((")
    button.click()
    expect(page.get_by_label("Molecule", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#problem")).to_contain_text("a parenthesis is not closed")
    expect(page.locator("#before svg")).to_be_hidden()
    expect(page.locator("#details")).to_be_hidden()
    assert button.bounding_box() == place
    page.get_by_label("Molecule", exact=True).fill("Nc1ccccc1")
    page.get_by_role("radio", name="Minimal").check()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    assert button.bounding_box() == place
    page.mouse.up()
    expect(page.locator("#details")).to_be_visible()
    expect(page.locator("#subline")).to_contain_text("Nc1ccccc1 →")
    page.get_by_label("Molecule", exact=True).fill("")
    page.get_by_label("Molecule", exact=True).blur()
    expect(headline(page)).to_have_text("Enter a molecule to begin")
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator("#before svg")).to_be_hidden()


def keep_busy(page) -> int:
    """Ask questions that take long, so that the next one is not answered at once; return their number."""
    asked = [{"smiles": f"O=[N+]([O-])c1ccc2ccc3cc({group})cc4ccc1c2c34"} for group in ("C", "Cl", "O", "N", "F")]
    status = page.evaluate(
        """(inputs) => Promise.all(inputs.map((input) => fetch("/api/jobs", {
            method: "POST", headers: {"content-type": "application/json"},
            body: JSON.stringify({model: "mutagenicity", input, asked: {frontier: true, prefer: "believable"}}),
        }).then((answer) => answer.status)))""",
        asked,
    )
    assert status == [202] * len(asked)
    return len(asked)


def test_a_question_has_an_address_from_the_moment_it_is_asked(page):
    """It survives a reload while it is computed, as one job; back and forward lead from question to question."""
    molecule(page, MUTAGEN)
    explain(page)
    first, said = page.url, headline(page).inner_text()
    assert "smiles=CN" in first
    assert "prefer=minimal" in first
    others = keep_busy(page)
    molecule(page, LARGE)
    page.get_by_label("Answers").select_option("frontier")
    page.get_by_role("radio", name="Believable").check()
    page.get_by_role("button", name="Explain", exact=True).click()
    page.wait_for_url(re.compile("frontier=true"))
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    expect(page.get_by_label("Molecule", exact=True)).to_have_value(LARGE)
    expect(page.get_by_role("radio", name="Believable")).to_be_checked()
    jobs = page.evaluate("() => fetch('/api/jobs').then((answer) => answer.json())")
    assert len(jobs) == 2 + others
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("#problem")).to_have_text("Cancelled.")
    page.go_back()
    expect(headline(page)).to_have_text(said)
    assert page.url == first
    expect(page.get_by_label("Molecule", exact=True)).to_have_value(MUTAGEN)
    page.go_forward()
    expect(page.get_by_label("Molecule", exact=True)).to_have_value(LARGE)
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("#problem")).to_have_text("Cancelled.")


def test_progress_never_goes_back_and_is_not_full_before_the_end(page):
    molecule(page, LARGE)  # a search of many rounds; how many of them the page is told depends on the machine
    page.evaluate(
        """() => {
            window.seen = [];
            const bar = document.getElementById("bar");
            const note = () => bar.hasAttribute("value") && window.seen.push(bar.value);
            new MutationObserver(note).observe(bar, { attributes: true });
        }"""
    )
    page.get_by_label("Answers").select_option("frontier")
    explain(page, "Believable")
    seen = page.evaluate("() => window.seen")
    assert len(seen) > 1, seen
    assert seen == sorted(seen)
    assert seen[-1] < 1


def test_clicking_through_answers_asks_for_one_path_at_a_time(page):
    """Paths that nobody waits for are given up, and the next molecule is read at once."""
    molecule(page, MUTAGEN)
    page.get_by_label("Answers").select_option("3")
    held: list[Route] = []
    page.route("**/path", lambda route: held.append(route))
    gone: list[str] = []
    page.on("requestfailed", lambda request: gone.append(request.url))
    explain(page)
    tabs = page.get_by_role("radio", name="edit")
    expect(tabs.nth(1)).to_be_visible()
    for number in (1, 0, 1, 0, 1, 0, 1, 0):
        tabs.nth(number).click()
        expect(tabs.nth(number)).to_have_attribute("aria-checked", "true")
    molecule(page, "CO")
    assert len(held) == 9
    assert len([url for url in gone if url.endswith("/path")]) == 9


def test_what_is_needed_is_needed_and_what_is_impossible_is_no_success(page):
    """The page's own check boxes agree with what it says beside them; what is left of an answer may be no molecule."""
    molecule(page, MUTAGEN)
    spots = page.evaluate(SPOTS)
    explain(page)
    assert same_drawing(spots, page.evaluate(SPOTS))
    boxes, rows = page.locator("#changes input"), page.locator("#changes li").all_inner_texts()
    of_all = page.locator("#changes-count").inner_text()
    assert rows
    for number, row in enumerate(rows):
        said = row if "need" in row else of_all
        assert "need" in said
        boxes.nth(number).uncheck()
        holds = "not for the class" in said or "not needed" in said
        expect(page.locator("#undo-text")).to_contain_text("Still" if holds else re.compile("No longer|no molecule"))
        assert same_drawing(spots, page.evaluate(SPOTS))
        expect(page.locator("#path")).to_be_hidden()
        boxes.nth(number).check()
        expect(page.locator("#undo-text")).to_be_hidden()
    expect(page.locator("#path")).to_be_visible()
    page.route("**/undo", broken)
    boxes.first.uncheck()
    expect(headline(page)).to_contain_text("it is no molecule")
    expect(page.locator("#undo-text")).to_contain_text("no molecule")
    expect(page.locator("#after-title")).to_have_text("No molecule")


def broken(route: Route) -> None:
    """An answer without a change, as if what is left were no molecule."""
    response = route.fetch()
    answer = response.json() | {"is_molecule": False}
    answer["record"] |= {"flipped": True, "smiles": {"factual": MUTAGEN, "counterfactual": None}}
    route.fulfill(response=response, body=json.dumps(answer))


def same_drawing(one: dict, other: dict) -> bool:
    """Two drawings of one molecule are the same but for where they begin."""
    (x, y), (u, v) = one["atom-0"], other["atom-0"]
    moved = {key: (a - x + u, b - y + v) for key, (a, b) in one.items()}
    return all(abs(moved[key][k] - other[key][k]) < 0.3 for key in moved.keys() & other.keys() for k in (0, 1))


def test_what_the_model_does_not_see_and_why_something_cannot_be_used(page):
    """Stereo marks, sizes, salts, and numbers that can be written are seen."""
    enter(page, "C[C@H](N)C(=O)O")
    expect(page.locator("#note")).to_contain_text("Stereo marks are not seen by the model")
    expect(page.locator("#subline")).to_have_text("C[C@H](N)C(=O)O")
    expect(page.locator("#before .quiet").first).to_be_hidden()
    page.get_by_label("Keep as it is").focus()
    expect(page.locator("#before .quiet").first).to_be_visible()
    explain(page)
    expect(page.locator("#note")).to_contain_text("kept at 1 of 1 places, where nothing changed")
    expect(page.locator("#subline")).to_have_text(re.compile("→.*@"))
    enter(page, "[13CH3]C(=O)O")
    expect(page.locator("#note")).to_contain_text("Isotopes are not seen by the model")
    enter(page, "C" * 70)
    expect(page.locator("#problem")).to_have_text(
        "This model takes molecules of at most 50 atoms, hydrogens included; this one has 212."
    )
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Of a salt, its largest part").uncheck()
    enter(page, "CC(=O)[O-].[Na+]")
    expect(page.locator("#problem")).not_to_contain_text("from_smiles")
    page.get_by_role("button", name="Use the neutral parent").click()
    expect(page.locator("#subline")).to_have_text("CC(=O)O")
    expect(page.get_by_label("Of a salt, its largest part")).to_be_checked()


def test_what_comes_of_a_question_is_seen_from_the_end_of_a_long_form(page):
    page.set_viewport_size({"width": 1200, "height": 600})
    molecule(page, MUTAGEN)
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Keep what matches (SMARTS)").fill("c1cc(")
    ask = page.get_by_role("button", name="Explain", exact=True)
    ask.click()
    expect(page.locator("#problem")).to_contain_text("must be SMARTS patterns")
    expect(page.locator("#problem")).to_be_in_viewport()
    page.get_by_label("Keep what matches (SMARTS)").fill("")
    page.get_by_role("radio", name="Minimal").check()
    ask.click()
    expect(page.locator("#details")).to_be_visible()
    expect(headline(page)).to_be_in_viewport()


def test_reasons_to_trust_are_one_click_away(page):
    page.route("**/api/read", nearly_even)
    enter(page, "CCN(CC)N=O")
    expect(headline(page)).to_contain_text("but the classifier is unsure: 0.52")
    page.locator("summary", has_text="How far to trust").click()
    facts = page.locator("#trust-facts")
    expect(facts).to_contain_text("of 100 test graphs")
    expect(facts).to_contain_text("unsure")
    expect(facts).to_contain_text("has this very molecule, labeled mutagen: here the classifier is wrong")
    expect(facts.locator("code").first).to_have_text("CCN(CC)N=O")
    expect(facts).to_contain_text("Judge: trees")


def nearly_even(route: Route) -> None:
    response = route.fetch()
    even = {"prediction": {"mutagen": 0.48, "nonmutagen": 0.52}}
    route.fulfill(response=response, body=json.dumps(response.json() | even))


def test_slow_reads_do_not_mix_and_enter_explains(page):
    """While one text is read another is typed: the last one counts. A name, an InChI and a MOL block are read, too."""
    held: list[Route] = []
    slow = lambda route: held.append(route) if len(held) < 2 else route.continue_()  # noqa: E731
    page.route("**/api/read", slow)
    page.get_by_label("Molecule", exact=True).fill("((")
    page.get_by_role("button", name="Explain", exact=True).click()
    page.get_by_label("Molecule", exact=True).fill("CO methanol")
    page.get_by_label("Molecule", exact=True).blur()
    for _ in range(200):  # both readings are on their way
        if len(held) < 2:
            page.wait_for_timeout(50)
    older, newer = held
    newer.continue_()
    about = page.locator("#subline")  # the button was pressed: what stands in the field now is explained
    expect(about).to_contain_text(re.compile("^CO( →|$)"))
    with suppress(Error):  # the page has given it up
        older.continue_()
    page.wait_for_timeout(1000)
    expect(about).to_contain_text(re.compile("^CO( →|$)"))
    expect(page.locator("#problem")).to_be_hidden()
    enter(page, "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3")
    expect(page.locator("#subline")).to_have_text("CCO")
    page.get_by_role("radio", name="Minimal").check()
    page.get_by_label("Molecule", exact=True).fill(MUTAGEN)
    page.get_by_label("Molecule", exact=True).press("Enter")
    expect(page.locator("#subline")).to_contain_text(f"{MUTAGEN} →")


def test_files_of_all_kinds_and_links_of_other_servers(context, page, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text(f"SMILES,Compound Name\n{MUTAGEN},first one\nCO,second one\n")
    page.locator("#file").set_input_files(table)
    page.get_by_role("button", name="second one").click()
    expect(headline(page)).to_contain_text("Second one is predicted")
    page.get_by_role("button", name="← mine.csv").click()
    expect(page.locator("tr[aria-current=true]")).to_contain_text("second one")
    block = "\n  x\n\n  2  1  0  0  0  0            999 V2000\n"
    block += "".join(f"    {x}.0000    0.0000    0.0000 {a}   0  0\n" for x, a in ((0, "C"), (1, "O")))
    (tmp_path / "one.mol").write_text(f"{block}  1  2  1  0\nM  END\n")
    page.locator("#file").set_input_files(tmp_path / "one.mol")
    expect(page.locator("#subline")).to_have_text("CO")
    elsewhere = context.new_page()
    elsewhere.goto("/#model=unknown&smiles=CO&prefer=minimal")
    expect(elsewhere.locator("#problem")).to_contain_text("which this server does not have")
    elsewhere.goto("about:blank")
    elsewhere.goto("/#job=nothing&answer=0")
    expect(elsewhere.locator("#problem")).to_contain_text("only the browser that made it has")
    shared = opened(context, f"/#model=mutagenicity&smiles={MUTAGEN}&name=NDMA&prefer=minimal")
    expect(shared.locator("#details")).to_be_visible()
    expect(shared.get_by_role("radio", name="Minimal")).to_be_checked()


def test_what_is_written_while_the_page_starts_is_not_overwritten(context):
    """The example that the page begins with does not take the place of a molecule that somebody has entered."""
    page, held = context.new_page(), []
    page.route("**/api/service", lambda route: held.append(route))
    page.goto("/", wait_until="commit")
    page.get_by_label("Molecule", exact=True).fill("Nc1ccccc1")
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    expect(page.locator("#before svg")).to_be_visible()
    expect(page.locator("#subline")).to_have_text("Nc1ccccc1")
    expect(page.get_by_label("Molecule", exact=True)).to_have_value("Nc1ccccc1")
