"""The field's benchmark: rows, resuming, tables, stability, methods of the user, files of other tools."""

import dataclasses
import json
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
import torch

from graphflip.bench.field import oracles
from graphflip.bench.field.add import add_to_field
from graphflip.bench.field.benchmark import FieldPlan, run_field
from graphflip.bench.field.methods import METHODS, chosen_methods
from graphflip.bench.field.papers import PUBLISHED, WORDS, published_lines
from graphflip.bench.field.sets import MADE, set_name, truth_of
from graphflip.bench.field.stability import jaccard, perturbed, run_stability
from graphflip.bench.field.taken import DENIED, Taken
from graphflip.bench.quality.runs import material_of
from graphflip.data.planted.motif import planted
from graphflip.edits import edits_between
from graphflip.errors import ConfigError
from graphflip.explain.constraints import Constraints
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.explainer import Explainer
from graphflip.explain.method import AbstractExplainer
from graphflip.explain.records import read_records

from .stand_ins import red_kit

SMALL = planted(120, max_nodes=7, min_nodes=5)
FIGURES = ("flip_ratio", "nafr", "nafr_other", "ged", "proved", "heavy_edits", "edits", "seconds", "calls", "n")


@pytest.fixture(autouse=True, scope="module")
def _small_set():
    """A small planted set whose models are there at once, in the place of a kit that is fitted for a minute."""
    kit = red_kit(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracles, "load_set", lambda name, out: (SMALL, kit))
        material_of.cache_clear()
        yield
    material_of.cache_clear()


@pytest.fixture(scope="module")
def _measured(tmp_path_factory, _small_set):
    return run_field(plan(), tmp_path_factory.mktemp("field"))


@pytest.fixture
def measured(_measured, tmp_path):
    """A copy of a folder in which two methods are measured."""
    return Path(shutil.copytree(_measured, tmp_path / "field"))


def plan(**changes):
    settings = {
        "data": ["planted"],
        "methods": ["obs", "gcf_walk"],
        "oracles": ["kit"],
        "limit": 4,
        "ged_seconds": 0.05,
    }
    return FieldPlan(**(settings | changes))


def table(out):
    return json.loads((out / "table.json").read_text())


def test_a_row_has_its_figures_intervals_failures_and_command(measured):
    row = table(measured)["planted"]["kit"]["gcf_walk"]
    assert set(FIGURES) <= row.keys()
    assert row["flip_ratio_low"] <= row["flip_ratio"] <= row["flip_ratio_high"]
    assert row["n"] == 4
    assert 0 <= row["known_answer"] <= 1
    failed = sum(row["failures"].values())
    assert row["flip_ratio"] == pytest.approx(1 - failed / 4)
    assert row["command"].startswith("graphflip bench field --data planted --methods obs,gcf_walk --oracles kit")
    for name in ("table.md", "table.tex", "table.csv", "index.html", "believed.svg", "seconds.svg"):
        assert (measured / name).stat().st_size > 100, name
    page = (measured / "index.html").read_text()
    assert page.count("<svg") == 2
    assert not re.findall(r"(?:src|href)=\"http", page), "the page fetches nothing"


def test_a_second_run_computes_nothing_and_other_rows_stay(measured):
    records = measured / "planted" / "kit" / "gcf_walk-seed0.jsonl"
    before, row = records.stat().st_mtime_ns, table(measured)["planted"]["kit"]["gcf_walk"]
    run_field(plan(methods=["obs", "gcf_walk"]), measured)
    assert records.stat().st_mtime_ns == before
    run_field(plan(methods=["irand"]), measured)
    block = table(measured)["planted"]["kit"]
    assert block["gcf_walk"] == row
    assert {"obs", "gcf_walk", "irand"} <= block.keys()
    assert list(table(measured)["ranks"]["flip_ratio"]["ranks"]), "methods of all blocks are ranked"


def test_figures_of_other_graphs_are_not_mixed(measured):
    run_field(plan(methods=["irand"], limit=3), measured)
    assert set(table(measured)["planted"]["kit"]) == {"graphs", "oracle", "irand"}


def test_graphs_are_a_sample_by_seed(tmp_path):
    ids = {seed: list(plan(sample=seed).source(tmp_path, "kit")("planted").graphs.ids) for seed in (0, 1)}
    assert ids[0] != ids[1]
    assert ids[0] == list(plan().source(tmp_path, "kit")("planted").graphs.ids)
    assert set(ids[0]) <= set(SMALL.part("test").ids)


def test_slow_methods_may_have_fewer_graphs_which_are_among_those_of_the_others(tmp_path):
    chosen = plan(methods=["obs", "irand"], fewer={"irand": 2})
    run_field(chosen, tmp_path)
    block = table(tmp_path)["planted"]["kit"]
    assert (block["obs"]["n"], block["irand"]["n"]) == (4, 2)
    assert "--limit 4 --fewer irand=2" in block["irand"]["command"]
    many, few = (set(chosen.source(tmp_path, "kit", name)("planted").graphs.ids) for name in ("obs", "irand"))
    assert few < many


def test_flips_are_told_by_class(measured):
    lines = [json.loads(line) for line in (measured / "planted/kit/obs-seed0.jsonl").read_text().splitlines()]
    row = table(measured)["planted"]["kit"]["obs"]
    asked = [line["classes"][line["target"]] for line in lines]
    assert sum(row["flips_to"][name] for name in asked) / len(asked) == pytest.approx(row["flip_ratio"], abs=1e-3)


def test_published_figures_stand_beside_ours():
    for one in PUBLISHED:
        assert one.method in METHODS
        assert one.oracle in oracles.ORACLES
        assert one.figures.keys() <= WORDS.keys()
        row = dict.fromkeys(one.figures, 0.125) | {"flips_to": {one.toward: 0.25}}
        (line,) = published_lines({one.data: {one.oracle: {one.method: row}}})[2:]
        for name, theirs in one.figures.items():
            ours = 0.25 if one.toward and name == "flip_ratio" else 0.125
            assert f"{WORDS[name]} {theirs:.2f} / {ours:.2f}" in line
    assert published_lines({}) == []


def test_what_cannot_be_done_is_said_and_not_counted(tmp_path):
    run_field(plan(methods=["irand", "exmol"]), tmp_path)
    block = table(tmp_path)["planted"]["kit"]
    assert block["exmol"]["cannot"] == "for molecules only"
    assert "not measured: for molecules only" in (tmp_path / "table.md").read_text()


def test_an_oracle_is_trained_once_its_accuracy_is_told_and_stability_is_measured(tmp_path):
    run_field(plan(methods=["irand"], oracles=["gin"], limit=2), tmp_path)
    weights = tmp_path / "oracles" / "planted-gin-seed0" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    assert table(tmp_path)["planted"]["gin"]["oracle"]["accuracy"] > 0.4
    material_of.cache_clear()
    run_stability(plan(methods=["gcf_walk"], oracles=["gin"]), tmp_path, 3)
    assert weights.stat().st_mtime_ns == before
    row = table(tmp_path)["stability"]["planted"]["gin"]["gcf_walk"]
    assert row["n"] == 3
    for change in ("seed", "noise", "retrained"):
        if row.get(change):
            assert 0 <= row[change]["valid"] <= 1
            assert 0 <= row[change].get("similarity", 0) <= 1
    assert "another seed: valid" in (tmp_path / "table.md").read_text()


@dataclasses.dataclass(frozen=True)
class Boaster(AbstractExplainer):
    """Returns the factual, in another order of nodes, and claims a flip."""

    classifier: object
    method: str = "boaster"

    def explain_batch(self, question):
        order = torch.arange(question.graph.num_slots).flip(0)
        return [
            question.answer(k, self.method, question.graph[k].permute(order), Outcome.FLIPPED, p_counterfactual=1.0)
            for k in range(len(question.graph))
        ]


def test_claims_are_not_believed_and_nodes_are_aligned():
    kit = red_kit(SMALL)
    answers = Taken(Boaster(kit.classifier), 0.5, "boaster").explain(SMALL.part("test").graphs(slice(0, 4)))
    for answer in answers:
        assert not answer.flipped
        assert answer.note == DENIED
        assert answer.edits == [], "the same graph in another order is no edit away"


@dataclasses.dataclass(frozen=True)
class Sleeper(Boaster):
    """Waits, and computes nothing."""

    def explain_batch(self, question):
        time.sleep(0.5)
        return super().explain_batch(question)


def test_seconds_are_those_of_the_processor():
    (answer,) = Taken(Sleeper(red_kit(SMALL).classifier), 0.5, "sleeper").explain(SMALL.graphs(0))
    assert 0 < answer.seconds < 0.4


def test_our_methods_keep_the_constraints_that_they_say_they_take():
    kit = red_kit(SMALL)
    for name, method in METHODS.items():
        if not method.about.abilities.takes_constraints:
            continue
        search = Explainer(kit).search(prefer=name, constraints=Constraints(freeze_nodes={0, 1}))
        for answer in search.explain(SMALL.part("test").graphs(slice(0, 2))):
            assert not any({0, 1} & set(edit.at) for edit in answer.edits)


def test_a_perturbed_graph_differs_in_few_edges():
    graph = SMALL.graphs(0).pad(7)
    for seed in range(5):
        changed = edits_between(graph, perturbed(graph, torch.Generator().manual_seed(seed)))
        assert {edit.op for edit in changed} <= {"add_edge", "remove_edge"}
        assert 1 <= len(changed) <= max(1, round(0.05 * int(graph.num_edges)))


def test_edits_that_are_the_same_are_alike():
    graph, other = SMALL.graphs(0).pad(7), SMALL.graphs(1).pad(7)
    edits = edits_between(graph, other)
    assert jaccard(edits, list(reversed(edits))) == 1
    assert jaccard(edits, edits[:1]) == pytest.approx(1 / len(edits))
    assert jaccard(edits, []) == 0


def test_a_file_of_another_tool_becomes_a_row(measured):
    stored = measured / "planted" / "kit" / "gcf_walk-seed0.jsonl"
    file = measured / "theirs.jsonl"
    file.write_bytes(stored.read_bytes())
    add_to_field(file, measured, "planted", ged_seconds=0.05)
    block = table(measured)["planted"]["kit"]
    same = ("flip_ratio", "nafr", "nafr_other", "edits", "ged", "known_answer")
    assert {name: block["theirs"].get(name) for name in same} == {name: block["gcf_walk"].get(name) for name in same}
    assert "| theirs |" in (measured / "table.md").read_text()
    with pytest.raises(ConfigError, match="a name of its own"):
        add_to_field(file, measured, "planted", method="cf2")


def test_known_answers_are_recognized(measured):
    truth = truth_of("planted")
    assert truth is not None
    for answer in read_records(measured / "planted" / "kit" / "gcf_walk-seed0.jsonl", SMALL.schema):
        if truth.found(answer):
            assert len(answer.edits) == int(MADE["planted"].truth.fewest(answer.factual, int(answer.target)))


def test_wrong_plans_are_refused(tmp_path):
    for wrong, words in (
        ({"methods": ["cf3"]}, "Methods must be among"),
        ({"methods": []}, "one or more methods"),
        ({"oracles": ["svm"]}, "Oracles must be among"),
        ({"data": ["aids", "aids"]}, "each once"),
        ({"data": ["a/planted.csv", "b/planted.csv"]}, "different names"),
        ({"limit": 0}, "at least 1"),
        ({"fewer": {"cf2": 3}}, "methods that are measured"),
        ({"fewer": {"obs": 0}}, "at least 1"),
        ({"part": "train"}, "must be one of"),
        ({"methods": ["no.such:Thing"]}, "that Python finds"),
        ({"methods": ["json:JSONDecoder"]}, "extends AbstractRival"),
    ):
        with pytest.raises(ConfigError, match=words):
            plan(**wrong)
    assert set_name("data/My set.csv") == "My-set"


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "field.md").read_text()
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class " in block)
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
    (tmp_path / "my_method.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("my_method", None)
    (spec,) = re.findall(r"--methods (my_method:\w+)", text)
    (method,) = chosen_methods([spec])
    run_field(plan(methods=[spec, "irand"]), tmp_path / "out")
    block = table(tmp_path / "out")["planted"]["kit"]
    assert block[method.name]["n"] == 4
    assert f"`{method.name}`" in (tmp_path / "out" / "table.md").read_text()
