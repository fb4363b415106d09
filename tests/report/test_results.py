"""Results on disk: what a file follows is seen from it, folders of every kind are read, what is wrong is named."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.errors import DataError
from graphflip.explain.counterfactual import Counterfactual, Outcome
from graphflip.explain.records import to_record, write_records
from graphflip.report.markdown import markdown_to_html
from graphflip.report.results import infer_schema, read_results

from .pairs import CHARGED, EXPLICIT, IMPLIED, explanation, failure, molecule_pair, random_pair


@given(seed=st.integers(0, 2**16), n=st.integers(1, 6), m=st.integers(1, 6))
def test_a_file_is_read_back_without_its_schema(seed, n, m, tmp_path_factory):
    factual, counterfactual = random_pair(seed, n, m)
    path = tmp_path_factory.mktemp("results") / "some.jsonl"
    found = Counterfactual("x", "test", 1, factual, counterfactual, 0.1, 0.9, Outcome.FLIPPED)
    write_records(path, [found])
    (again,) = read_results(path).sets[0].explanations
    stored = to_record(found)
    assert {key: value for key, value in to_record(again).items() if key != "smiles"} == stored


@pytest.mark.parametrize("schema", [EXPLICIT, IMPLIED, CHARGED])
def test_molecules_are_seen_to_be_molecules(schema, tmp_path):
    factual, counterfactual = molecule_pair("C[N+](C)(C)CCO", "C[N+](C)(C)CCN", schema)
    write_records(
        tmp_path / "some.jsonl",
        [Counterfactual("x", "test", 1, factual, counterfactual, 0.1, 0.9, Outcome.FLIPPED)],
    )
    assert infer_schema(tmp_path / "some.jsonl").chemistry == schema.chemistry


def test_a_job_has_rows_that_could_not_be_read(tmp_path):
    write_records(tmp_path / "counterfactuals.jsonl", [explanation(), failure()])
    lines = ["row,id,outcome,note", "0,bad,bad_input,No SMILES.", "1,y,no_move_allowed,"]
    (tmp_path / "unexplained.csv").write_text("\n".join(lines))
    (job,) = read_results(tmp_path).sets
    assert [one.id for one in job.explanations] == ["x", "y"]
    assert [(one.id, one.outcome, one.note) for one in job.unread] == [("bad", "bad_input", "No SMILES.")]
    assert (job.num_shown, job.total) == (3, 3)
    (cut,) = read_results(tmp_path, limit=1).sets
    assert (cut.num_shown, cut.total) == (2, 3)


def test_a_benchmark_has_tables_and_figures_and_many_files(tmp_path):
    for name in ("aids/cgcf", "aids/random", "nci1/cgcf"):
        several = [explanation(id=f"{name}/{k}") for k in range(4)]
        write_records(tmp_path / f"{name}.jsonl", several)
    (tmp_path / "table.md").write_text("### Table\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    (tmp_path / "aids" / "other.jsonl").write_text('{"id": 1}')  # not of explanations
    for name in ("curve.svg", "curve.png", "photo.png"):
        (tmp_path / name).write_bytes(b"x")
    results = read_results(tmp_path, limit=7)
    assert [(part.name, len(part.explanations), part.total) for part in results.sets] == [
        ("aids/cgcf", 2, 4),
        ("aids/random", 2, 4),
        ("nci1/cgcf", 2, 4),
    ]
    assert len(results.tables) == 1
    assert [one.name for one in results.figures] == ["curve.svg", "photo.png"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "must be a JSON object"),
        ("{}", "line 2: not an explanation"),
        ('{"factual": {"nodes": [[1]], "edges": []}, "counterfactual": null}', "line 2: not an explanation"),
        ('{"factual": {"nodes": 3, "edges": []}, "counterfactual": null}', "line 2: not an explanation"),
        ('{"smiles": 3, "factual": null, "counterfactual": null}', "line 2: not an explanation"),
        ("[" * 5000, "line 2: not JSON"),
    ],
)
def test_what_is_wrong_is_named(line, message, tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(to_record(explanation())) + "\n" + line)
    with pytest.raises(DataError, match=message):
        read_results(path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_results(tmp_path / "absent")
    with pytest.raises(DataError, match=r"must have counterfactuals.jsonl"):
        read_results(tmp_path)
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="cannot be read"):
        read_results(tmp_path / "binary.jsonl")


def test_odd_numbers_do_not_stop_a_report(tmp_path):
    found = dataclasses.replace(explanation(), p_factual=float("nan"), p_counterfactual=None)
    write_records(tmp_path / "some.jsonl", [found])
    (again,) = read_results(tmp_path / "some.jsonl").sets[0].explanations
    assert again.p_factual != again.p_factual


def test_markdown_of_benchmarks():
    html = markdown_to_html(
        "# A <b>\n\n| x | y |\n| --- | ---: |\n| `1` | **2** |\n\n- a\n- `b`\n\n1. first\n2. second\n\nand so\non"
    )
    assert html == (
        '<h3>A &lt;b&gt;</h3><div class="wide" tabindex="0"><table><thead><tr><th scope="col">x</th>'
        '<th scope="col">y</th></tr></thead><tbody><tr><td><code>1</code></td><td><b>2</b></td></tr></tbody></table>'
        "</div><ul><li>a</li><li><code>b</code></li></ul><ol><li>first</li><li>second</li></ol><p>and so on</p>"
    )
