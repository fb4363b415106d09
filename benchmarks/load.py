"""Many people at the viewer at a time: is every question answered, to the one who asked it, and do pages stay quick?

Usage: python benchmarks/load.py [--clients 50] [--seconds 60] [--quick] [--out FILE]     (JSON on the last line)

Each client is a browser session: it loads the page with all its files, looks at a molecule, asks for an explanation,
follows it, takes a change back, and starts again. A server that has no room must say so with 429 or 503 and
Retry-After; the client comes back then. A question is lost if it was accepted and not answered.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import httpx

from graphflip.data.famous import famous_molecules

ENDS = {"done", "failed", "cancelled"}
ASSETS = [
    f"/assets/{file.name}"
    for file in (resources.files("graphflip.viewer") / "assets").iterdir()
    if file.name.endswith((".css", ".js", ".svg")) and not file.name.startswith("docs")
]


@dataclass
class Tally:
    """What happened, for all clients together."""

    page_loads: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    accepted: int = 0
    answered: int = 0
    mixed_up: int = 0
    polite: int = 0
    faults: list[str] = field(default_factory=list)


async def client(number: int, address: str, until: float, tally: Tally) -> None:
    rng = random.Random(number)
    await asyncio.sleep(rng.random() * 2)
    async with httpx.AsyncClient(base_url=address, timeout=60) as browser:
        while time.monotonic() < until:
            molecule = rng.choice(famous_molecules())
            try:
                await visit(browser, molecule.smiles, f"{molecule.name} {number}", until, tally, rng)
            except httpx.HTTPError as error:
                tally.faults.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(1 + rng.random())


async def visit(browser, smiles: str, name: str, until: float, tally: Tally, rng: random.Random) -> None:
    began = time.perf_counter()
    await load_page(browser, tally)
    tally.page_loads.append(time.perf_counter() - began)
    began = time.perf_counter()
    seen = await ask(browser, "POST", "/api/read", {"model": "mutagenicity", "input": {"smiles": smiles}}, until, tally)
    tally.looks.append(time.perf_counter() - began)
    if seen is None:
        return
    began = time.perf_counter()
    question = {"model": "mutagenicity", "input": {"smiles": smiles}, "id": name, "asked": {"prefer": "minimal"}}
    job = await ask(browser, "POST", "/api/jobs", question, until, tally)
    if job is None:
        return
    tally.accepted += 1
    while job["state"] not in ENDS:
        wanted = f"/api/jobs/{job['id']}?seen={job['version']}&wait=20"
        job = (await browser.get(wanted)).json()
    tally.answers.append(time.perf_counter() - began)
    tally.answered += job["state"] == "done"
    tally.mixed_up += any(one["record"]["id"] != name for one in job["answers"])
    if job["answers"] and job["answers"][0]["words"]:
        await ask(browser, "POST", f"/api/jobs/{job['id']}/answers/0/undo", {"undo": [0]}, until, tally)


async def load_page(browser, tally: Tally) -> None:
    """The page, then all files that it is made of, at once, as a browser does that sees it for the first time."""
    answers = [await browser.get("/")]
    answers += await asyncio.gather(*(browser.get(address) for address in ASSETS))
    for answer in answers:
        check(answer.status_code == 200, f"{answer.url.path} {answer.status_code}", tally)


async def ask(browser, method: str, address: str, body: dict, until: float, tally: Tally) -> dict | None:
    """The answer; where there is no room, the answer after coming back when told to. None when time is up."""
    while True:
        answer = await browser.request(method, address, json=body)
        if answer.is_success:
            return answer.json()
        polite = answer.status_code in (429, 503) and answer.headers.get("retry-after", "").isdigit()
        if not polite:
            check(answer.status_code == 422, f"{address} {answer.status_code}", tally)  # what is left is no molecule
            return None
        tally.polite += 1
        if time.monotonic() > until:
            return None
        await asyncio.sleep(int(answer.headers["retry-after"]))


def check(fine: bool, what: str, tally: Tally) -> None:
    if not fine:
        tally.faults.append(what)


def serve() -> tuple[subprocess.Popen, str]:
    """A viewer in a process of its own, as a user starts it."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
    command = [sys.executable, "-m", "graphflip", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in server.stdout or ():
        if "viewer is at" in line:
            break
    return server, f"http://127.0.0.1:{port}"


async def run(address: str, clients: int, seconds: float) -> Tally:
    tally, until = Tally(), time.monotonic() + seconds
    await asyncio.gather(*(client(number, address, until, tally) for number in range(clients)))
    return tally


def milliseconds(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="five clients for five seconds")
    parser.add_argument("--out", type=Path, help="keep the figures in this file")
    options = parser.parse_args()
    clients, seconds = (5, 5.0) if options.quick else (options.clients, options.seconds)
    busy = os.getloadavg()[0]
    server, address = serve()
    try:
        tally = asyncio.run(run(address, clients, seconds))
    finally:
        server.terminate()
        server.wait(timeout=20)
    result = {
        "clients": clients,
        "seconds": seconds,
        "cores": os.cpu_count(),
        "load_average_before": round(busy, 2),
        "page_loads": len(tally.page_loads),
        "page_load_ms": {"median": milliseconds(tally.page_loads, 0.5), "p95": milliseconds(tally.page_loads, 0.95)},
        "page_load_ms_max": milliseconds(tally.page_loads, 1.0),
        "look_ms": {"median": milliseconds(tally.looks, 0.5), "p95": milliseconds(tally.looks, 0.95)},
        "questions": tally.accepted,
        "answered": tally.answered,
        "lost": tally.accepted - tally.answered,
        "mixed_up": tally.mixed_up,
        "polite_refusals": tally.polite,
        "faults": len(tally.faults),
        "seconds_to_answer": round(statistics.median(tally.answers), 2) if tally.answers else None,
    }
    for fault in tally.faults[:10]:
        print("fault:", fault)
    if options.out:
        kept = {"command": "python benchmarks/load.py", **result}
        options.out.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
