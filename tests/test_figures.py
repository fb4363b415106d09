"""Figures in the README are those of the results."""

import json
import re
from pathlib import Path

from graphflip.explain.preferences import MOLECULES, PREFERENCES

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (\w+), `(\w+)` \| (.*) \|$", re.MULTILINE)


def test_the_readme_has_the_figures_of_the_quality_table():
    table = json.loads((ROOT / "results" / "quality" / "table.json").read_text())
    rows = ROW.findall((ROOT / "README.md").read_text())
    assert len(rows) == 8
    for data, method, cells in rows:
        found = table[data.lower()][method]
        judges = (f"{found[name]:.3f} ({found[f'{name}_ceiling']:.3f})" for name in ("nafr", "nafr_other"))
        shown = [f"{found['flip_ratio']:.3f}", *judges, f"{found['edge_sp']:.3f}"]
        shown += [f"{found['mean_heavy_edits']:.1f}", f"{found['one_minimal']:.3f}"]
        assert cells.split(" | ") == shown, f"{data}, {method}"


def test_the_page_about_the_search_has_the_levels_of_the_preferences():
    text = (ROOT / "docs" / "concepts" / "search.md").read_text()
    for name in ("balanced", "believable"):
        (row,) = re.findall(rf"^\| `{name}`.*$", text, re.MULTILINE)
        usual, molecules = PREFERENCES[name], MOLECULES[name]
        levels = (usual.confidence, molecules.confidence, usual.agreement, molecules.agreement)
        assert re.findall(r"0\.\d+", row) == [f"{level:g}" for level in levels]


def test_the_readme_has_the_figures_of_real_molecules():
    found = json.loads((ROOT / "results" / "molecules.json").read_text())
    text = (ROOT / "README.md").read_text()
    ames, accepted = found["ames"], found["accepted"]
    pairs = [(ames[f"auroc{key}"], ames[f"auroc_scaffold{key}"]) for key in ("", "_judge", "_trees")]
    rows = [
        *(f"{random:.3f} / {scaffold:.3f}" for random, scaffold in pairs),
        f"{ames['ece']:.3f}",
        f"{ames['atoms']:.4f} / {ames['graphs']:.3f}",
        f"{accepted['rdkit5k']:.3f} / {accepted['chembl_drugs']:.3f}",
        f"{found['speed_ratio']:.1f}",
    ]
    cells = re.findall(r"^\| ames: .* \| (.*) \|$", text, re.MULTILINE)
    assert cells == rows


def test_the_readme_has_the_figures_of_the_field():
    table = json.loads((ROOT / "results" / "field" / "table.json").read_text())["mutagenicity"]["gcn"]
    text = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)`: .*? \| (.*) \|$", text, re.MULTILINE)
    assert [method for method, _ in rows] == [name for name in table if name not in ("graphs", "oracle")]
    for method, cells in rows:
        found = table[method]
        shown = [f"{found['flip_ratio']:.2f}", f"{found['nafr']:.2f} / {found['nafr_other']:.2f}"]
        shown += [f"{found['ged']:.1f} ({found['proved']:.2f})", f"{found['molecule']:.2f}"]
        shown += [f"{found['seconds']:.2f}", f"{found['calls']:.0f}" if found.get("calls") else "–", str(found["n"])]
        assert cells.split(" | ") == shown, method
    assert (ROOT / "results" / "field" / "summary.md").read_text() in text


def test_what_the_readme_says_of_the_field_is_so():
    """Sentences that a new measurement may turn wrong."""
    table = json.loads((ROOT / "results" / "field" / "table.json").read_text())
