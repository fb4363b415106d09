"""The quality benchmark end to end on a small planted set, with models that are there at once."""

import csv
import json
import os
import shutil

import pytest
import torch

from graphflip.bench.quality import runs as quality_runs
from graphflip.bench.quality.benchmark import run_quality
from graphflip.bench.quality.goals import GOALS, QualityGoal
from graphflip.bench.quality.known_answers import _figures
from graphflip.bench.quality.material import Packaged
from graphflip.bench.quality.rows import ROWS, chosen
from graphflip.bench.quality.runs import QualityRun, explain_shard
from graphflip.bench.realism import REALISM
from graphflip.bench.score import SCORES, Scorer, figures_of
from graphflip.bench.workers import workers
from graphflip.data.planted.motif import CLASSES, answers, planted
from graphflip.errors import ConfigError, GraphflipError
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.latent.baselines import NoChange
from graphflip.explain.records import read_records

from .stand_ins import NUM_GRAPHS, red_material

SHOWN = chosen(["balanced", "minimal", "greedy", "random", "nearest", "limit"])
KEYS = (
    "flip_ratio", "nafr", "nafr_ceiling", "nafr_other", "nafr_other_ceiling", "edge_sp", "node_sp", "molecule",
    "radical_free", "radical_free_real", "environment", "plausible", "round_trip", "mean_edits", "mean_heavy_edits",
    "one_minimal", "seconds", "classifier_calls", "rings_known_real", *REALISM,
)  # fmt: skip


def run(out, rows=SHOWN, **more):
    return run_quality(["small"], out, rows, seeds=(0, 1), ged_seconds=0.01, source=red_material, **more)


@pytest.fixture(autouse=True, scope="module")
def small_shards():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality_runs, "_SHARD", 4)
        yield


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    seen = []
    folder = run(tmp_path_factory.mktemp("quality"), watch=lambda what, done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (3 * NUM_GRAPHS * (len(SHOWN) + 1),) * 2
    return folder


@pytest.fixture(scope="module")
def table(out):
    return json.loads((out / "table.json").read_text(), parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


def test_every_row_has_every_figure(table):
    assert set(table["small"]) == {row.name for row in SHOWN} | {"real"}
    for row in SHOWN:
        figures = table["small"][row.name]
        assert set(KEYS) <= set(figures), row.name
        assert figures["n"] == NUM_GRAPHS
        assert figures["seeds"] == (2 if row.repeated else 1)
        for name in (*KEYS[:10], "class_minimal"):
            assert figures[name] is None or 0 <= figures[name] <= 1, name
        assert {figures[name] for name in REALISM if name != "class_minimal"} == {None}, "colored nodes are no atoms"
    assert "flip_ratio_seed_spread" in table["small"]["random"]


def test_searches_are_what_they_are_meant_to_be(out, table):
    rows = table["small"]
    assert rows["minimal"]["flip_ratio"] == rows["limit"]["flip_ratio"] == 1
    assert rows["limit"]["mean_edits"] <= rows["minimal"]["mean_edits"] <= rows["greedy"]["mean_edits"]
    assert rows["minimal"]["mean_edits"] < rows["random"]["mean_edits"]
    assert rows["minimal"]["one_minimal"] == rows["balanced"]["one_minimal"] == 1
    answers = [json.loads(line) for line in (out / "small" / "balanced-seed0.jsonl").read_text().splitlines()]
    flipped = [one for one in answers if one["outcome"] == "flipped"]
    strange = [one for one in flipped if "No believable change was found" in one["note"]]
    assert rows["balanced"]["environment"] == pytest.approx(1 - len(strange) / len(flipped), abs=1e-6)


def test_scoring_a_rows_own_file_gives_its_figures(out, table):
    material = red_material("small")
    scorer = Scorer(material.kit, material.real, ged_seconds=0.01)
    for name in ("balanced", "random"):
        found = list(read_records(out / "small" / f"{name}-seed0.jsonl", material.kit.schema))
        assert [one.id for one in found] == list(material.graphs.ids)
        figures = figures_of([scorer.score(found)], scorer.real)
        if name == "balanced":
            same = {key: value for key, value in figures.items() if not key.startswith("ged")}
            assert same == pytest.approx({key: table["small"][name][key] for key in same}, abs=2e-6, nan_ok=True)


def test_every_graph_is_told(out, table):
    rows = list(csv.DictReader((out / "graphs.csv").read_text().splitlines()))
    assert len(rows) == NUM_GRAPHS * (len(SHOWN) + 1)
    assert set(rows[0]) == {"dataset", "row", "seed", "id", *SCORES}
    flips = [float(row["flip_ratio"]) for row in rows if row["row"] == "random"]
    assert sum(flips) / len(flips) == pytest.approx(table["small"]["random"]["flip_ratio"], abs=1e-6)


def test_tables_and_picture_are_written(out):
    text = (out / "table.md").read_text()
    assert all(f"| small | {row.name} |" in text for row in SHOWN)
    assert (out / "frontier.svg").read_text().count("<svg") == 1
    assert len(list(csv.DictReader((out / "table.csv").read_text().splitlines()))) == len(SHOWN)
    assert not list(out.rglob(".shards/*")), "what was put together is taken away"


def contents(folder):
    """All files; times are nobody's law."""
    found = {}
    for path in sorted(folder.rglob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().split("\n") if line]
        found[path.name] = [{**line, "seconds": 0} for line in lines]
    return found


def test_a_second_run_repeats_nothing(out, monkeypatch):
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for work in ("explain_shard", "score_shard", "realism_shard"):
        monkeypatch.setattr(quality_runs, work, lambda shard: pytest.fail("done again"))
    run(out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_killed_run_goes_on_to_the_same_end(out, tmp_path, monkeypatch):
    """The first shard of each run is done, then the process dies; what is there is not done again."""
    rows, done = chosen(["minimal", "random"]), []

    def dies(shard):
        if shard.start:
            raise KeyboardInterrupt
        done.append(shard.path)
        return explain_shard(shard)

    dies.__name__ = "explain_shard"
    monkeypatch.setattr(quality_runs, "explain_shard", dies)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, rows)

    def goes_on(shard):
        assert shard.path not in done, "done again"
        return explain_shard(shard)

    goes_on.__name__ = "explain_shard"
    monkeypatch.setattr(quality_runs, "explain_shard", goes_on)
    run(tmp_path, rows)
    whole = contents(out)
    assert contents(tmp_path) == {name: whole[name] for name in contents(tmp_path)}
    assert len(done) == 1


@pytest.mark.parametrize("change", ["damage", "settings"])
def test_what_does_not_fit_is_explained_again(out, tmp_path, monkeypatch, change):
    copy = shutil.copytree(out, tmp_path / "copy")
    monkeypatch.setattr(quality_runs, "explain_shard", lambda shard: pytest.fail("explained again"))
    quality_runs.explain_shard.__name__ = "explain_shard"
    if change == "damage":
        (copy / "small" / "minimal-seed0.jsonl").write_text("")
    else:
        monkeypatch.setattr("graphflip.bench.quality.rows.EditSearch", lambda *a, **k: NoChange(a[0]))
    with pytest.raises(pytest.fail.Exception, match="explained again"):
        run(copy, chosen(["minimal", "greedy"]))


def test_another_judge_scores_again_without_explaining(out, tmp_path, monkeypatch):
    copy = shutil.copytree(out, tmp_path / "copy")
    stored = json.loads((copy / "small" / "minimal-seed0.json").read_text())
    stored["scored"]["another GNN"] = "of other weights"
    (copy / "small" / "minimal-seed0.json").write_text(json.dumps(stored))
    monkeypatch.setattr(quality_runs, "explain_shard", lambda shard: pytest.fail("explained again"))
    with workers(1) as pool:
        again = QualityRun(red_material, "small", chosen(["minimal"])[0], 0, copy / "small", 0.01).complete(pool)
    assert again["nafr"].tolist() == stored["measures"]["nafr"]


def test_the_realism_of_held_answers_is_measured_without_explaining(out, tmp_path, monkeypatch):
    """Measures that are missing are filled in from the file, even if the method has other settings by now."""
    copy = shutil.copytree(out, tmp_path / "copy")
    monkeypatch.setattr(quality_runs, "explain_shard", lambda shard: pytest.fail("explained again"))
    monkeypatch.setattr(quality_runs, "score_shard", lambda shard: pytest.fail("scored again"))
    path = copy / "small" / "minimal-seed0.json"
    stored = json.loads(path.read_text())
    before = stored.pop("realism")["measures"]
    stored["explained"]["settings"] = "of another time"
    path.write_text(json.dumps(stored))
    run(copy, ())
    assert json.loads(path.read_text())["realism"]["measures"] == before
    again = json.loads((copy / "table.json").read_text())["small"]
    assert again == json.loads((out / "table.json").read_text())["small"]


def test_answers_about_another_model_are_not_asked_if_they_are_minimal_for_this_one(out, tmp_path):
    copy = shutil.copytree(out, tmp_path / "copy")
    path = copy / "small" / "minimal-seed0.json"
    stored = json.loads(path.read_text())
    del stored["realism"]
    stored["scored"]["classifier"] = "of other weights"
    path.write_text(json.dumps(stored))
    with workers(1) as pool:
        found = QualityRun(red_material, "small", chosen(["minimal"])[0], 0, copy / "small", 0.01).realism(pool)
    assert bool(found["class_minimal"].isnan().all())


def test_answers_to_other_graphs_have_no_realism(out, tmp_path):
    copy = shutil.copytree(out, tmp_path / "copy")
    path = copy / "small" / "minimal-seed0.json"
    stored = json.loads(path.read_text())
    stored["explained"]["part"] = "validation"
    path.write_text(json.dumps(stored))
    with workers(1) as pool:
        assert QualityRun(red_material, "small", chosen(["minimal"])[0], 0, copy / "small", 0.01).realism(pool) is None


def test_several_processes_give_the_same(data_folder, tmp_path):
    rows = chosen(["random"])
    for count in (1, 2):
        folder = tmp_path / str(count)
        run_quality(["aids"], folder, rows, "validation", 3, (0,), count, ged_seconds=0.0)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_worker_that_dies_is_an_error_that_says_so():
    with workers(2) as pool, pytest.raises(GraphflipError, match="start again"):
        list(pool(os._exit, [1]))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"datasets": []}, "one or more datasets"),
        ({"datasets": ["aids", "aids"]}, "each once"),
        ({"seeds": ()}, "`seeds`"),
        ({"num_workers": 0}, "`workers`"),
        ({"part": "train"}, "`part`"),
        ({"limit": 0}, "`limit`"),
    ],
)
def test_settings_are_checked(tmp_path, arguments, complaint):
    with pytest.raises(ConfigError, match=complaint):
        run_quality(**{"datasets": ["planted"], "out": tmp_path, **arguments})


def test_unknown_methods_are_refused():
    with pytest.raises(ConfigError, match=r"among believable, balanced, .*; got magic"):
        chosen(["minimal", "magic"])


def test_goals_are_about_figures_there_are():
    rows = {row.name for row in ROWS}
    for goal in GOALS:
        assert goal.dataset == "planted" or (goal.row in rows and goal.figure in KEYS)


def test_goals_are_met_or_not():
    results = {"d": {"r": {"x": 0.95, "y": 1.2}, "limit": {"y": 1.0}}}
    assert QualityGoal("d", "r", "x", True, 0.95).is_met(results) is True
    assert QualityGoal("d", "r", "x", True, 0.96).is_met(results) is False
    assert QualityGoal("d", "r", "y", False, other=("limit", "y"), factor=1.3).is_met(results) is True
    assert QualityGoal("d", "r", "y", False, other=("limit", "y"), factor=1.1).is_met(results) is False
    assert QualityGoal("d", "r", "z", True, 0.5).is_met(results) is None
    assert QualityGoal("e", "r", "x", True, other=("limit", "y")).is_met(results) is None


def test_a_known_answer_is_found_with_the_fewest_edits_only():
    graph = planted(40).graphs()
    graph = graph[int((answers(graph) == 1).nonzero()[0])]
    other = next(one for one in planted(40).graphs() if bool(answers(one) != answers(graph)) or one is not graph)
    none = Counterfactual("a", "x", 1, graph, graph, 0.1, 0.9, Outcome.FLIPPED, classes=CLASSES)
    assert _figures([none])["changed"] == 0, "the classifier's word is not taken"
    far = Counterfactual("a", "x", 1, graph, other, 0.1, 0.9, Outcome.FLIPPED)
    assert _figures([far])["found"] == 0


def test_the_part_and_the_limit_are_those_asked_for(data_folder):
    material = quality_runs.material_of(Packaged("validation", 3), "aids")  # loaded once in this process
    assert list(material.graphs.ids) == list(material.dataset.part("validation").ids[:3])
    assert len(material.real.confidence) == len(material.dataset.part("validation"))
    assert torch.equal(material.graphs.labels, material.dataset.part("validation").labels[:3])
