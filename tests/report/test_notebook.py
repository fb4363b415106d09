"""Explanations in notebooks: pictures, probabilities and words, escaped."""

import pytest

pytest.importorskip("rdkit", reason="install graphflip[mol] to draw molecules")

from graphflip.report.notebook import to_html

from .pairs import explanation, failure


def test_notebooks_show_explanations():
    html = explanation(id="<b>")._repr_html_()
    assert html == to_html(explanation(id="<b>"))
    assert "&lt;b&gt;: flipped; probability of mutagen 0.10 → 0.90" in html
    assert html.count("<svg") == 3
    assert "replace chloro group on C1 by hydroxy group" in html
    assert "Frozen nodes ruled out 12 moves." in to_html(failure())
