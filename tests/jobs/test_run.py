"""Jobs give every answer exactly once, whoever computes them and however often they are stopped."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphflip.errors import DataError, JobError
from graphflip.explain.records import read_records, to_record
from graphflip.jobs import InProcess, JobSettings, Processes, explained, of_graphs, open_source, run_job
from graphflip.jobs.child import may_fork
from graphflip.jobs.engines import Done
from graphflip.jobs.export import export
from graphflip.jobs.folder import MANIFEST, JobFolder, read_manifest
from graphflip.report.results import read_results

from .conftest import Counted, answers_of, begun, small_kit


def test_every_row_has_its_answer_in_order(undisturbed, table):
    answers = answers_of(undisturbed)
    assert [answer["row"] for answer in answers] == [2 + k for k in range(12)]
    assert [answer["input"] for answer in answers] == [
        line.split(",")[1] for line in table.read_text().splitlines()[1:]
    ]
    bad = [answer for answer in answers if answer["outcome"] == "bad_input"]
    assert [answer["input"] for answer in bad] == list(small_kit.BAD)
    assert all(answer["note"] and answer["record"] is None for answer in bad)
    assert {"flipped", "already_there"} <= {answer["outcome"] for answer in answers}


def test_what_people_read_is_what_the_shards_hold(undisturbed, kit):
    answers = answers_of(undisturbed)
    lines = (undisturbed / "counterfactuals.jsonl").read_text().splitlines()
    assert lines == [answer["record"] for answer in answers if answer["record"]]
    schema = small_kit.SCHEMA
    found = list(read_records(undisturbed / "counterfactuals.jsonl", schema))
    assert [one.id for one in found] == [answer["id"] for answer in answers if answer["record"]]
    assert [to_record(one) for one in explained(undisturbed)] == [to_record(one) for one in found]
    unexplained = (undisturbed / "unexplained.csv").read_text()
    assert all(repr(text)[1:-1] in unexplained for text in small_kit.BAD)
    counted = json.loads((undisturbed / MANIFEST).read_text())["outcomes"]
    assert counted == Counter(answer["outcome"] for answer in answers)


@pytest.mark.parametrize("size", [1, 5, 100])
def test_answers_do_not_depend_on_shards(table, settings, undisturbed, tmp_path, size):
    summary = run_job(open_source(str(table)), settings, tmp_path, shard_size=size)
    assert (summary.finished, summary.done, summary.total) == (True, 12, 12)
    assert answers_of(tmp_path) == answers_of(undisturbed)
    assert len(list(tmp_path.glob("shards/*/*.parquet"))) == -(-12 // size)


def test_answers_do_not_depend_on_processes(table, settings, undisturbed, tmp_path):
    assert run_job(open_source(str(table)), settings, tmp_path, Processes(2)).finished
    assert answers_of(tmp_path) == answers_of(undisturbed)


def test_answers_do_not_depend_on_how_processes_were_made(table, settings, undisturbed, tmp_path):
    engine = Processes(2)
    engine.warm(settings)
    copies = list(engine.ready)
    assert run_job(open_source(str(table)), settings, tmp_path, engine).finished
    assert answers_of(tmp_path) == answers_of(undisturbed)
    assert not engine.ready
    assert len(copies) == (2 if may_fork() else 0)
    assert all(copy.connection.closed for copy in copies), "a process was left behind"


def test_a_process_with_threads_is_not_copied(settings):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        assert not may_fork()
        engine = Processes(1)
        engine.warm(settings)
    assert not engine.ready


def test_a_job_goes_on_where_it_was(table, settings, undisturbed, tmp_path):
    begun(table, settings, tmp_path)
    rest = Counted()
    assert run_job(open_source(str(table)), settings, tmp_path, rest).finished
    assert rest.count == 3
    assert answers_of(tmp_path) == answers_of(undisturbed)
    again = Counted()
    assert run_job(open_source(str(table)), settings, tmp_path, again).finished
    assert again.count == 0


def test_progress_counts_rows_of_earlier_runs_and_of_this_one(table, settings, tmp_path):
    begun(table, settings, tmp_path)
    seen = []
    run_job(open_source(str(table)), settings, tmp_path, watch=seen.append)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[0].done, seen[0].new) == (2, 0)
    assert (seen[-1].done, seen[-1].new, seen[-1].total) == (12, 6, 12)
    assert sum(seen[-1].outcomes.values()) == 12
    assert seen[-1].rate > 0
    assert seen[-1].seconds_left == 0


class Deadly(Counted):
    """An engine on which processes die of one row."""

    def map(self, order, tasks, tick):
        for task in tasks:
            dead = any(row.id == "m3" for row in task.rows)
            yield Done(task, None, len(task.rows)) if dead else next(InProcess().map(order, [task], tick))


def test_a_row_that_kills_processes_is_recorded_and_the_others_are_explained(table, settings, undisturbed, tmp_path):
    assert run_job(open_source(str(table)), settings, tmp_path, Deadly(), shard_size=4).finished
    ours, theirs = answers_of(tmp_path), answers_of(undisturbed)
    assert [answer["outcome"] for answer in ours if answer["id"] == "m3"] == ["crashed"]
    assert [a for a in ours if a["id"] != "m3"] == [a for a in theirs if a["id"] != "m3"]


def test_several_answers_for_a_row_stand_together(settings, tmp_path):
    (tmp_path / "three.smi").write_text("nonsense((\nCCC\nCOCC\n")
    several = JobSettings.of(settings.model, query=settings.query, num=2, budget=1)
    run_job(open_source(str(tmp_path / "three.smi")), several, tmp_path / "job")
    rows = [(answer["row"], answer["answer"]) for answer in answers_of(tmp_path / "job")]
    assert rows == [(1, 0), (2, 0), (2, 1), (3, 0)]
    assert sum(read_manifest(tmp_path / "job").outcomes.values()) == 3


def test_graphs_at_hand_are_a_source(settings, undisturbed, tmp_path):
    found = list(explained(undisturbed))
    run_job(of_graphs([one.factual for one in found], [one.id for one in found]), settings, tmp_path)
    without = {"source": "", "remarks": []}  # a graph has no text that it was read from
    assert [json.loads(answer["record"]) | without for answer in answers_of(tmp_path)] == [
        json.loads(answer["record"]) | without for answer in answers_of(undisturbed) if answer["record"]
    ]


def test_an_empty_input_is_refused(settings, tmp_path):
    (tmp_path / "none.csv").write_text("smiles\n")
    with pytest.raises(DataError, match="at least one row"):
        run_job(open_source(str(tmp_path / "none.csv")), settings, tmp_path / "job")


def test_shards_are_spread_over_folders(undisturbed):
    folder = JobFolder(undisturbed, read_manifest(undisturbed))
    assert folder.shard(2_000_001).parent.name == "2000"
    assert folder.shard(999).parent != folder.shard(1000).parent


def test_what_reads_answers_says_that_a_job_is_not_finished(table, settings, tmp_path):
    begun(table, settings, tmp_path / "job")
    for read in (lambda job: export(job, tmp_path / "x.csv"), read_results):
        with pytest.raises(JobError, match=r"job: the job must be finished; .* Give its command again"):
            read(tmp_path / "job")
