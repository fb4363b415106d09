"""The server of the workbench: a question is one job, tables go on, sessions survive, nobody waits for pictures."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from graphflip.explain.query import Query
from graphflip.viewer.api import path
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.messages.options import option_views
from graphflip.viewer.queue import Busy, Job, JobQueue
from graphflip.viewer.quick import QuickWorkers
from graphflip.viewer.state import NotFound, while_wanted
from graphflip.viewer.store import SessionStore

from .fakes import FakeWorker, ended, question, run, running

ROWS = [{"id": name, "input": {"smiles": smiles}} for name, smiles in (("a", "CO"), ("b", "CN"), ("c", "wait"))]


def table(**changes) -> dict:
    return {"model": "mutagenicity", "name": "mine.smi", "rows": ROWS, "asked": {}} | changes


async def settled(client, made: dict, done: int) -> dict:
    """A table when it has this many rows with answers."""
    while True:
        now = (await client.get(f"/api/tables/{made['id']}")).json()
        if now["counts"].get("done", 0) >= done:
            return now
        await asyncio.sleep(0.01)


def test_one_question_is_one_job():
    """Asked again, as by a reload, it is the same job; another question, and another person's, is another one."""

    async def scenario(browser):
        client = browser()
        first, again = [(await client.post("/api/jobs", json=question("wait"))).json()["id"] for _ in range(2)]
        assert first == again
        other = (await client.post("/api/jobs", json=question("wait", prefer="minimal"))).json()["id"]
        assert other != first
        assert (await browser().post("/api/jobs", json=question("wait"))).json()["id"] != first
        await client.delete(f"/api/jobs/{first}")
        assert (await ended(client, first))["state"] == "cancelled"
        assert (await client.post("/api/jobs", json=question("wait"))).json()["id"] != first, (
            "what has no answer goes on"
        )

    run(scenario, max_active=4)


def test_a_job_that_is_stopped_keeps_its_first_answer_which_is_no_answer_to_the_question():
    async def scenario(browser):
        client = browser()
        job = (await client.post("/api/jobs", json=question("first"))).json()["id"]
        now = {"answers": []}
        while not now["answers"]:
            now = (await client.get(f"/api/jobs/{job}", params={"wait": 5})).json()
        assert now["state"] == "running"
        again = (await client.get(f"/api/jobs/{job}", params={"seen": now["version"], "wait": 0})).json()
        assert again["answers"] == [], "it is sent once"
        await client.delete(f"/api/jobs/{job}")
        now = await ended(client, job)
        assert (now["state"], len(now["answers"])) == ("done", 1)
        assert now["message"].startswith("Stopped: this is the first answer")
        assert (await client.post("/api/jobs", json=question("first"))).json()["id"] != job

    run(scenario)


def test_what_is_listed_is_not_given_up():
    """A page that shows the list of questions asks about all of them."""

    async def scenario(browser):
        client = browser()
        job = (await client.post("/api/jobs", json=question("wait"))).json()["id"]
        for _ in range(6):
            await asyncio.sleep(0.1)
            (now,) = (await client.get("/api/jobs")).json()
            assert (now["id"], now["state"]) == (job, "running")
        await asyncio.sleep(0.5)
        assert (await ended(client, job))["state"] == "cancelled"

    run(scenario, patience=0.2)


class Counted(FakeWorker):
    """A worker that notes how many tasks run at a time, and ends one when it is told to."""

    running: list[str] = []
    most = 0

    async def run(self, task, seconds, watch=lambda _: None):
        self.running.append(task["id"])
        Counted.most = max(Counted.most, len(self.running))
        try:
            await asyncio.sleep(0.01)
            return {"id": task["id"]}
        finally:
            self.running.remove(task["id"])


def test_what_is_quick_has_several_workers_in_fair_order_and_gives_up_what_nobody_wants():
    async def scenario():
        quick = QuickWorkers([Counted(), Counted()], 6, 5.0)
        order: list[str] = []

        async def ask(name: str) -> None:
            order.append((await quick.run({"id": name}, name[0]))["id"])

        asked = [asyncio.create_task(ask(f"{who}{k}")) for who, count in (("a", 5), ("b", 1)) for k in range(count)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await quick.run({"id": "c"}, "c")
        asked[2].cancel()  # while it waits
        await asyncio.gather(*asked, return_exceptions=True)
        assert Counted.most == 2
        assert "a2" not in order
        assert order.index("b0") <= 2, "the other one need not wait for all of the first"
        assert (await quick.run({"id": "d"}, "d"))["id"] == "d"

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_what_nobody_asks_about_is_given_up():
    async def scenario():
        queue = JobQueue([FakeWorker(ViewerConfig())], 5, 1.0, patience=3600.0)
        job = Job({"input": {"smiles": "wait"}})
        queue.submit(job)
        queue._cancel_if_abandoned(job)
        assert job.state == "waiting", "it was asked just now"
        await job.wait(-1, 0)
        queue._cancel_if_abandoned(job)
        assert job.state == "waiting", "somebody has asked about it since"
        queue._cancel_if_abandoned(job)
        assert job.state == "cancelled"

    asyncio.run(scenario())


class Leaving:
    """A browser that closes the connection when it is told to."""

    def __init__(self):
        self.leave = asyncio.Event()

    async def receive(self) -> dict:
        await self.leave.wait()
        return {"type": "http.disconnect"}


def test_pictures_that_nobody_waits_for_are_dropped():
    async def scenario():
        request, begun, stopped = Leaving(), asyncio.Event(), asyncio.Event()

        async def draw() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        async def ready() -> str:
            return "drawn"

        assert await while_wanted(request, ready()) == "drawn"
        asking = asyncio.create_task(while_wanted(request, draw()))
        await begun.wait()
        request.leave.set()
        with pytest.raises(NotFound):
            await asking
        await stopped.wait()

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_a_path_is_given_up_when_the_browser_has_gone():
    async def scenario():
        request = Leaving()

        async def draw(task: dict, owner: str) -> dict:
            return await asyncio.Event().wait()  # pyright: ignore[reportReturnType]

        state = SimpleNamespace(pictures=SimpleNamespace(run=draw))
        chosen = Job({"model": "mutagenicity"}), {"record": {}}
        asking = asyncio.create_task(path(chosen, state, SimpleNamespace(name=""), request))
        await asyncio.sleep(0.05)
        request.leave.set()
        with pytest.raises(NotFound):
            await asyncio.wait_for(asking, 5)

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_reading_does_not_wait_behind_pictures():
    async def scenario(browser):
        client = browser()
        drawn = asyncio.create_task(client.post("/api/export/csv", json={"model": "mutagenicity", "records": [{}]}))
        assert (await drawn).content == b"a"
        record = {"model": "mutagenicity", "record": {"id": "slow"}}
        job = (await client.post("/api/records", json=record)).json()["id"]
        slow = [asyncio.create_task(client.get(f"/api/jobs/{job}/answers/0/path")) for _ in range(3)]
        await asyncio.sleep(0.2)
        assert not any(one.done() for one in slow)
        question = {"model": "mutagenicity", "input": {"smiles": "CO"}}
        read = await asyncio.wait_for(client.post("/api/read", json=question), 5)
        assert read.status_code == 200
        for one in slow:
            one.cancel()

    run(scenario)


def test_a_table_is_explained_row_by_row_behind_questions_stopped_and_gone_on_with():
    async def scenario(browser):
        client = browser()
        rows = [*ROWS, {"id": "d", "problem": "This cannot be read as SMILES."}]
        made = (await client.post("/api/tables", json=table(rows=rows))).json()
        now = await settled(client, made, 2)
        assert [row["state"] for row in now["rows"]][:2] == ["done", "done"]
        assert (now["rows"][3]["state"], now["rows"][3]["message"]) == ("problem", "This cannot be read as SMILES.")
        stopped = (await client.delete(f"/api/tables/{made['id']}")).json()
        assert stopped["state"] == "stopped"
        asked = (await client.post("/api/jobs", json=question("CO"))).json()["id"]
        assert (await ended(client, asked))["state"] == "done", "the worker is free again"
        assert (await client.post(f"/api/tables/{made['id']}/resume")).json()["state"] == "running"
        row = (await client.get(f"/api/tables/{made['id']}/rows/0")).json()
        assert row["answers"][0]["record"]["id"] == "a"
        undone = await client.post(f"/api/jobs/{row['id']}/answers/0/undo", json={"undo": [0]})
        assert undone.status_code == 200, "an answer of a row can be worked with like any other"
        file = await client.get(f"/api/tables/{made['id']}/files/csv")
        assert file.headers["content-disposition"] == 'attachment; filename="a.csv"'
        assert (await browser().get(f"/api/tables/{made['id']}")).status_code == 404, "it belongs to one session"

    run(scenario)


def test_news_of_a_table_are_the_rows_that_changed():
    async def scenario(browser):
        client = browser()
        made = (await client.post("/api/tables", json=table())).json()
        now = await settled(client, made, 2)
        assert (await client.get(f"/api/tables/{made['id']}", params={"seen": now["version"]})).json()["rows"] == []
        assert len((await client.get(f"/api/tables/{made['id']}")).json()["rows"]) == 3

    run(scenario)


def test_a_table_has_a_limit_that_is_said():
    async def scenario(browser):
        refused = await browser().post("/api/tables", json=table())
        assert refused.status_code == 422
        assert "at most 2 rows here; this one has 3" in refused.json()["message"]
        assert (await browser().get("/api/service")).json()["max_rows"] == 2

    run(scenario, max_rows=2)


def test_a_session_survives_a_restart(tmp_path):
    """Answers, tables and their rows are there again; what was not finished then is asked again, or goes on."""

    async def before() -> tuple[dict, str, str]:
        async with running(keep=str(tmp_path)) as browser:
            client = browser()
            job = (await client.post("/api/jobs", json=question("CO"))).json()["id"]
            await ended(client, job)
            made = (await client.post("/api/tables", json=table())).json()
            await settled(client, made, 2)
            return dict(client.cookies), job, made["id"]

    async def after(cookies: dict, job: str, made: str) -> None:
        async with running(keep=str(tmp_path)) as browser:
            assert (await browser().get("/api/jobs")).json() == []
            client = browser()
            client.cookies.update(cookies)
            assert [(one["id"], one["state"]) for one in (await client.get("/api/jobs")).json()] == [(job, "done")]
            assert (await client.post("/api/jobs", json=question("CO"))).json()["id"] == job
            kept = (await client.get(f"/api/tables/{made}")).json()
            assert (kept["state"], kept["counts"]) == ("stopped", {"done": 2, "open": 1})
            assert (await client.post(f"/api/tables/{made}/resume")).json()["state"] == "running"

    asyncio.run(asyncio.wait_for(before(), 20))
    asyncio.run(asyncio.wait_for(after(*asyncio.run(asyncio.wait_for(before(), 20))), 20))


def test_the_store_gives_no_session_away_and_drops_the_oldest(tmp_path):
    store = SessionStore(str(tmp_path), limit=2)
    for token in ("first", "second", "third"):
        store.save(token, "job-1", {"id": "1"})
    assert not any("first" in path.name for path in tmp_path.rglob("*"))
    (next(tmp_path.glob("*/job-1.json"))).write_text("{")  # a damaged file hides no other
    assert len([one for token in ("first", "second", "third") for one in store.load(token)]) == 2
    SessionStore(str(tmp_path), limit=2)
    assert len(list(tmp_path.iterdir())) == 2


def test_options_of_the_page_are_the_fields_of_the_query():
    options = option_views(Query)
    assert [option.name for option in options] == list(Query.model_fields)
    assert all(option.description for option in options)
    kinds = {option.name: option.kind for option in options}
    assert kinds["budget"] == kinds["confidence"] == "number"
    assert (kinds["parent"], kinds["freeze_smarts"], kinds["freeze_edges"]) == ("flag", "texts", "edges")

    async def scenario(browser):
        service = (await browser().get("/api/service")).json()
        assert [one["name"] for one in service["options"]] == list(Query.model_fields)
        assert {one["name"]: one["kind"] for one in service["options"]} == kinds, "with limits, too"
        assert json.dumps(service)

    run(scenario)
