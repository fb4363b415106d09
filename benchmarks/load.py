"""Many people at the viewer at a time: is every question answered, to the one who asked it, and do pages stay quick?

Usage: python benchmarks/load.py [--clients 50] [--seconds 60] [--tabs 4] [--visits 68] [--quick] [--out FILE]

The last line is JSON.

Each client is a browser session: it loads the page with all its files, looks at a molecule, asks for an explanation,
follows it, takes a change back, loads the page again, and so on. A server that has no room must say so with 429 or 503
and Retry-After; the client comes back then. A question is lost if it was accepted and neither answered nor given up
with a reason.

Then one person works while others compute: four tabs of chromium ask one question after the other, and in a fifth,
which is the one in front, the molecules of the gallery are entered and explained, each with two preferences. Times are
those of the fifth: until a molecule is drawn and classified (goal: 0.3 s), until a first answer is seen (goal: 2 s),
and until the one that was asked for is (two visits of nine wait for it; the others cancel it and go on).
"""

import argparse
import asyncio
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import aiohttp
from beside import MODEL, PREFERENCES, beside_others

from graphflip.data.molecules.famous import famous_molecules

ENDS = {"done", "failed", "cancelled"}
FILES = [
    file.name
    for file in (resources.files("graphflip.viewer") / "assets").iterdir()
    if file.name.endswith((".css", ".js", ".svg")) and not file.name.startswith(("docs", "openchemlib"))
]
GOALS = {"reading_ms": 300, "first_answer_ms": 2000}


@dataclass
class Tally:
    """What happened, for all clients together; times in seconds."""

    until: float
    first_loads: list[float] = field(default_factory=list)
    later_loads: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    mixed_up: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def check(self, fine: bool, what: str) -> None:
        if not fine:
            self.faults.append(what)


@dataclass
class Browser:
    """A session with a cache: the page is asked for each time, a file with a digest in its address once."""

    http: aiohttp.ClientSession
    tally: Tally
    kept: set[str] = field(default_factory=set)
    num_asked: int = 0

    def new_seed(self) -> int:
        """A seed that makes a question a new one, so that it is computed; answers do not depend on it."""
        self.num_asked += 1
        return self.num_asked

    async def load_page(self) -> None:
        """The page, then all files that it is made of."""
        began, is_first = time.perf_counter(), not self.kept
        (folder,) = set(re.findall(r"/assets/[0-9a-f]+/", await self._get("/")))
        missing = {folder + name for name in FILES} - self.kept
        await asyncio.gather(*map(self._get, missing))
        self.kept |= missing
        (self.tally.first_loads if is_first else self.tally.later_loads).append(time.perf_counter() - began)

    async def ask(self, address: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; where there is no room, the answer after coming back when told to. None when time is up."""
        while True:
            async with self.http.post(address, json=body) as answer:
                if answer.ok:
                    return await answer.json()
                after = answer.headers.get("retry-after", "")
                if answer.status not in (429, 503) or not after.isdigit():
                    self.tally.check(answer.status == 422, f"{address} {answer.status}")  # what is left is no molecule
                    return None
                self.tally.refusals[f"{answer.status} {address.rpartition('/')[2]}"] += 1
            if self.tally.is_over:
                return None
            await asyncio.sleep(int(after))

    async def follow(self, job: dict[str, Any]) -> dict[str, Any]:
        """A job when it has ended."""
        while job["state"] not in ENDS:
            async with self.http.get(f"/api/jobs/{job['id']}?seen={job['version']}&wait=20") as answer:
                job = await answer.json()
        return job

    async def _get(self, address: str) -> str:
        async with self.http.get(address) as answer:
            self.tally.check(answer.status == 200, f"{address} {answer.status}")
            return await answer.text()


def session(server: "Server") -> aiohttp.ClientSession:
    """A browser session: cookies of its own, and as many connections as a browser opens."""
    door, cookies = aiohttp.TCPConnector(limit=6), aiohttp.CookieJar(unsafe=True)
    headers = {"authorization": f"Bearer {server.token}"}
    return aiohttp.ClientSession(server.address, connector=door, cookie_jar=cookies, headers=headers)


async def client(number: int, server: "Server", tally: Tally) -> None:
    rng = random.Random(number)
    await asyncio.sleep(rng.random() * 2)
    async with session(server) as http:
        browser = Browser(http, tally)
        while not tally.is_over:
            molecule = rng.choice(famous_molecules())
            try:
                await visit(browser, molecule.smiles, f"{molecule.name} {number}")
            except aiohttp.ClientError as error:
                tally.faults.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(1 + rng.random())


async def visit(browser: Browser, smiles: str, name: str) -> None:
    tally, question = browser.tally, {"model": MODEL, "input": {"smiles": smiles}}
    await browser.load_page()
    began = time.perf_counter()
    seen = await browser.ask("/api/read", question)
    tally.looks.append(time.perf_counter() - began)
    if seen is None:
        return
    began = time.perf_counter()
    asked = {"prefer": "minimal", "seed": browser.new_seed()}
    job = await browser.ask("/api/jobs", question | {"id": name, "asked": asked})
    if job is None:
        return
    tally.accepted += 1
    job = await browser.follow(job)
    tally.answers.append(time.perf_counter() - began)
    tally.ended[job["state"] if job["state"] == "done" else job["message"]] += 1
    tally.mixed_up += any(one["record"]["id"] != name for one in job["answers"])
    if job["answers"] and job["answers"][0]["words"]:
        await browser.ask(f"/api/jobs/{job['id']}/answers/0/undo", {"undo": [0]})


@dataclass
class Server:
    """A viewer that runs: its process, its address, and the token that lets one in."""

    process: subprocess.Popen
    address: str
    token: str = "load"


def serve() -> Server:
    """A viewer in a process of its own, as a user starts it."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
    command = [sys.executable, "-m", "graphflip", "serve", "--port", str(port), "--token", Server.token, "--forget"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout or ():
        if "viewer is at" in line:
            break
    return Server(process, f"http://127.0.0.1:{port}")


async def run(server: Server, clients: int, seconds: float) -> Tally:
    tally = Tally(time.monotonic() + seconds)
    await asyncio.gather(*(client(number, server, tally) for number in range(clients)))
    return tally


def milliseconds(times: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(times) or [0.0]
    shares = {"median": 0.5, "p95": 0.95, "max": 1.0}
    return {name: round(1000 * ordered[min(len(ordered) - 1, int(s * len(ordered)))], 1) for name, s in shares.items()}


def summarize(tally: Tally) -> dict[str, Any]:
    return {
        "first_page_loads": len(tally.first_loads),
        "first_page_load_ms": milliseconds(tally.first_loads),
        "later_page_loads": len(tally.later_loads),
        "later_page_load_ms": milliseconds(tally.later_loads),
        "look_ms": milliseconds(tally.looks),
        "questions": tally.accepted,
        "answered": dict(tally.ended),
        "lost": tally.accepted - tally.ended.total(),
        "mixed_up": tally.mixed_up,
        "polite_refusals": dict(tally.refusals),
        "faults": len(tally.faults),
        "seconds_to_answer": round(statistics.median(tally.answers), 2) if tally.answers else None,
    }


class Others:
    """Other programs of the machine: how many cores they have kept busy since this object was made."""

    def __init__(self) -> None:
        self.began, self.all, self.own = time.monotonic(), _busy_seconds(), _own_seconds()

    def cores(self) -> float:
        """Cores that others kept busy, on average."""
        others = _busy_seconds() - self.all - _own_seconds() + self.own
        return round(max(0.0, others) / (time.monotonic() - self.began), 2)


def _busy_seconds() -> float:
    """Processor time that all programs of the machine have had."""
    idle, waiting = 3, 4
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks[k] for k in range(8) if k not in (idle, waiting)) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Processor time of this program, of all that it has started, and of those that have ended."""
    family, total = {os.getpid()}, 0.0
    for _ in range(6):  # children of children of …
        family |= {pid for pid, (parent, _) in _processes().items() if parent in family}
    for pid, (_, seconds) in _processes().items():
        total += seconds if pid in family else 0.0
    return total


def _processes() -> dict[int, tuple[int, float]]:
    """Parent and processor time, with that of ended children, of each process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            found[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--tabs", type=int, default=4, help="tabs that compute while one person works")
    parser.add_argument("--quick", action="store_true", help="five clients for five seconds")
    parser.add_argument("--visits", type=int, default=68, help="molecules that the one person enters and explains")
    parser.add_argument("--out", type=Path, help="keep the figures in this file")
    options = parser.parse_args()
    clients, seconds = (5, 5.0) if options.quick else (options.clients, options.seconds)
    visits = 4 if options.quick else options.visits
    famous_molecules()
    server, others = serve(), Others()
    try:
        beside = asyncio.run(beside_others(server.address, server.token, options.tabs, visits))
        disturbed, others = others.cores(), Others()
        tally = asyncio.run(run(server, clients, seconds))
    finally:
        server.process.terminate()
        server.process.wait(timeout=20)
    machine = {"cores": os.cpu_count(), "cores_busy_with_other_programs": others.cores()}
    working = {"tabs_computing": options.tabs, "visits": len(beside.reading)}
    working |= {"questions_of_others": beside.asked_by_others}
    working |= {"cores_busy_with_other_programs": disturbed, "goals": GOALS, "reading_ms": milliseconds(beside.reading)}
    both = [one for times in beside.first.values() for one in times]
    working |= {"first_answer_ms": milliseconds(both)}
    for name in PREFERENCES:
        working |= {f"first_answer_{name.lower()}_ms": milliseconds(beside.first[name])}
        working |= {f"whole_answer_{name.lower()}_ms": milliseconds(beside.last[name])}
    result = {"clients": clients, "seconds": seconds, **machine, **summarize(tally), "one_person_beside": working}
    for fault in tally.faults[:10]:
        print("fault:", fault)
    if options.out:
        command = " ".join(["python benchmarks/load.py", *sys.argv[1:]])
        options.out.write_text(json.dumps({"command": command, **result}, indent=1) + "\n")
    for name in [name for name in working if name.endswith("_ms")]:
        print(f"{name} while {options.tabs} other tabs compute: {working[name]}")
    print(f"cores busy with other programs meanwhile: {disturbed}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
