"""A kit that explains small molecules quickly, and the answers of a job that nothing disturbed."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from graphflip.jobs import AbstractEngine, InProcess, JobSettings, answers, open_source, run_job
from graphflip.jobs.folder import JobFolder, read_manifest
from graphflip.jobs.tables import TIMING

TOOLS = Path(__file__).parents[2] / "tools"


def load_small_kit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("small_kit", TOOLS / "small_kit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


small_kit = load_small_kit()


def answers_of(folder: Path) -> list[dict]:
    """What must be the same, however a job was disturbed."""
    found = JobFolder(folder, read_manifest(folder)).answers()
    return [{name: value for name, value in answer.items() if name != TIMING} for answer in found]


class Counted(AbstractEngine):
    """In process, up to so many shards; counts them."""

    def __init__(self, limit=None):
        self.limit, self.count = limit, 0

    def map(self, order, tasks, tick):
        for done in InProcess().map(order, tasks, tick):
            self.count += 1
            yield done
            if self.count == self.limit:
                raise KeyboardInterrupt


def begun(table, settings, folder, shards=3):
    """A job that was stopped hard after some shards."""
    with pytest.raises(KeyboardInterrupt):
        run_job(open_source(str(table)), settings, folder, Counted(shards), shard_size=2)
    return folder


@pytest.fixture(scope="session", autouse=True)
def remembered():
    """In this process every row is explained once: jobs are tested here, not searches."""
    search, known = answers._explained, {}

    def recall(explainer, settings, row):
        key = (settings.model_dump_json(), row)
        if key not in known:
            known[key] = search(explainer, settings, row)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "_explained", recall)
        yield


@pytest.fixture(scope="session")
def kit(tmp_path_factory) -> Path:
    return small_kit.make_kit(tmp_path_factory.mktemp("small") / "kit", common=0.9)


@pytest.fixture(scope="session")
def table(tmp_path_factory) -> Path:
    """Twelve molecules; four rows are bad."""
    return small_kit.write_molecules(tmp_path_factory.mktemp("table") / "molecules.csv", 12)


@pytest.fixture(scope="session")
def settings(kit) -> JobSettings:
    """With this target most molecules are there already, which costs no time."""
    return JobSettings.of(model=str(kit), prefer="minimal", budget=2, target="fancy")


@pytest.fixture(scope="session")
def undisturbed(table, settings, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "job"
    assert run_job(open_source(str(table)), settings, folder).finished
    return folder
