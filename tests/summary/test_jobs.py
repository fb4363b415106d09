"""Summaries as jobs: the same as in memory, in a folder that can be gone on with."""

import json
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

import graphflip
from graphflip.cli import app
from graphflip.data.source import open_source
from graphflip.jobs.engines import InProcess
from graphflip.jobs.settings import JobSettings
from graphflip.jobs.summaries import SummaryStopped, run_summary
from graphflip.summary import SummaryOptions

MOLECULES = [
    *("O=[N+]([O-])c1ccccc1", "Cc1ccc([N+](=O)[O-])cc1", "Nc1ccc2ccccc2c1", "CCN(CC)N=O", "CCO", "not a molecule"),
]
OPTIONS = SummaryOptions(num=1, sample=2, answers=1, shortlist=2, times=1, prefer="minimal", held_out=0.4, num_graphs=0)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("summary") / "molecules.smi"
    path.write_text("\n".join(f"{text}\t{k}" for k, text in enumerate(MOLECULES)))
    return path


class Broken(InProcess):
    """An engine that is stopped after its first shard."""

    def map(self, order, tasks, tick):
        for done, one in enumerate(super().map(order, tasks, tick)):
            if done:
                raise KeyboardInterrupt
            yield one


def test_a_summary_that_was_killed_goes_on_and_is_that_of_memory(source, tmp_path):
    settings, rows = JobSettings.of("ames", target="nonmutagen"), open_source(str(source))
    with pytest.raises((KeyboardInterrupt, SummaryStopped)):
        run_summary(rows, settings, tmp_path, Broken(), OPTIONS)
    first = run_summary(rows, settings, tmp_path, options=OPTIONS)
    stored = json.loads((tmp_path / "summary.json").read_text())
    assert stored == json.loads(json.dumps(first.to_json()))
    told = [line.split("\t") for line in source.read_text().splitlines()[:-1]]
    texts, ids = zip(*told, strict=True)
    plain = graphflip.load("ames").summarize(texts, "nonmutagen", ids=list(ids), **asdict(OPTIONS))
    assert [str(part) for part in plain.directions] == [str(part) for part in first.directions]


def test_the_command_writes_a_page(source, tmp_path):
    told = [
        "--target",
        "nonmutagen",
        "--sample",
        "1",
        "--answers",
        "0",
        "--num",
        "1",
        "--num-graphs",
        "0",
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, ["summarize", str(source), *told])
    assert done.exit_code == 0, done.output
    assert "What ames goes by" in done.output
    assert (tmp_path / "out" / "index.html").read_text().startswith("<!doctype html>")
