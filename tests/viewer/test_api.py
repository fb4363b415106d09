"""The API: sessions do not mix, limits hold, refusals are polite, and nothing of the server's inside leaves it."""

import asyncio

import pytest

from .fakes import asset, ended, question, run


def test_a_question_is_answered():
    async def scenario(browser):
        client = browser()
        asked = await client.post("/api/jobs", json=question("CO", prefer="minimal", freeze_nodes=[0]))
        assert asked.status_code == 202
        done = await ended(client, asked.json()["id"])
        assert (done["state"], done["answers"][0]["record"]["id"]) == ("done", "CO")
        assert (done["asked"]["prefer"], done["asked"]["freeze_nodes"]) == ("minimal", [0])
        assert done["progress"]["calls"] == 5

    run(scenario)


def test_results_belong_to_the_session_that_made_them():
    async def scenario(browser):
        mine, yours = browser(), browser()
        job = (await mine.post("/api/jobs", json=question("CO"))).json()["id"]
        other = (await yours.post("/api/jobs", json=question("CN"))).json()["id"]
        await ended(mine, job)
        assert [one["id"] for one in (await mine.get("/api/jobs")).json()] == [job]
        assert [one["id"] for one in (await yours.get("/api/jobs")).json()] == [other]
        for method, address in (
            ("GET", f"/api/jobs/{job}"),
            ("DELETE", f"/api/jobs/{job}"),
            ("GET", f"/api/jobs/{job}/answers/0/path"),
        ):
            assert (await yours.request(method, address)).status_code == 404
            assert (await browser().request(method, address)).status_code == 404, "nor without a cookie"
        assert (await yours.post(f"/api/jobs/{job}/answers/0/undo", json={"undo": []})).status_code == 404
        assert (await mine.post(f"/api/jobs/{job}/answers/0/undo", json={"undo": []})).status_code == 200

    run(scenario)


def test_a_token_is_not_chosen_by_the_browser():
    async def scenario(browser):
        client = browser()
        client.cookies.set("graphflip_8765", "chosen")
        asked = await client.post("/api/jobs", json=question("CO"))
        cookie = asked.headers["set-cookie"]
        assert "chosen" not in cookie
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()

    run(scenario)


def test_the_line_is_bounded_and_says_when_to_come_back():
    async def scenario(browser):
        clients = [browser() for _ in range(4)]
        answers = []
        for client in clients:
            answers.append(await client.post("/api/jobs", json=question("wait")))
            await asyncio.sleep(0.01)  # so that the first one is running
        assert [one.status_code for one in answers] == [202, 202, 202, 503]
        assert int(answers[3].headers["retry-after"]) > 0
        assert "Try again" in answers[3].json()["message"]
        assert (await clients[2].get(f"/api/jobs/{answers[2].json()['id']}")).json()["ahead"] == 1

    run(scenario, max_waiting=2)


def test_one_session_does_not_take_the_whole_line():
    async def scenario(browser):
        client = browser()
        codes = [(await client.post("/api/jobs", json=question("wait", seed=k))).status_code for k in range(3)]
        assert codes == [202, 202, 429]
        assert (await browser().post("/api/jobs", json=question("wait"))).status_code == 202

    run(scenario, max_active=2)


def test_what_waits_and_what_runs_can_be_cancelled():
    async def scenario(browser):
        client = browser()
        runs, waits, last = [
            (await client.post("/api/jobs", json=question(s, seed=k))).json()["id"]
            for k, s in enumerate(("wait", "wait", "CO"))
        ]
        await asyncio.sleep(0.01)
        assert (await client.delete(f"/api/jobs/{waits}")).json()["state"] == "cancelled"
        await client.delete(f"/api/jobs/{runs}")
        assert (await ended(client, runs))["state"] == "cancelled"
        assert (await ended(client, last))["state"] == "done", "those behind are served"
        assert (await client.delete(f"/api/jobs/{last}")).json()["state"] == "done", "what is done stays done"

    run(scenario)


def test_waiting_for_news_returns_with_the_news():
    async def scenario(browser):
        client = browser()
        job = (await client.post("/api/jobs", json=question("wait"))).json()["id"]
        await asyncio.sleep(0.01)
        now = (await client.get(f"/api/jobs/{job}")).json()
        news = asyncio.create_task(client.get(f"/api/jobs/{job}", params={"seen": now["version"], "wait": 10}))
        await asyncio.sleep(0.05)
        assert not news.done()
        await client.delete(f"/api/jobs/{job}")
        assert (await news).json()["state"] == "cancelled"

    run(scenario)


def test_old_results_are_forgotten_open_ones_are_not():
    async def scenario(browser):
        client = browser()
        first = (await client.post("/api/jobs", json=question("wait"))).json()["id"]
        last = (await client.post("/api/records", json={"model": "mutagenicity", "record": {"id": "0"}})).json()["id"]
        for _ in range(4):
            last = (await client.post("/api/records", json={"model": "mutagenicity", "record": {}})).json()["id"]
        kept = [one["id"] for one in (await client.get("/api/jobs")).json()]
        assert (len(kept), kept[0], kept[-1]) == (3, first, last)

    run(scenario, max_jobs=3)


def test_sessions_are_bounded():
    async def scenario(browser):
        busy, idle = browser(), browser()
        waits = (await busy.post("/api/jobs", json=question("wait"))).json()["id"]
        await idle.post("/api/records", json={"model": "mutagenicity", "record": {}})
        for _ in range(3):
            await browser().post("/api/records", json={"model": "mutagenicity", "record": {}})
        assert (await idle.get("/api/jobs")).json() == []
        assert [one["id"] for one in (await busy.get("/api/jobs")).json()] == [waits]

    run(scenario, max_sessions=2)


def test_reading_never_makes_a_session():
    async def scenario(browser):
        for address in ("/", "/api/service", "/api/jobs", "/api/jobs/none"):
            assert "set-cookie" not in (await browser().get(address)).headers

    run(scenario)


def test_molecules_are_bounded():
    async def scenario(browser):
        refused = await browser().post("/api/read", json=question("C" * 31))
        assert refused.status_code == 422
        assert "at most 30 characters here; this one has 31" in refused.json()["message"]
        assert (
            await browser().post("/api/read", json={"model": "mutagenicity", "input": {"smiles": "C" * 30}})
        ).is_success

    run(scenario, max_smiles=30)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"model": "mutagenicity", "input": {}}, "exactly one of"),
        ({"model": "mutagenicity", "input": {"smiles": "C", "graph": {"nodes": [], "edges": []}}}, "exactly one of"),
        ({"model": "../../etc/passwd", "input": {"smiles": "C"}}, "`model` must be one of mutagenicity"),
        ({"input": {"smiles": "C"}}, "model"),
        (question("C", num=99), "asked.num"),
        (question("C", prefer="best"), "asked.prefer"),
        (question("C", confidence=2), "asked.confidence"),
        (question("C", freeze_nodes=[-1]), "asked.freeze_nodes"),
        (question("C", surprise=1), "asked.surprise"),
        ([], "body"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(body, says):
    async def scenario(browser):
        refused = await browser().post("/api/jobs", json=body)
        assert refused.status_code == 422
        assert {"message", "field"} <= set(refused.json()) <= {"message", "field", "actions"}
        assert says.lower() in refused.json()["message"].lower()

    run(scenario)


def test_the_page_is_not_sent_twice():
    """The page is asked for anew, its files are not: a file that changes has another address."""

    async def scenario(browser):
        client = browser()
        first = await client.get("/")
        again = await client.get("/", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content, first.headers["cache-control"]) == (304, b"", "no-cache")
        script = await client.get(await asset(client, "viewer.js"))
        assert (script.status_code, "javascript" in script.headers["content-type"]) == (200, True)
        assert "immutable" in script.headers["cache-control"]
        assert (await client.get("/assets/viewer.js")).status_code == 404

    run(scenario)
