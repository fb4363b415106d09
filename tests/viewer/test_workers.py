"""Workers: a limit is a limit, what is cancelled ends, and what dies is replaced."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from graphflip.explain.preferences import PREFERENCES
from graphflip.viewer import messages
from graphflip.viewer.messages import Question
from graphflip.viewer.settings import Settings
from graphflip.viewer.workers import Interrupted, Refused, Worker

HERE = Path(__file__).parent


def explain(smiles: str) -> dict:
    asked = Question(prefer="minimal").model_dump(mode="json")
    return {"do": "explain", "model": "mutagenicity", "input": {"smiles": smiles}, "id": "", "asked": asked}


def read(smiles: str) -> dict:
    return {"do": "read", "model": "mutagenicity", "input": {"smiles": smiles}}


def test_a_worker_survives_everything(monkeypatch):
    """One process, since it takes seconds to start: done, refused, cancelled, out of time, killed, done again."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    worker = Worker(Settings(classifier="moody:make"))

    async def interrupted(task, seconds, after=None):
        if after is not None:
            asyncio.get_running_loop().call_later(after, worker.interrupt, "cancelled")
        with pytest.raises(Interrupted) as end:
            await worker.run(task, seconds)
        return end.value.reason

    async def scenario():
        await worker.start()
        first = worker._process.pid
        assert (await worker.run(read("CBr"), 60))["prediction"].keys() == {"mutagen", "nonmutagen"}
        with pytest.raises(Refused, match="RDKit cannot read"):
            await worker.run(read("(("), 60)
        seen = []
        found = await worker.run(explain("CCO"), 120, seen.append)
        assert found["answers"]
        assert all(one["calls"] > 0 for one in seen)
        assert await interrupted(explain("CCCCC(F)(F)F"), 60, after=1.0) == "cancelled"
        assert worker._process.pid == first, "what listens need not be killed"
        assert await interrupted(read("CSSS"), 0.5) == "time"
        assert (await worker.run(read("CO"), 60))["smiles"] == "CO"
        assert worker._process.pid != first, "what does not listen is replaced"
        assert await interrupted(read("CPPP"), 60) == "crashed"
        assert (await worker.run(read("CO"), 60))["smiles"] == "CO"

    async def whole():
        try:
            await asyncio.wait_for(scenario(), 600)
        finally:
            await worker.stop()
        assert worker._process.returncode is not None

    asyncio.run(whole())


def test_the_server_does_not_load_torch():
    code = "import sys, graphflip.viewer.app; print(*sorted({'torch', 'rdkit', 'numpy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_preferences_are_those_of_the_library():
    assert get_args(messages.Prefer) == tuple(PREFERENCES)
