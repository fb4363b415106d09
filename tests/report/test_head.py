"""The head of a report: what was asked of which model, what changes most often, and a table to take along."""

import csv
import io
import shlex

import pytest
from typer.testing import CliRunner

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.cli import app
from graphflip.explain.query import Query
from graphflip.report.about import about_job, command, figures_in_words
from graphflip.report.changes import changes_section, exchanged, explanations_csv
from graphflip.report.page import report_html
from graphflip.report.results import read_results

from .pairs import explanation, failure

NITRO = ("O=[N+]([O-])c1ccccc1", "OC(=O)c1ccccc1")


def test_groups_that_go_and_come_are_counted_once_in_each_explanation():
    counted = exchanged([explanation("a", *NITRO), explanation("b", *NITRO), failure("c")])
    assert counted.gone.most_common(1) == [("nitro group", 2)]
    assert counted.came.most_common(1) == [("carboxy group", 2)]
    html = changes_section([explanation("a", *NITRO), failure("c")])
    assert html.index("Groups gone") < html.index("nitro group") < html.index("Groups added") < html.index("carboxy")
    assert changes_section([failure("c")]) == ""


@pytest.mark.parametrize(
    ("sentence", "gone", "came"),
    [
        ("take away the benzene ring fused at C6 and C7", "benzene ring", ""),
        ("hydrogenate the ring of C0, C1, C2, C3, C8 and C9", "aromatic ring", ""),
        ("fuse a benzene ring to C0 and C1", "", "benzene ring"),
        ("exchange the benzene ring of C1, C2 and C6 for a thiophene ring", "benzene ring", "thiophene ring"),
        ("replace the benzene ring fused at C3 and C5 by chloro group on C3", "benzene ring", "chloro group"),
        ("replace methyl group on C2 by a benzene ring joined to C2", "methyl group", "benzene ring"),
        ("open the epoxide ring of C0, O1 and C2", "epoxide ring", ""),
        ("close an epoxide ring over C1 and O2", "", "epoxide ring"),
    ],
)
def test_rings_that_go_and_come_are_counted(sentence, gone, came, monkeypatch):
    monkeypatch.setattr("graphflip.report.changes.describe", lambda _: [sentence])
    counted = exchanged([explanation("a", *NITRO)])
    assert (list(counted.gone), list(counted.came)) == ([gone] * bool(gone), [came] * bool(came))


def test_the_table_in_the_page_has_a_row_for_each_explanation_and_no_formula():
    hostile = explanation("=1+1", *NITRO)
    rows = list(csv.DictReader(io.StringIO(explanations_csv([hostile, failure("c")]))))
    assert [row["id"] for row in rows] == ["'=1+1", "c"]
    assert rows[0]["smiles_factual"] == NITRO[0]
    assert "nitro group" in rows[0]["changes"]
    assert rows[1]["outcome"] != "flipped"


@pytest.mark.parametrize(
    "query",
    [
        Query(),
        Query.of(prefer="minimal", num=3, budget=4, confidence=0.9, parent=False, freeze_rings=True),
        Query.of(freeze_nodes=[3, 4], freeze_edges=[(2, 5)], freeze_smarts=["[N+](=O)[O-]"], forbid_node_types=["Cl"]),
    ],
)
def test_the_command_asks_the_question_again(query, monkeypatch):
    """What the head of a report says is read by the command line as the question that was asked."""
    asked = []
    monkeypatch.setattr("graphflip.jobs.explain_now", lambda settings, source: asked.append(settings.query) or ())
    words = shlex.split(command("CCO", "ames", query))
    assert words[0] == "graphflip"
    run = CliRunner().invoke(app, words[1:-2])  # without --out: answers are printed
    assert run.exit_code == 0, run.output
    assert asked == [query]


def test_a_job_says_what_it_was(tmp_path):
    (tmp_path / "mine.smi").write_text("CN(C)N=O first\n")
    arguments = [str(tmp_path / "mine.smi"), "--model", "aids", "--prefer", "minimal", "--budget", "1"]
    run = CliRunner().invoke(app, ["explain", *arguments, "--out", str(tmp_path / "job")])
    assert run.exit_code == 0, run.output
    facts = dict(about_job(tmp_path / "job"))
    assert (facts["Model"], facts["Preference"], facts["Options"]) == ("aids", "minimal", "budget 1")
    assert "of 100 test graphs" in facts["Classifier"] == figures_in_words("aids")
    assert facts["Command"].startswith("graphflip explain mine.smi --model aids --prefer minimal --budget 1")
    html = report_html(read_results(tmp_path / "job"))
    assert all(said in html for said in facts.values() if "&" not in said)
    assert about_job(tmp_path) == ()
