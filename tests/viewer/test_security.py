"""Security: other hosts and sites are refused, bodies are limited, and nothing of the server's inside leaves it."""

import pytest

from .fakes import HOST, asset, ended, question, run


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil:8765", "", "a@b[", "[::2]"])
def test_other_host_names_are_refused(host):
    """A page of another site whose name was made to point here must not be answered."""

    async def scenario(browser):
        for address in ("/", "/api/jobs", await asset(browser(), "viewer.js")):
            refused = await browser().get(address, headers={"host": host})
            assert refused.status_code == 421

    run(scenario)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:8765", "[::1]:8765", "lab.example:80"])
def test_own_host_names_are_answered(host):
    async def scenario(browser):
        assert (await browser().get("/", headers={"host": host})).status_code == 200

    run(scenario, names=("lab.example",))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://[", "file://"])
def test_requests_of_other_sites_are_refused(origin):
    async def scenario(browser):
        client = browser()
        refused = await client.post("/api/jobs", json=question("CO"), headers={"origin": origin})
        assert refused.status_code == 403
        assert (await client.post("/api/jobs", json=question("CO"), headers={"origin": HOST})).status_code == 202

    run(scenario)


@pytest.mark.parametrize(("accept", "kind"), [("text/html,*/*;q=0.8", "text/html"), ("*/*", "application/json")])
def test_who_opens_the_page_without_the_token_reads_a_sentence(accept, kind):
    async def scenario(browser):
        refused = await browser().get("/", headers={"accept": accept})
        assert refused.status_code == 401
        assert refused.headers["content-type"].startswith(kind)
        assert "content-security-policy" in refused.headers
        assert "Open the address that the server has printed" in refused.text

    run(scenario, token="secret")


def test_every_answer_has_its_policy():
    async def scenario(browser):
        client = browser()
        style = await asset(client, "style.css")
        answers = [await client.get(address) for address in ("/", style, "/api/service", "/nothing")]
        answers.append(await client.get("/", headers={"host": "evil.example"}))
        for one in answers:
            policy = one.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert one.headers["x-content-type-options"] == "nosniff"

    run(scenario)


def test_bodies_are_bounded_however_they_are_sent():
    async def scenario(browser):
        client = browser()
        large = b"x" * 3000
        assert (await client.post("/api/files", content=large)).status_code == 413

        async def in_parts():
            for start in range(0, len(large), 500):
                yield large[start : start + 500]

        assert (await client.post("/api/files", content=in_parts())).status_code == 413
        assert (await client.post("/api/files", content=in_parts(), headers={"content-length": "5"})).status_code == 413
        assert (await client.post("/api/jobs", json=question("CO"))).status_code == 202

    run(scenario, max_bytes=1000)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 5000, b'{"model": NaN}', b'"\\ud800"'])
def test_broken_bodies_are_refused(body):
    async def scenario(browser):
        refused = await browser().post("/api/jobs", content=body, headers={"content-type": "application/json"})
        assert refused.status_code in (400, 422)
        assert set(refused.json()) == {"message", "field"}

    run(scenario)


def test_no_trace_of_an_error_leaves_the_server():
    async def scenario(browser):
        client = browser()
        failed = await client.post("/api/read", json=question("crash") | {})
        assert failed.status_code == 500
        assert "secret" not in failed.text
        assert "Traceback" not in failed.text
        job = (await client.post("/api/jobs", json=question("crash"))).json()["id"]
        done = await ended(client, job)
        assert (done["state"], "secret" in str(done)) == ("failed", False)
        assert (await ended(client, (await client.post("/api/jobs", json=question("CO"))).json()["id"]))[
            "state"
        ] == "done"

    run(scenario)


@pytest.mark.parametrize(
    "address", ["/assets/../app.py", "/assets/%2e%2e/app.py", "/assets//etc/passwd", "/app.py", "/assets/"]
)
def test_nothing_but_the_page_can_be_fetched(address):
    async def scenario(browser):
        assert (await browser().get(address)).status_code == 404

    run(scenario)


def test_the_page_names_no_other_server():
    from importlib import resources

    for file in (resources.files("graphflip.viewer") / "assets").iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        if file.name == "openchemlib.js":  # its maker's name; it sets innerHTML to constants alone
            text = text.replace("@link https://github.com/cheminfo/openchemlib-js", "").replace("innerHTML", "")
        assert "://" not in text, f"{file.name} refers to another server"
        assert "innerHTML" not in text, f"{file.name} parses text as HTML"
