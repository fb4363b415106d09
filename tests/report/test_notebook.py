"""Explanations in notebooks: pictures, probabilities and words, escaped."""

import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.explain.claims.importance import Importance
from graphflip.report.notebook import to_html

from .pairs import explanation, failure


def test_notebooks_show_explanations():
    html = explanation(id="<b>")._repr_html_()
    assert html == to_html(explanation(id="<b>"))
    assert "&lt;b&gt;: flipped; probability of mutagen 0.10 → 0.90" in html
    assert html.count("<svg") == 3
    assert "replace chloro group on C1 by hydroxy group" in html
    assert "Frozen nodes ruled out 12 moves." in to_html(failure())


def test_notebooks_show_where_it_matters():
    """A colored picture to fold out, with words for its colors; estimates are said to be some."""
    html = to_html(explanation(importance=Importance({0: 0.4}, {})))
    assert html.count("<svg") == 4
    assert "<summary>Where it matters</summary>" in html
    assert 'class="toward"' in html
    assert "estimates" not in html
    assert "estimates by the classifier's gradient" in to_html(explanation(importance=Importance({}, {}, {1: 0.1})))
