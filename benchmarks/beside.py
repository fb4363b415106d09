"""One person at the page in chromium while other tabs compute: how long until something is seen? See load.py."""

import asyncio
import shutil
from dataclasses import dataclass, field
from typing import Any

from graphflip.data.molecules.famous import gallery_molecules

MODEL = "ames"
PREFERENCES = ("Minimal", "Balanced")
STAYS = 9
"""Of so many visits in a row, two wait for the whole answer; the others go on as soon as they have seen a first one."""


@dataclass
class Seen:
    """Times of a person at the page, in seconds: until a molecule is read, until the first and last answer is seen."""

    reading: list[float] = field(default_factory=list)
    first: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PREFERENCES})
    last: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PREFERENCES})
    asked_by_others: int = 0


COMPUTE = """async ([model, molecules, number]) => {
    const send = (path, body) => fetch(path, body && {method: "POST", body: JSON.stringify(body),
        headers: {"content-type": "application/json"}}).then((answer) => answer.json());
    const open = (job) => job.state === "waiting" || job.state === "running";
    const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
    window.numAsked = 0;
    for (let turn = 0; !window.stopped; turn += 1) {
        const input = {smiles: molecules[(turn * 5 + number * 3) % molecules.length]};
        let job = await send("/api/jobs", {model, input, asked: {seed: 1000 * number + turn}});
        while (job.id && open(job) && !window.stopped) {
            job = await send(`/api/jobs/${job.id}?seen=${job.version}&wait=15`);
        }
        if (job.id) window.numAsked += 1;
        else await pause();
    }
}"""
"""A tab asks one question after the other, as they are asked by default; seeds make each a new one."""


async def beside_others(address: str, token: str, tabs: int, visits: int) -> Seen:
    """Times at a page in chromium while this many other tabs of the same browser compute."""
    from playwright.async_api import async_playwright

    seen, molecules = Seen(), [one.smiles for one in gallery_molecules()]
    chromium = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
    async with async_playwright() as engine:
        browser = await engine.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = await browser.new_context(base_url=address)
        page = await context.new_page()
        await page.goto(f"/?token={token}")
        await page.locator("#before svg").wait_for()
        await look_at(page, "CO")
        await first_answer(page, "Minimal")
        await whole_answer(page)  # with that the browser has a session
        others = [await context.new_page() for _ in range(tabs)]
        for number, other in enumerate(others, start=1):
            await other.goto("/docs")
            await other.evaluate(f"(given) => {{ ({COMPUTE})(given); }}", [MODEL, molecules, number])
        await page.bring_to_front()  # a tab that is not seen asks for news once a second, and its clock is slow
        await asyncio.sleep(3)
        for k in range(visits):
            # All molecules with preferences in turn, then with the other one: no question is asked twice.
            smiles, prefer = molecules[k % len(molecules)], PREFERENCES[(k + k // len(molecules)) % 2]
            await visit(page, seen, smiles, prefer, stays=k % STAYS < 2)
        seen.asked_by_others = sum([await other.evaluate("window.stopped = true, window.numAsked") for other in others])
        await browser.close()
    return seen


async def visit(page: Any, seen: Seen, smiles: str, prefer: str, stays: bool) -> None:
    """Enter a molecule and ask about it; who does not stay for the whole answer cancels it after the first one."""
    seen.reading.append(await look_at(page, smiles))
    first = await first_answer(page, prefer)
    seen.first[prefer].append(first)
    if stays:
        seen.last[prefer].append(first + await whole_answer(page))
    else:
        await page.evaluate("document.getElementById('cancel').click()")
        await whole_answer(page)


async def look_at(page: Any, smiles: str) -> float:
    """Enter a molecule; seconds until it is drawn and classified."""
    await page.get_by_label("Molecule", exact=True).fill(smiles)
    return await _until(page, "document.activeElement.blur()", "stage.ariaBusy === 'false' && problem.hidden")


async def first_answer(page: Any, prefer: str) -> float:
    """Ask for an explanation of what is on the stage; seconds until an answer is seen."""
    await page.get_by_role("radio", name=prefer).check()
    ask = "document.getElementById('explain').click()"
    return await _until(page, ask, "(stage.dataset.first || stage.dataset.job) && !details.hidden")


async def whole_answer(page: Any) -> float:
    """Seconds until the search has ended."""
    return await _until(page, "", "stage.dataset.job && !details.hidden")


async def _until(page: Any, act: str, condition: str) -> float:
    """Seconds from an act until a condition holds and is painted, by the page's own clock."""
    names = "[stage, problem, details] = ['stage', 'problem', 'details'].map((id) => document.getElementById(id))"
    return await page.evaluate(
        f"""() => new Promise((done, fail) => {{
            const {names}, began = performance.now();
            const passed = () => (performance.now() - began) / 1000;
            const end = () => requestAnimationFrame(() => setTimeout(() => done(passed())));
            const late = () => fail(new Error("{act} {condition}: not within a minute"));
            const look = () => ({condition}) ? end() : passed() > 60 ? late() : setTimeout(look, 5);
            {act};
            look();
        }})"""
    )
