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
    rows = re.findall(r"^\| `(\w+)`: .*? \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 10
    for method, cells in rows:
        found = table[method]
        shown = [f"{found['flip_ratio']:.2f}", f"{found['nafr']:.2f} / {found['nafr_other']:.2f}"]
        shown += [f"{found['ged']:.1f} ({found['proved']:.2f})", f"{found['molecule']:.2f}"]
        assert cells.split(" | ") == shown, method


def test_the_page_about_the_paper_has_the_rows_of_the_splits():
    found = json.loads((ROOT / "results" / "paper" / "splits.json").read_text())
    text = (ROOT / "docs" / "figures" / "paper.md").read_text()

    def mean(row, name, digits):
        value, spread = row.get(name), row.get(f"{name}_spread")
        error = "" if spread is None else f" ± {spread:.{digits}f}"
        return "–" if value is None else f"{value:.{digits}f}{error}"

    for name in ("aids", "mutagenicity", "nci1"):
        row = found[name]
        cells = [str(row["n_classifier"]), mean(row, "auroc", 3), mean(row, "auroc_nodes", 3), str(row["n_vae"])]
        cells += [f"{row['epochs']:.0f}" if row.get("epochs") else "–", mean(row, "neg_elbo", 1)]
        cells += [mean(row, "neg_elbo_published", 1), str(row["n_walk"])]
        cells += [mean(row, "flip_ratio", 3), mean(row, "sic", 3), mean(row, "ged", 1)]
        assert f" | {' | '.join(cells)} |" in text, name
