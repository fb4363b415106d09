"""The page without a mouse: everything but the drawing of molecules is done with the keyboard, and focus is seen."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from .browsing import CHROMIUM, MUTAGEN

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="install chromium to test the viewer in a browser")

NUM_STOPS = 150
"""More places than a page has that the Tab key can reach."""
IS_SEEN = """(element) => [element, element.nextElementSibling, element.closest("label"), element.closest("svg")].some(
    (one) => one && (getComputedStyle(one).outlineStyle !== "none" || getComputedStyle(one).boxShadow !== "none"))
    || element.matches("[role=checkbox]")"""


def reach(page: Page, wanted: Locator) -> Locator:
    """Press Tab until the focus is there, and see that it is shown."""
    expect(wanted).to_be_visible()
    for _ in range(NUM_STOPS):
        if wanted.evaluate("(element) => element === document.activeElement"):
            assert wanted.evaluate(IS_SEEN), f"focus is not seen on {wanted}"
            return wanted
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {wanted}")


def press(page: Page, wanted: Locator, *keys: str) -> None:
    reach(page, wanted)
    for key in keys:
        page.keyboard.press(key)


def entered(page: Page, event: Callable[..., Any], wanted: Locator) -> Any:
    """Press Enter there and return what it leads to; again if the page was drawn anew between focus and key."""
    for _ in range(8):
        reach(page, wanted)
        with suppress(TimeoutError):
            with event(timeout=15_000) as found:
                page.keyboard.press("Enter")
            return found.value
    raise AssertionError(f"Enter does nothing on {wanted}")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_a_question_is_asked_and_its_answers_are_used(page):
    """Enter, choose, keep, explain, compare answers, slide, undo, color, take along, ask again."""
    reach(page, page.get_by_label("Molecule", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type(MUTAGEN)
    press(page, page.get_by_role("radio", name="Balanced"), "ArrowLeft")
    expect(page.get_by_role("radio", name="Minimal")).to_be_checked()
    expect(page.locator("#subline")).to_have_text(MUTAGEN)
    press(page, page.get_by_label("Target", exact=True), "ArrowDown", "ArrowUp")
    press(page, page.get_by_label("Answers"), "ArrowDown")
    expect(page.get_by_label("Answers")).to_have_value("3")
    press(page, page.get_by_label("All bonds of rings"), "Space")
    press(page, page.locator("summary", has_text="More options"), "Enter")
    reach(page, page.get_by_label("Most edits"))
    page.keyboard.type("9")
    press(page, page.locator("#before [data-part][tabindex='0']"), "ArrowRight", "ArrowLeft", "Space")
    expect(page.get_by_label("Keep as it is")).to_have_value("0")
    press(page, button(page, "Explain"), "Enter")
    expect(page.locator("#details")).to_be_visible()
    tabs = page.get_by_role("radio", name="edit")
    expect(tabs).not_to_have_count(0)
    press(page, page.locator("#tabs [aria-checked=true]"), "ArrowRight")
    expect(tabs.nth(1)).to_be_focused()
    expect(page.locator("#before .quiet").first).to_be_visible()  # the field for numbers had the focus on the way
    press(page, page.get_by_label("Atom numbers"), "Space")
    expect(page.locator("#before .quiet").first).to_be_hidden()
    press(page, page.get_by_label("Where it matters"), "Space")
    expect(page.locator("#matters-legend")).to_be_visible()
    press(page, page.locator("summary", has_text="How far to trust"), "Enter")
    expect(page.locator("#trust-facts")).to_be_visible()
    expect(page.locator("#slider:enabled")).to_be_visible()
    press(page, page.get_by_role("slider"), "Home")
    expect(page.locator("#after-title")).to_have_text("On the way")
    page.keyboard.press("End")
    change = page.locator("#changes input").first
    press(page, change, "Space")
    expect(page.locator("#undo-text")).to_be_visible()
    expect(change).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator("#undo-text")).to_be_hidden()
    download = entered(page, page.expect_download, button(page, "SVG"))
    assert download.suggested_filename.endswith(".svg")
    press(page, button(page, "Copy SMILES"), "Enter")
    press(page, page.locator("#history-list a").first, "Enter")
    expect(page.locator("#details")).to_be_visible()
    press(page, button(page, "Switch between dark and light"), "Enter")


def test_answers_are_compared_and_a_question_is_cancelled(page):
    reach(page, page.get_by_label("Molecule", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type(MUTAGEN)
    press(page, page.get_by_role("radio", name="Balanced"), "ArrowLeft")
    press(page, button(page, "Explain"), "Enter")
    expect(page.locator("#details")).to_be_visible()
    press(page, button(page, "Compare preferences"), "Enter")
    expect(page.locator(".compared svg.gf")).to_have_count(3)
    press(page, page.locator(".compared").nth(1).get_by_role("link"), "Enter")
    expect(page.locator("#details")).to_be_visible()
    press(page, button(page, "Edit it by hand"), "Enter")
    expect(page.locator("#editor-verdict li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#editor")).to_be_hidden()
    expect(button(page, "Edit it by hand")).to_be_focused()
    reach(page, page.get_by_label("Molecule", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type("O=[N+]([O-])c1ccc2ccc3cccc4ccc1c2c34")
    press(page, page.get_by_label("Answers"), "End")
    press(page, button(page, "Explain"), "Enter")
    press(page, button(page, "Cancel"), "Enter")
    expect(button(page, "Explain")).to_be_focused()


def test_a_file_is_opened_explained_sorted_and_searched(page, tmp_path: Path):
    file = tmp_path / "mine.smi"
    file.write_text(f"{MUTAGEN} first\nCO second\n")
    entered(page, page.expect_file_chooser, button(page, "Open file")).set_files(file)
    press(page, button(page, "second"), "Enter")
    expect(page.locator("#subline")).to_have_text("CO")
    press(page, button(page, "← mine.smi"), "Enter")
    press(page, page.get_by_role("radio", name="Balanced"), "ArrowLeft")
    press(page, button(page, "Explain all 2"), "Enter")
    expect(page.locator("#subline")).to_have_text("2 of 2 explained")
    press(page, page.locator("#table").get_by_role("button", name="Name"), "Enter", "Enter")
    expect(page.locator("#table tbody tr").first).to_contain_text("second")
    reach(page, page.get_by_label("Find", exact=True))
    page.keyboard.type("first")
    expect(page.locator("#table tbody tr:visible")).to_have_count(1)
    press(page, page.locator("#table select"), "ArrowDown")
    press(page, page.get_by_role("link", name="first"), "Enter")
    expect(page.locator("#details")).to_be_visible()
    press(page, page.get_by_role("link", name="← mine.smi"), "Enter")
    download = entered(page, page.expect_download, page.locator("#table").get_by_role("button", name="CSV", exact=True))
    assert download.suggested_filename.endswith(".csv")
