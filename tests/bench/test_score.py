"""Laws of scores: what a counterfactual is worth does not depend on who made it, or on the order of its nodes."""

import csv
import dataclasses
import json
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflip.bench.realism import REALISM
from graphflip.bench.reality import Reality
from graphflip.bench.score import SCORES, Scorer, figures_of
from graphflip.bench.score_file import check_lines_path, score_file
from graphflip.data.molecules.molecule import from_smiles
from graphflip.data.planted.motif import planted
from graphflip.errors import ConfigError, DataError
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.explainer import load
from graphflip.explain.latent.baselines import NoChange, RandomExample
from graphflip.explain.records import to_record, write_records
from graphflip.graph import Graph

from .stand_ins import CountsRed, SeesOneClass, red_kit

SMALL = planted(120, max_nodes=9, min_nodes=6)
TEST = SMALL.part("test").graphs().pad(SMALL.schema.max_nodes)
ORDER_FREE = ("flip_ratio", "p_target", "nafr", "nafr_ceiling", "nafr_other", "nafr_other_ceiling", "plausible")


@pytest.fixture(scope="module")
def scorer():
    return Scorer.of(red_kit(SMALL), SMALL.part("test"), ged_seconds=0.01)


def pair(factual, counterfactual, target=1, method="other tool"):
    return Counterfactual("x", method, target, factual, counterfactual, 0.1, 0.9, Outcome.FLIPPED)


def test_changing_nothing_scores_nothing(scorer):
    found = NoChange(scorer.kit.classifier).explain(TEST)
    measures = scorer.score(found)
    for name in ("flip_ratio", "nafr", "nafr_other", "edits", "heavy_edits", "ged"):
        assert measures[name].tolist() == [0.0] * len(found), name
    figures = figures_of([measures], scorer.real)
    assert figures["flip_ratio"] == figures["nafr"] == 0
    assert figures["mean_edits"] is None, "what does not flip is no counterfactual, so there is none to count edits of"
    assert figures["found"] == 1


@settings(max_examples=3)
@given(k=st.integers(0, 11), other=st.integers(0, 11), seed=st.integers(0, 99))
def test_the_order_of_nodes_changes_no_score_that_has_none(scorer, k, other, seed):
    order = torch.randperm(TEST.num_slots, generator=torch.Generator().manual_seed(seed))
    measures = scorer.score([pair(TEST[k], TEST[other]), pair(TEST[k], TEST[other].permute(order))])
    for name in ORDER_FREE:
        one, same = measures[name].tolist()
        assert one == pytest.approx(same, abs=1e-4, nan_ok=True), name
    if bool(measures["ged_exact_share"].all()):
        assert measures["ged"][0] == measures["ged"][1]
    assert bool((measures["ged"] <= measures["edits"]).all()), "the alignment as given is an upper bound"


@settings(max_examples=3)
@given(k=st.integers(0, 11), seed=st.integers(0, 99))
def test_renumbering_both_graphs_changes_nothing(scorer, k, seed):
    order = torch.randperm(TEST.num_slots, generator=torch.Generator().manual_seed(seed))
    found = [pair(TEST[k], TEST[(k + 1) % 12])]
    again = [
        dataclasses.replace(one, factual=one.factual.permute(order), counterfactual=one.counterfactual.permute(order))
        for one in found
    ]
    measures, same = scorer.score(found), scorer.score(again)
    for name in set(SCORES) - {"ged", "ged_lower", "ged_exact_share"}:  # bounds depend on the time there was
        torch.testing.assert_close(measures[name], same[name], equal_nan=True, atol=1e-4, rtol=1e-4)


def test_scores_do_not_depend_on_who_else_is_scored(scorer):
    found = [pair(TEST[k], TEST[(k + 1) % 12]) for k in range(4)]
    nothing = dataclasses.replace(found[2], counterfactual=None, outcome=Outcome.NOTHING_TO_OFFER)
    whole, fewer = scorer.score(found), scorer.score([*found[:2], nothing, *found[3:]])
    rest = torch.arange(4) != 2
    for name in set(SCORES) - {"ged", "ged_lower", "ged_exact_share"}:
        torch.testing.assert_close(whole[name][rest], fewer[name][rest], equal_nan=True, atol=1e-5, rtol=1e-4)
    assert fewer["flip_ratio"][2] == fewer["nafr"][2] == 0
    assert bool(fewer["edits"][2].isnan())


def test_judges_are_asked_and_believed(scorer):
    found = RandomExample(scorer.kit.vae, scorer.kit.classifier).explain(TEST)
    measures = scorer.score(found)
    assert torch.equal(measures["nafr"], measures["flip_ratio"]), "the first judge is the classifier itself"
    to_one = torch.tensor([one.target == 1 for one in found])
    assert measures["nafr_other"][to_one].sum() == 0, "the second sees class 0 everywhere"
    assert bool((measures["flip_ratio"][to_one] == 1).any())


@given(confidence=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_ceilings_are_shares_of_real_graphs(scorer, confidence):
    asked = torch.tensor(confidence)
    for name in ("nafr", "nafr_other"):
        ceiling = scorer.real.ceiling(name, asked)
        assert bool(((ceiling >= 0) & (ceiling <= 1)).all())
    assert scorer.real.ceiling("nafr", asked).tolist() == [1.0] * len(confidence), "this judge always agrees"


def test_a_ceiling_is_that_of_like_confidence():
    """Sure graphs on which the judge agrees, unsure ones on which it does not: confidence tells which it is."""
    sure = torch.cat([torch.full((60,), 0.99), torch.full((60,), 0.55)])
    real = Reality(sure, {"nafr": sure > 0.9}, None, {})
    assert real.ceiling("nafr", torch.tensor([0.98, 0.5, 0.6])).tolist() == [1, 0, 0]
    assert bool(real.ceiling("nafr_other", torch.tensor([0.5])).isnan().all()), "nobody is there to ask"


def test_without_real_graphs_there_are_no_ceilings(scorer):
    bare = Scorer.of(scorer.kit, ged_seconds=0.0)
    figures = figures_of([bare.score([pair(TEST[0], TEST[1])])])
    assert figures["nafr_ceiling"] is None
    assert "radical_free_real" not in figures


def test_a_judge_that_always_disagrees_has_no_ceiling_to_reach():
    class Contrary(CountsRed):
        def head(self, embedding):
            return -super().head(embedding)

    real = Reality.of(red_kit(SMALL, judge=Contrary), SMALL.part("test"))
    assert real.figures["nafr"] == 0
    assert real.ceiling("nafr", torch.tensor([0.7])).tolist() == [0]


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    """Two molecules, each with another in its place, as any tool might write them: no edits, nodes in any order."""
    schema = load("mutagenicity").kit.schema
    texts = [("O=[N+]([O-])c1ccccc1", "c1ccccc1"), ("CCO", "CCN")]
    lines = []
    for number, smiles in enumerate(texts):
        factual, counterfactual = (from_smiles(text, schema) for text in smiles)
        order = torch.arange(counterfactual.num_slots).flip(0)
        stored = to_record(pair(factual, counterfactual.permute(order), target=1, method="=other"))
        lines.append(
            {key: stored[key] for key in ("target", "method", "factual", "counterfactual")} | {"id": f"m{number}"}
        )
    path = tmp_path_factory.mktemp("score") / "found.jsonl"
    path.write_text("".join(json.dumps(line) + "\n\n" for line in lines))
    return path


def command(file, *more):
    words = [sys.executable, "-m", "graphflip", "score", file, "--model", "mutagenicity", *more]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def test_files_of_other_tools_are_scored(molecules, tmp_path):
    out, table = tmp_path / "scores.json", tmp_path / "lines.csv"
    shown = command(molecules, "--out", out, "--lines", table)
    assert shown.returncode == 0, shown.stderr
    assert "flip ratio" in shown.stdout
    figures = json.loads(out.read_text())["methods"]["=other"]
    assert figures["n"] == 2
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["id"] for row in rows] == ["m0", "m1"]
    assert {row["method"] for row in rows} == {"'=other"}, "no spreadsheet takes it for a formula"
    assert {row["molecule"] for row in rows} == {row["radical_free"] for row in rows} == {"1.0"}
    assert float(rows[1]["ged"]) == 3, "O becomes N and gains a hydrogen, whatever the order of nodes"
    assert float(rows[1]["edits"]) > 3, "the alignment as given is worse"
    assert rows[0]["nitro_touched"] == "1.0"
    assert rows[1]["nitro_touched"] == ""
    assert [row["scaffold_kept"] for row in rows] == ["1.0", "1.0"]
    assert [row["alerts_toward_all.nonmutagen"] for row in rows] == ["1.0", "0.0"]


def test_empty_slots_count_against_no_limit(tmp_path):
    """Added atoms are numbered after all of the factual's: a pair of large molecules has more numbers than nodes."""
    schema = load("mutagenicity").kit.schema
    factual = from_smiles("C=CC=C" + "C" * 13 + "O", schema)
    assert int(factual.num_nodes) == schema.max_nodes
    nodes, edges = factual.nodes(), [[i, j, edge] for i, j, edge in factual.edges()]
    oxygen, hydrogen = 17, schema.max_nodes - 1
    kept = [edge for edge in edges if not {oxygen, hydrogen} & set(edge[:2])]
    changed = [None if k in (oxygen, hydrogen) else node for k, node in enumerate(nodes)] + [{"type": "F"}]
    (end,) = [edge[0] for edge in edges if edge[1] == oxygen and nodes[edge[0]] == {"type": "C"}]
    line = {
        "id": "x",
        "target": 1,
        "factual": {"nodes": nodes, "edges": edges},
        "counterfactual": {"nodes": changed, "edges": [*kept, [end, len(nodes), {"type": "single"}]]},
    }
    path = tmp_path / "wide.jsonl"
    path.write_text(json.dumps(line))
    (row,) = list(score_file(path, "mutagenicity", ged_seconds=0.05)._lines())
    assert row["molecule"] == row["radical_free"] == row["changes"] == 1
    assert row["ged"] == 3, "O becomes F, a hydrogen and its bond go"


def test_json_lines_say_the_same_as_csv(molecules, tmp_path):
    scores = score_file(molecules, "mutagenicity", ged_seconds=0.05)
    scores.write_lines(tmp_path / "a.csv")
    scores.write_lines(tmp_path / "a.jsonl")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    for row, line in zip(rows, lines, strict=True):
        names = (*SCORES, *REALISM)
        assert {name: "" if line[name] is None else str(line[name]) for name in names} == {n: row[n] for n in names}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"target": 7}, r"explanation 'm1': A target must be a class of 0..1; got 7"),
        ({"counterfactual": {"nodes": [{"type": "Xx"}], "edges": []}}, r"line 3: .*Xx"),
        ({"factual": 3}, r"line 3: A graph must be an object"),
        ({"edits": [{"op": "add_node"}]}, "line 3"),
    ],
)
def test_bad_lines_are_named(molecules, tmp_path, change, complaint):
    first, second = (json.loads(line) for line in molecules.read_text().split("\n") if line)
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(first) + "\n\n" + json.dumps(second | change) + "\n")
    with pytest.raises(DataError, match=complaint):
        score_file(path, "mutagenicity")


def test_single_scores_need_a_kind_of_file(tmp_path):
    with pytest.raises(ConfigError, match=r"must end in \.csv or \.jsonl; got a\.txt"):
        check_lines_path(tmp_path / "a.txt")


def test_an_empty_file_is_an_error(tmp_path):
    path = tmp_path / "empty.jsonl"
    write_records(path, [])
    with pytest.raises(DataError, match="at least one explanation"):
        score_file(path, "mutagenicity")


def test_an_empty_graph_is_no_flip(scorer):
    nothing = Graph.build(SMALL.schema, [], []).pad(TEST.num_slots)
    for target in (0, 1):
        measures = scorer.score([pair(TEST[0], nothing, target)])
        assert measures["flip_ratio"] == measures["nafr"] == 0


def test_the_stand_ins_differ():
    """Or the tests of judges above would not see a fault."""
    one, other = CountsRed(SMALL.schema)(TEST).argmax(1), SeesOneClass(SMALL.schema)(TEST).argmax(1)
    assert not torch.equal(one, other)
