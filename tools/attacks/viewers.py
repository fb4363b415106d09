"""Attacks on the viewer: by people without its address, by those who ask too much, and by what files hold."""

import asyncio
import contextlib
import json
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, get_args, get_origin

import httpx
from pydantic import BaseModel

from graphflip.viewer.app import create_app
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.messages.views import Answer
from graphflip.viewer.queue import Job
from graphflip.viewer.sessions import Sessions
from graphflip.viewer.store import SessionStore
from graphflip.viewer.work.uploads import read_rows
from graphflip.viewer.worker import AbstractWorker

from .place import Place, attack

_MODEL = {"name": "kit", "classes": ["a", "b"], "unit": "probability", "suggestion": "", "molecules": True}
_MODEL |= {"directed": False, "max_nodes": 50, "has_path": False, "preferences": [], "examples": []}


def _empty(kind: Any) -> Any:
    """The emptiest value of a kind that the viewer's schema names: one that it gains needs no change here."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: _empty(field.annotation) for name, field in kind.model_fields.items() if field.is_required()}
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return None if type(None) in get_args(kind) else (get_origin(kind) or kind)()


class EchoWorker(AbstractWorker):
    """A worker without models, which answers with what it is given after a short time."""

    def __init__(self, host: object = None, nice: int = 0) -> None:
        self.models = [_MODEL]
        self.done: list[str] = []

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def interrupt(self, reason: str) -> None: ...

    async def run(self, task: dict[str, Any], seconds: float, watch: Any = None) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        if task["do"] == "read":
            return {"input": task["input"], "smiles": None, "graph": {"nodes": [], "edges": []}} | {
                "prediction": {},
                "drawing": "",
            }
        return {"answers": [_empty(Answer) | {"record": task.get("record", {"id": task.get("id", "")})}]}


@contextlib.asynccontextmanager
async def _running(**limits: Any) -> AsyncIterator[Any]:
    app = create_app(ViewerConfig(models=("kit",), **limits), make_worker=EchoWorker)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app):
        yield lambda: httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765")


def _question(smiles: str = "CO", **more: Any) -> dict[str, Any]:
    return {"model": "kit", "input": {"smiles": smiles}, **more}


@attack
def a_visitor_without_the_address(place: Place) -> None:
    """Nothing is served without the token: no page, no file of it, no API."""

    async def scenario() -> None:
        async with _running(token="secret") as browser:
            async with browser() as stranger:
                wrong = {"authorization": "Bearer wrong", "cookie": "graphflip_8765_key=wrong"}
                for address in ("/", "/?token=wrong", "/docs", "/openapi.json", "/api/service", "/api/jobs"):
                    assert (await stranger.get(address)).status_code == 401, address
                    assert (await stranger.get(address, headers=wrong)).status_code == 401, address
                assert (await stranger.post("/api/jobs?token=secret", json=_question())).status_code == 401
            async with browser() as friend:
                opened = await friend.get("/?token=secret", follow_redirects=True)
                assert opened.status_code == 200
                assert "secret" not in str(opened.url)
                assert (await friend.get("/api/service")).status_code == 200
            async with browser() as program:
                assert (await program.get("/api/jobs", headers={"authorization": "Bearer secret"})).status_code == 200

    asyncio.run(scenario())


@attack
def bad_requests_that_would_evict_others(place: Place) -> None:
    """Requests that are refused make no sessions; somebody else's results stay."""

    async def scenario() -> None:
        async with _running(max_sessions=20) as browser, browser() as victim:
            job = (await victim.post("/api/jobs", json=_question())).json()["id"]
            for k in range(60):
                async with browser() as other:
                    odd = [_question("C" * 501), _question(asked={"num": -1}), {"model": "none"}][k % 3]
                    answer = await other.post("/api/jobs", json=odd)
                    assert answer.status_code == 422
                    assert "set-cookie" not in answer.headers
            assert (await victim.get(f"/api/jobs/{job}")).status_code == 200

    asyncio.run(scenario())


@attack
def a_client_that_makes_many_sessions(place: Place) -> None:
    """It loses its own; a session of another client stays."""
    sessions = Sessions(20, 10**9, SessionStore(None, 100))
    victim = sessions.create("10.0.0.1")
    for _ in range(100):
        sessions.create("10.0.0.2")
    assert sessions.find(victim.token) is victim


@attack
def large_records_that_are_kept(place: Place) -> None:
    """A session keeps so many bytes, all sessions together so many."""
    sessions = Sessions(100, 300_000, SessionStore(None, 100))
    for _ in range(10):
        session = sessions.create()
        for _ in range(20):
            session.add(Job({"do": "record"}, state="done", answers=[{"text": "x" * 10_000}]), 30, 100_000)
        assert session.num_bytes <= 100_000
    assert sessions.num_bytes <= 400_000


@attack
def one_client_with_many_questions(place: Place) -> None:
    """Owners take turns, in the queue of searches and at the worker for quick tasks."""
    from graphflip.viewer.queue import JobQueue
    from graphflip.viewer.quick import QuickWorkers

    async def scenario() -> None:
        order: list[str] = []

        class Noting(EchoWorker):
            async def run(self, task: dict[str, Any], seconds: float, watch: Any = None) -> dict[str, Any]:
                order.append(task["id"])
                return await super().run(task | {"do": "explain"}, seconds)

        config = ViewerConfig()
        quick = QuickWorkers([Noting(config)], 50, 5.0)
        asked = [quick.run({"id": f"{who}{k}"}, who) for who, count in (("a", 6), ("b", 1)) for k in range(count)]
        await asyncio.gather(*asked)
        assert order.index("b0") <= 2, order
        order.clear()
        queue = JobQueue([Noting(config)], 50, 5.0)
        jobs = [Job({"id": f"{who}{k}"}, who) for who, count in (("a", 6), ("b", 1)) for k in range(count)]
        for job in jobs:
            queue.submit(job)
        await queue.start()
        while not all(job.ended for job in jobs):
            await asyncio.sleep(0.01)
        await queue.stop()
        assert order.index("b0") <= 1, order

    asyncio.run(scenario())


@attack
def a_file_with_a_long_smiles(place: Place) -> None:
    """The limit on SMILES holds in files, too: the entry is not parsed."""
    from graphflip.models.storage.store import load_model

    schema = load_model(place.kit / "classifier").schema
    for name, text in (("a.smi", f"CO\n{'C' * 24_000}\n"), ("a.csv", f"smiles\nCO\n{'C' * 24_000}\n")):
        first, long = read_rows(name, text, schema, 10, 500).rows
        assert first.problem is None
        assert "at most 500" in (long.problem or "")


@attack
def half_a_character_or_deep_nesting_in_a_record(place: Place) -> None:
    """Neither becomes an error of the server that stays in the list of jobs."""

    async def scenario() -> None:
        async with _running() as browser, browser() as client:
            deep = "[" * 900 + "]" * 900
            for record in ('{"id": "\\ud800"}', '{"id": "a", "\\udfff": 1}', f'{{"id": "a", "x": {deep}}}'):
                body = f'{{"model": "kit", "record": {record}}}'
                answer = await client.post("/api/records", content=body, headers={"content-type": "application/json"})
                assert answer.status_code in (200, 400, 422), answer.status_code
                assert (await client.get("/api/jobs")).status_code == 200
            for field in ("id", "model"):
                body = json.dumps(_question() | {field: "HALF"}).replace("HALF", "\\ud800")
                answer = await client.post("/api/jobs", content=body, headers={"content-type": "application/json"})
                assert answer.status_code in (202, 400, 422), answer.status_code
                assert (await client.get("/api/jobs")).status_code == 200

    asyncio.run(scenario())


@contextlib.contextmanager
def _served(place: Place, *options: object) -> Iterator[tuple[int, str]]:
    """The command as a person starts it: its port, and the address that it prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = place.started("serve", "--model", place.kit, "--port", port, "--forget", *options, PYTHONUNBUFFERED="1")
    try:
        line = ""
        while "viewer is at" not in line:
            line = process.stdout.readline()  # pyright: ignore[reportOptionalMemberAccess]
            assert line, process.stderr.read()  # pyright: ignore[reportOptionalMemberAccess]
        yield port, re.findall(r"http://\S+", line)[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


@attack
def connections_that_stay_half_open(place: Place) -> None:
    """They are closed after a while: one that says nothing, half a head, a body that does not come.

    The printed address opens the page meanwhile.
    """
    head = "POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n"
    with _served(place, "--workers", 1, "--read-seconds", 2) as (port, address), contextlib.ExitStack() as stack:
        token = f"Authorization: Bearer {address.partition('token=')[2]}\r\n"
        open_ones = []
        for sent in ("", "GET / HTTP/1.1\r\nHos", f"{head}{token}\r\nhalf"):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(sent.encode())
            open_ones.append(connection)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert opener.open(address, timeout=20).status == 200
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20)
            raise AssertionError("the page is open to all")
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
            error.close()
        deadline = time.monotonic() + 40
        for connection in open_ones:
            connection.settimeout(max(1.0, deadline - time.monotonic()))
            while connection.recv(4096):
                pass
