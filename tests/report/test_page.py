"""The demo's page: drawings mark what changed, and the file stands on its own."""

import re

import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.data.famous import famous_molecules
from graphflip.data.molecule import from_smiles, molecule_schema
from graphflip.edits import apply_edits, edits_between
from graphflip.explain import Counterfactual, Outcome
from graphflip.jsongraph import aligned_pair
from graphflip.report.demo import run_demo
from graphflip.report.page import Entry, write_page

SCHEMA = molecule_schema(("C", "N", "O", "Cl", "H"), 30, explicit_hydrogens=True)


def pair(before, after):
    """Two molecules whose first atoms are the same ones."""
    return aligned_pair(from_smiles(before, SCHEMA), from_smiles(after, SCHEMA))


def test_the_page_needs_nothing_from_outside(tmp_path):
    factual, changed = pair("CCCl", "CCO")
    found = Counterfactual("<b>x</b>", "test", 1, factual, changed, 0.1, 0.9, Outcome.FLIPPED)
    nothing = Counterfactual("y", "test", 1, factual, None, 0.1, None, Outcome.NOTHING_TO_OFFER)
    path = tmp_path / "page.html"
    write_page(path, "A & B", "why", [Entry("<i>one</i>", found, ("no", "yes")), Entry("two", nothing, ("no", "yes"))])
    text = path.read_text()
    assert "A &amp; B" in text
    assert "&lt;i&gt;one" in text
    assert "<i>one" not in text
    assert text.count("<svg") == 2
    assert "<script" not in text
    links = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert not links
    assert Outcome.NOTHING_TO_OFFER.advice in text


def test_the_demo_explains_molecules_as_the_page_says(tmp_path, monkeypatch):
    few = famous_molecules()[6:8]
    monkeypatch.setattr("graphflip.report.demo.famous_molecules", lambda: few)
    said = []
    page = run_demo(tmp_path, said.append)
    assert page.exists()
    assert len((tmp_path / "counterfactuals.jsonl").read_text().splitlines()) == 2
    assert all(molecule.name in page.read_text() for molecule in few)
    assert len(said) == 2


def test_edits_of_a_drawn_pair_apply():
    factual, changed = pair("CCCl", "CCO")
    assert apply_edits(factual, edits_between(factual, changed)).trim() == changed.trim()
