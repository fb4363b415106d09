"""A person at the page: opens it, enters a molecule, and explains it."""

import shutil

from playwright.sync_api import BrowserContext, Page, expect

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
MUTAGEN = "CN(C)N=O"
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)  # on a busy machine everything takes longer; nothing here is about how long


def opened(context: BrowserContext, address: str = "/") -> Page:
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#before svg")).to_be_visible()
    return page


def enter(page: Page, smiles: str) -> None:
    """Write a molecule into the field, and leave it."""
    page.get_by_label("Molecule", exact=True).fill(smiles)
    page.get_by_label("Molecule", exact=True).blur()


def molecule(page: Page, smiles: str) -> None:
    """Enter a molecule, and wait until it is on the stage."""
    enter(page, smiles)
    expect(page.locator("#subline")).to_have_text(smiles)
    expect(page.locator("#before svg")).to_be_visible()


def explain(page: Page, prefer: str = "Minimal") -> None:
    """Explain, and wait for the answer."""
    page.get_by_role("radio", name=prefer).check()
    page.evaluate("() => { delete document.getElementById('stage').dataset.job; }")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#stage[data-job]")).to_be_visible()
    expect(page.locator("#details")).to_be_visible()
