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
