"""Workers: a limit is a limit, what is cancelled ends, and what dies is replaced."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from graphflip.data.dataset import GraphDataset
from graphflip.data.molecules.molecule import from_smiles, molecule_schema
from graphflip.explain.knowledge import KNOWLEDGE, Knowledge
from graphflip.explain.preferences import PREFERENCES
from graphflip.explain.query import Prefer
from graphflip.models.networks.classifier import ClassifierConfig, InvariantClassifier
from graphflip.models.storage.store import DataCard, save_model
from graphflip.viewer.config import ViewerConfig
from graphflip.viewer.messages.requests import QuestionView
from graphflip.viewer.worker import Interrupted, Refused, Worker, WorkerHost

HERE = Path(__file__).parent


def explain(smiles: str) -> dict:
    asked = QuestionView(prefer="minimal").model_dump(mode="json")
    kit = {"model": "small", "source": "kits/small", "private": False}
    return {"do": "explain", **kit, "input": {"smiles": smiles}, "id": "", "asked": asked}


def read(smiles: str) -> dict:
    return {"do": "read", "model": "small", "input": {"smiles": smiles}}


@pytest.fixture
def small_kit(tmp_path) -> Path:
    """A kit of small molecules that is loaded at once; a classifier of one's own takes the place of its."""
    schema = molecule_schema(("C", "N", "O", "S", "P", "F", "Br"), 12, explicit_hydrogens=False)
    graphs = [from_smiles(smiles, schema) for smiles in ("CCO", "CCN", "CNCO", "CC(F)N")]
    dataset = GraphDataset.from_graphs("small", graphs, [0, 1, 1, 1], ("mutagen", "nonmutagen"))
    classifier = InvariantClassifier(schema, ClassifierConfig(width=4, hidden=4))
    save_model(classifier, tmp_path / "small" / "classifier", DataCard.of(dataset))
    Knowledge.mine(dataset).save(tmp_path / "small" / KNOWLEDGE)
    return tmp_path / "small"


def test_a_worker_survives_everything(monkeypatch, small_kit):
    """Done, refused, cancelled, out of time, killed, done again."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    host = WorkerHost(ViewerConfig(models=(str(small_kit),), classifier="moody:make"))
    worker = Worker(host)

    async def interrupted(task, seconds, watch=lambda _: None):
        with pytest.raises(Interrupted) as end:
            await worker.run(task, seconds, watch)
        return end.value.reason

    async def scenario():
        await worker.start()
        assert (await worker.run(read("CBr"), 60))["prediction"].keys() == {"mutagen", "nonmutagen"}
        with pytest.raises(Refused, match="a parenthesis is not closed"):
            await worker.run(read("(("), 60)
        seen = []
        found = await worker.run(explain("CCO"), 120, seen.append)
        assert found["answers"]
        assert all(one["progress"]["calls"] > 0 for one in seen if "progress" in one)
        await worker.run(read("CO"), 60)
        first = worker.pid  # who has shown a first answer goes behind, and is replaced
        first_round = explain("CCCCC(F)(F)F"), 60, lambda _: worker.interrupt("cancelled")
        assert await interrupted(*first_round) == "cancelled"
        assert worker.pid == first, "what listens need not be killed"
        assert await interrupted(read("CSSS"), 0.5) == "time"
        assert (await worker.run(read("CO"), 60))["smiles"] == "CO"
        assert worker.pid != first, "what does not listen is replaced"
        assert await interrupted(read("CPPP"), 60) == "crashed"
        assert (await worker.run(read("CO"), 60))["smiles"] == "CO"

    async def whole():
        try:
            await asyncio.wait_for(scenario(), 600)
        finally:
            last = worker.pid
            await worker.stop()
            await host.stop()
        assert not Path(f"/proc/{last}").exists()

    asyncio.run(whole())


def test_the_server_does_not_load_torch():
    code = "import sys, graphflip.viewer.app; print(*sorted({'torch', 'rdkit', 'numpy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_preferences_are_those_of_the_library():
    assert get_args(Prefer) == tuple(PREFERENCES)
