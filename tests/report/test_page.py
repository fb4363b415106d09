"""The report: all that was found and not found is told, text is text, and a large one stays small."""

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.cli.report import report
from graphflip.data.molecules.famous import famous_molecules
from graphflip.describe.wording import describe
from graphflip.errors import DataError
from graphflip.explain.claims.needs import Loss, Need, Smaller
from graphflip.explain.counterfactual import Outcome
from graphflip.explain.evidence import Evidence
from graphflip.explain.goals.values import ValueGoal
from graphflip.explain.records import write_records
from graphflip.report.demo import run_demo
from graphflip.report.page import report_html, summary, write_report
from graphflip.report.paths import STEPS
from graphflip.report.results import Results, ResultSet, UnreadInput

from .pairs import explanation, failure, random_pair

HOSTILE = '"><script>alert(1)</script><b onclick=x>&amp;'


def results(*found, unread=(), **more) -> Results:
    return Results("some", (ResultSet("some", found, len(found), unread),), **more)


class Reader(HTMLParser):
    """Tags and attributes of a page, and what a reader sees of each row."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict]] = []
        self.rows: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append("")

    def handle_data(self, data):
        if self.rows:
            self.rows[-1] += data

    def row(self, name: str) -> str:
        return next(row for row in self.rows if name in row)


def test_a_row_tells_what_was_found():
    found = explanation(id="chloroethane")
    needed = (Need(Loss.CLASS, tuple(found.edits)),)
    near = {"lead_factual": 0.06, "smaller": Smaller((), 0.52)}
    found = dataclasses.replace(found, one_minimal=True, needed_for=needed, **near)
    page = Reader(report_html(results(found, remarks={"chloroethane": "a remark"})))
    row = page.row("chloroethane")
    for text in (*describe(found), "flipped", "0.10 → 0.90", "of mutagen", "a remark", "needed for the class", "CCCl"):
        assert text in row
    for text in ("as it is: near the boundary", "the class still flips (0.52, near the boundary)"):
        assert text in row
    for text in ("another GNN: 0.80", "trees: 0.30", "surroundings as in the data", "implausible", "valences filled"):
        assert text in row
    assert sum(tag == "svg" and attrs["class"] == "gf" for tag, attrs in page.tags) == 3  # two pictures and the legend
    assert sum(tag == "svg" and attrs["class"] == "curve" for tag, attrs in page.tags) == 1


def test_a_row_tells_why_nothing_was_found():
    page = Reader(
        report_html(results(failure("yew", "Frozen."), unread=(UnreadInput("ziu", "bad_input", "No SMILES."),)))
    )
    assert all(text in page.row("yew") for text in ("no move allowed", "Frozen.", Outcome.NO_MOVE_ALLOWED.advice))
    assert all(text in page.row("ziu") for text in ("bad input", "No SMILES."))


def test_graphs_that_are_no_molecules_have_nodes_not_atoms():
    before, after = random_pair(seed=3, n=4, m=5)
    found = dataclasses.replace(explanation(), factual=before, counterfactual=after)
    assert before.schema.chemistry is None
    page, molecules = (report_html(results(one)) for one in (found, explanation()))
    assert "Numbers in nodes are those of the words." in page
    assert "nitro" not in page
    assert "Numbers beside atoms are those of the words." in molecules
    assert 'placeholder="a name, nitro' in molecules


def test_the_summary_counts():
    text = summary(results(explanation("a", one_minimal=False), explanation("b", one_minimal=True), failure()))
    assert "2 of 3 searches found a graph" in text
    assert "They are 1.0 edits away on average, 1 in the median." in text
    assert "In 1 of 2 every change is needed for the target; in the others some serve the confidence" in text
    assert "another GNN 100%, trees 0%" in text
    assert "100% are made of surroundings that occur in the data. 0% are plausible" in text
    assert text.endswith("Not found: no move allowed 1.")
    text = summary(results(explanation("a", one_minimal=True), unread=(UnreadInput("z", "bad_input", "No SMILES."),)))
    assert "1 of 1 searches found a graph" in text
    assert "In all of them every change is needed for the target." in text
    assert text.endswith("Inputs without a search: bad input 1.")
    cut = Results("some", (ResultSet("some", (explanation(),), 12),))
    assert summary(cut).startswith("Shown are 1 of 12 explanations")
    assert summary(dataclasses.replace(cut, tables=("x",))).startswith("Tables, figures and explanations of 1 runs.")
    assert summary(Results("some", ())) == "No explanations are stored here."


def test_values_are_told_as_values():
    goal, evidence = ValueGoal(low=2.0), Evidence({"another GNN": 2.5, "trees": 0.9})
    wanted = {"target": goal, "p_factual": 0.5, "p_counterfactual": 2.25, "classes": (), "evidence": evidence}
    found = explanation("pH", **wanted, probabilities=(0.5, 1.0, 2.25), note="Less sure than asked.")
    html = report_html(results(found))
    row = Reader(html).row("pH")
    for text in (
        "0.5 → 2.25",
        "value, to be at least 2",
        "✓ another GNN: 2.50",
        "✗ trees: 0.90",
        "Less sure than asked.",
    ):
        assert text in row
    assert "Value along the way: 0.50 to 2.25 in 3 steps" in html
    assert "data-key=p>Value<" in html
    text = summary(results(found))
    assert "1 of 1 searches found a graph with a value as asked for." in text
    assert "another GNN 100%, trees 0%" in text
    assert "found a graph that reaches the target" in summary(results(found, explanation()))


@settings(max_examples=10)
@given(text=st.text(max_size=20))
@example(text=HOSTILE)
def test_text_from_outside_stays_text(text):
    found = explanation(id=text, note=text, classes=(text, text))
    shown = results(found, failure(text, text), unread=(UnreadInput(text, text, text),), remarks={text: text})
    html = report_html(dataclasses.replace(shown, title=text, tables=(text,)))
    plain = Reader(report_html(results(explanation(), failure(), unread=(UnreadInput("x", "bad_input", "x"),))))
    strange = {tag for tag, _ in Reader(html).tags} - {tag for tag, _ in plain.tags}
    assert strange <= {"span", "p", "h3", "ol", "li", "code", "b", "table", "div", "section", "h2"}
    assert all(not key.startswith("on") for _, attrs in Reader(html).tags for key in attrs)
    assert html.count("<script") == 1


def test_the_page_needs_nothing_and_allows_nothing_else(tmp_path):
    (tmp_path / "curve.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    html = report_html(results(explanation(), figures=(tmp_path / "curve.svg",)))
    tags = Reader(html).tags
    links = [attrs[key] for _, attrs in tags for key in ("src", "href", "action") if attrs.get(key)]
    assert all(link.startswith(("#", "data:image/svg+xml;base64,", "data:text/csv;base64,")) for link in links)
    assert not any("style" in attrs for _, attrs in tags)
    policy = next(attrs["content"] for tag, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_a_thousand_explanations_are_small():
    """Some rows of the size that Mutagenicity has, and a bound that leaves a thousand under 10 MB."""
    large = explanation(before="CC(=O)Nc1ccc2c(c1)Cc1cc(CCOCCCl)ccc1-2", after="CC(=O)Nc1ccc2c(c1)Cc1cc(CCOCCN)ccc1-2")
    way = tuple(k / 100 for k in range(101))
    rows = [dataclasses.replace(large, id=f"row {k}", probabilities=way) for k in range(11)]
    fixed = len(report_html(results(rows[0])).encode())
    assert (len(report_html(results(*rows)).encode()) - fixed) / 10 < 9_000


def test_the_command_writes_a_page(tmp_path):
    write_records(tmp_path / "some.jsonl", [explanation("chloroethane")])
    target = tmp_path / "new" / "report.html"
    report(tmp_path / "some.jsonl", target)
    assert "chloroethane" in target.read_text()


def test_a_page_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_report(tmp_path / "file" / "report.html", results(explanation()))


def test_a_curve_leads_from_the_factual_to_the_counterfactual():
    whole, short = (explanation(probabilities=way) for way in ((0.1, 0.5, 0.9), (0.5,)))
    assert [curve(report_html(results(one))) for one in (whole, short)] == ["0.10 to 0.90 in 3 steps"] * 2
    assert curve(report_html(results(explanation(probabilities=())))) is None


def curve(html: str) -> str | None:
    found = re.search('Probability along the way: ([^"]+)', html)
    return found and found[1]


def test_the_demo_explains_molecules_as_the_page_says(tmp_path, monkeypatch):
    small = next(one for one in famous_molecules() if one.name == "N-nitrosodimethylamine")
    monkeypatch.setattr("graphflip.report.demo.famous_molecules", lambda: [small])
    said = []
    page = run_demo(tmp_path, said.append)
    records = [json.loads(line) for line in (tmp_path / "counterfactuals.jsonl").read_text().splitlines()]
    assert len(records) == len(said) == 1
    assert small.name in page.read_text()
    assert page.read_text().count("known as a mutagen") == 1
    # The latent path begins and ends with the very graphs, so nothing is added to it.
    ends = f"{records[0]['p_factual']:.2f} to {records[0]['p_counterfactual']:.2f} in {STEPS} steps"
    assert curve(page.read_text()) == ends
