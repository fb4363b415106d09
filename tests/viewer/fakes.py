"""A worker that computes nothing and does what a test tells it to, and a client in the same event loop."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from graphflip.viewer.app import create_app
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.worker import AbstractWorker, Interrupted, Refused

HOST = "http://127.0.0.1:8765"
MODEL = {
    "name": "mutagenicity",
    "classes": ["mutagen", "nonmutagen"],
    "unit": "probability",
    "suggestion": "",
    "molecules": True,
    "directed": False,
    "max_nodes": 50,
    "has_path": True,
    "preferences": ["minimal", "balanced", "believable"],
    "examples": [],
}


class FakeWorker(AbstractWorker):
    """Echoes what it is asked. A SMILES "wait" is never done, nor is "first", which has a first answer, nor the path of
    "slow"; "bad" is refused, "crash" ends badly."""

    def __init__(self, host: object = None, nice: int = 0):
        self.models = [MODEL]
        self.interrupted: asyncio.Event | None = None
        self.reason = ""

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    def interrupt(self, reason: str) -> None:
        self.reason = reason
        self.interrupted.set()

    async def run(self, task, seconds, watch=lambda _: None):
        self.interrupted = asyncio.Event()
        smiles = task.get("input", {}).get("smiles") or task.get("record", {}).get("id")
        watch({"progress": {"turn": 1, "max_turns": 8, "calls": 5, "probability": 0.4}})
        if smiles == "first":
            watch({"answers": [answer(task)]})
        if smiles in ("wait", "first") or (smiles == "slow" and task["do"] == "path"):
            await self.interrupted.wait()
            raise Interrupted(self.reason)
        if smiles == "bad":
            raise Refused("A molecule must be written as SMILES. Correct it.")
        if smiles == "crash":
            raise RuntimeError("secret detail in secret/file.py")
        return RESULTS[task["do"]](task)


def answer(task) -> dict:
    return {
        "record": {
            "id": task.get("id") or task.get("input", {}).get("smiles", "") or task.get("record", {}).get("id", ""),
            "edits": [],
        },
        "goal": {"words": "nonmutagen", "unit": "probability"},
        "agreed": {},
        "words": [],
        "each_needed": "",
        "smaller": None,
        "num_edits": 1,
        "advice": "",
        "predictions": {"factual": {}, "counterfactual": None},
        "drawings": {"factual": "<svg/>", "counterfactual": "<svg/>"},
        "python": "",
    }


RESULTS = {
    "explain": lambda task: {"answers": [answer(task)]},
    "record": lambda task: {"answers": [answer(task)]},
    "undo": answer,
    "path": lambda task: {
        name: [] for name in ("positions", "probabilities", "predictions", "num_edits", "smiles", "drawings")
    },
    "match": lambda task: {"nodes": [1]},
    "export": lambda task: {"name": "a.csv", "type": "text/csv", "content": "YQ=="},
    "read": lambda task: {
        "input": task["input"],
        "smiles": None,
        "graph": {"nodes": [], "edges": []},
        "prediction": {},
        "drawing": "",
    },
}


@asynccontextmanager
async def running(**settings) -> AsyncIterator:
    """An application with fake workers, and a function that makes clients (browsers) of it."""
    app = create_app(ViewerConfig(**{"models": ("mutagenicity",), **settings}), make_worker=FakeWorker)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    clients = []

    def browser() -> httpx.AsyncClient:
        clients.append(httpx.AsyncClient(transport=transport, base_url=HOST))
        return clients[-1]

    async with app.router.lifespan_context(app):
        yield browser
        for client in clients:
            await client.aclose()


def question(smiles: str, **asked) -> dict:
    return {"model": "mutagenicity", "input": {"smiles": smiles}, "asked": asked}


async def ended(client: httpx.AsyncClient, job: str) -> dict:
    """A job when it has ended."""
    while True:
        now = (await client.get(f"/api/jobs/{job}", params={"wait": 5})).json()
        if now["state"] not in ("waiting", "running"):
            return now
        await asyncio.sleep(0.01)


def run(scenario, **settings):
    async def whole():
        async with running(**settings) as browser:
            await asyncio.wait_for(scenario(browser), 20)

    asyncio.run(whole())


async def asset(client, name: str) -> str:
    """The address that the page gives one of its files."""
    (address,) = set(re.findall(rf'"(/assets/[0-9a-f]+/{re.escape(name)})"', (await client.get("/")).text))
    return address
