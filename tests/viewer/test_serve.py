"""`graphflip serve`: this machine only unless told otherwise, and what is wrong is said before models are loaded."""

import json
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from graphflip import cli
from graphflip.errors import ConfigError
from graphflip.viewer import serve
from graphflip.viewer.config import ViewerConfig


@pytest.fixture
def served(monkeypatch) -> list[ViewerConfig]:
    """Settings with which a server would have been started."""
    seen: list[ViewerConfig] = []
    monkeypatch.setattr(serve, "serve", lambda settings, say: seen.append(settings))
    return seen


def test_it_is_for_this_machine_unless_told_otherwise(served):
    run = CliRunner().invoke(cli.app, ["serve"])
    assert run.exit_code == 0, run.output
    assert (served[0].host, served[0].models, "Warning" in run.output) == ("127.0.0.1", ("ames",), False)


def test_another_address_comes_with_a_warning(served):
    command = ["serve", "--host", "192.0.2.7", "--name", "lab.example", "--model", "aids", "--model", "nci1"]
    run = CliRunner().invoke(cli.app, command)
    assert "Warning" in run.output
    assert "password" in run.output
    assert served[0].hosts >= {"192.0.2.7", "lab.example"}
    assert served[0].models == ("aids", "nci1")


def test_a_port_that_is_taken_is_said_at_once():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        port = door.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"port {port}.*--port"):
            serve.serve(ViewerConfig(port=port), print)


@pytest.mark.parametrize("is_loaded", [False, True])
def test_told_to_end_it_ends_its_workers_first(flow, is_loaded):
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
    command = [sys.executable, "-u", "-m", "graphflip", "serve", "--model", str(flow), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        says = server.stdout.readline()
        while is_loaded and "viewer is at" not in says:
            says = server.stdout.readline()
        workers = children(server.pid)
        while not workers:
            workers = children(server.pid)
        if is_loaded:  # a page waits for an answer meanwhile
            waiting = threading.Thread(target=ask_and_wait, args=(re.findall(r"http://\S+", says)[0], flow))
            waiting.start()
            time.sleep(1.0)
        server.terminate()
        assert server.communicate(timeout=120)[0] == "Stopped.\n"
    assert server.returncode == 0
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def ask_and_wait(entrance: str, kit: Path) -> None:
    """Ask for something that takes long, and for its end, as the page does."""
    address, _, token = entrance.partition("/?token=")
    graph = json.loads((kit / "graphs.jsonl").read_text().splitlines()[0])["graph"]
    page = httpx.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=60)
    asked = {"model": "flow", "input": {"graph": graph}, "asked": {"target": "raise by 1000"}}
    with suppress(httpx.HTTPError), page:
        job = page.post("/api/jobs", json=asked).json()
        while job["state"] in ("waiting", "running"):
            job = page.get(f"/api/jobs/{job['id']}", params={"seen": job["version"], "wait": 20}).json()


def children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_a_kit_that_is_not_there_is_an_error_without_a_traceback():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
    command = [sys.executable, "-m", "graphflip", "serve", "--model", "no-such-kit", "--port", str(port)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 2
    assert "A kit must be one of" in run.stderr
    assert "Traceback" not in run.stderr
