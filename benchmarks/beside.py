"""One person at the page in chromium while other tabs compute: how long until something is seen? See load.py."""

import asyncio
import json
import shutil
from dataclasses import dataclass, field
from typing import Any

from graphflip.data.molecules.famous import famous_molecules

MODEL = "ames"
PREFERENCES = ("Minimal", "Balanced")


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

    seen, molecules = Seen(), [one.smiles for one in famous_molecules()]
    chromium = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
    async with async_playwright() as engine:
        browser = await engine.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = await browser.new_context(base_url=address)
        page = await context.new_page()
        await page.goto(f"/?token={token}")
        await page.locator("#before svg").wait_for()
        await look_at(page, "CO")
        await explained(page, "Minimal")  # with that the browser has a session
        others = [await context.new_page() for _ in range(tabs)]
        for number, other in enumerate(others, start=1):
            await other.goto("/docs")
            await other.evaluate(f"(given) => {{ ({COMPUTE})(given); }}", [MODEL, molecules, number])
        await asyncio.sleep(3)
        for k in range(visits):
            prefer = PREFERENCES[k % 2]
            seen.reading.append(await look_at(page, molecules[k // 2 % len(molecules)]))
            first, last = await explained(page, prefer)
            seen.first[prefer].append(first)
            seen.last[prefer].append(last)
            await look_at(page, "CO")
        seen.asked_by_others = sum([await other.evaluate("window.stopped = true, window.numAsked") for other in others])
        await browser.close()
    return seen


async def look_at(page: Any, smiles: str) -> float:
    """Enter a molecule; seconds until it is drawn and classified."""
    await page.get_by_label("Molecule", exact=True).fill(smiles)
    return await _until(page, "document.activeElement.blur()", f"subline.textContent === {json.dumps(smiles)}")


async def explained(page: Any, prefer: str) -> tuple[float, float]:
    """Ask for an explanation of what is on the stage; seconds until an answer is seen, and until the last one is."""
    await page.get_by_role("radio", name=prefer).check()
    began = "document.getElementById('explain').click()"
    first = await _until(page, began, "(stage.dataset.first || stage.dataset.job) && !details.hidden")
    return first, first + await _until(page, "", "stage.dataset.job && !details.hidden")


async def _until(page: Any, act: str, condition: str) -> float:
    """Seconds from an act until a condition holds and is painted, by the page's own clock; at most a minute."""
    names = "[stage, subline, details] = ['stage', 'subline', 'details'].map((id) => document.getElementById(id))"
    return await page.evaluate(
        f"""() => new Promise((done) => {{
            const {names}, began = performance.now();
            const passed = () => (performance.now() - began) / 1000;
            const end = () => requestAnimationFrame(() => setTimeout(() => done(passed())));
            const look = () => ({condition}) || passed() > 60 ? end() : setTimeout(look, 5);
            {act};
            look();
        }})"""
    )
