"""Figures in the README are those of the results."""

import importlib.util
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


def test_what_is_said_of_answers_with_a_note_is_so():
    spec = importlib.util.spec_from_file_location("asked", ROOT / "tools" / "asked.py")
    asked = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(asked)
    found = asked.measured_apart()
    assert json.loads((asked.QUALITY / "asked.json").read_text()) == found
    assert (asked.QUALITY / "asked.md").read_text() == "\n".join(asked.table(found)) + "\n"
    ames, text = found["ames"]["balanced"], " ".join((ROOT / "README.md").read_text().split())
    shares = f"{ames['less']['nafr']:.0%} of those and {ames['as_asked']['nafr']:.0%} of the rest".replace("%", " %")
    assert f"{1 - ames['share_as_asked']:.0%} have a note".replace("%", " %") in text
    assert shares in text


def test_the_readme_has_the_figures_of_the_benchmarks():
    speed = json.loads((ROOT / "results" / "speed.json").read_text())
    walk, answers, text = speed["explain"], speed["answers"], " ".join((ROOT / "README.md").read_text().split())
    large = answers["large"]["1000"]
    for said in (
        f"a block forward and backward {speed['layers']['speedup']:.1f} times faster",
        f"a training step of the autoencoder {speed['train_step']['speedup']:.0f} times",
        f"an iteration of the walk {walk['iteration_speedup']:.0f} times",
        f"an explained graph {walk['graph_speedup']:,.0f} times cheaper than 1000 iterations",
        f"A `balanced` answer takes {answers['enumeration_ratio']:.1f} times less processor time",
        f"and {answers['exmol_ratio']:.0f} times less than exmol by default",
        f"a graph of 1,000 nodes takes {large['seconds']:.1f} s and {large['calls']:.0f} calls",
    ):
        assert said in text


def test_the_page_about_the_search_has_the_answers_that_change_on_old_processors():
    found = json.loads((ROOT / "results" / "quality" / "processors.json").read_text())
    rows = [found[data][row] for data in ("ames", "mutagenicity", "nci1", "aids") for row in ("balanced", "minimal")]
    answers, others = (sum(row[name] for row in rows) for name in ("answers", "others"))
    assert all(row["probability_apart"] > 0 for row in rows), "both processes rounded alike, which shows nothing"
    text = " ".join((ROOT / "docs" / "concepts" / "search.md").read_text().split())
    assert f"Of {answers} answers about validation graphs of four sets {others} changed" in text


def test_the_page_about_the_search_says_what_estimates_cost_and_bring():
    table = json.loads((ROOT / "results" / "quality" / "table.json").read_text())
    text = " ".join((ROOT / "docs" / "concepts" / "search.md").read_text().split())
    sets = [table[name] for name in ("ames", "mutagenicity", "nci1", "aids")]

    def times(key: str) -> str:
        return " / ".join(f"{one['every'][key] / one['balanced'][key]:.0f}" for one in sets)

    assert (
        f"the classifier is shown {times('classifier_calls')} times fewer graphs, in {times('seconds')} times" in text
    )
    for key, digits, words in (
        ("mean_heavy_edits", 2, "They need more edits, {} instead of {}."),
        ("nafr", 3, "Another GNN believes {} of them, with every move {}."),
    ):
        found = (" / ".join(f"{one[row][key]:.{digits}f}" for one in sets) for row in ("balanced", "every"))
        assert words.format(*found) in text
    folder = ROOT / "results" / "quality" / "ames"
    default, every = (
        [bool(json.loads(line)["note"]) for line in (folder / f"{row}-seed0.jsonl").read_text().splitlines()]
        for row in ("balanced", "every")
    )
    only_every = [less and not all_moves for less, all_moves in zip(default, every, strict=True)]
    assert f"for {sum(only_every) / len(default):.0%} of".replace("%", " %") in text


def test_the_page_about_data_of_your_own_has_the_figures_of_the_fits():
    spec = importlib.util.spec_from_file_location("fit_results", ROOT / "tools" / "fit_results.py")
    fits = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fits)
    text = fits.PAGE.read_text()
    assert text == fits.with_table(text, fits.page_rows(json.loads(fits.TABLE.read_text())))


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


FIELD = json.loads((ROOT / "results" / "field" / "table.json").read_text())


def test_the_readme_has_the_figures_of_the_field():
    table, text = FIELD["mutagenicity"]["gcn"], (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)`: .*? \| (.*) \|$", text, re.MULTILINE)
    assert {method for method, _ in rows} == table.keys() - {"graphs", "oracle"}
    for method, cells in rows:
        found = table[method]
        shown = [f"{found['flip_ratio']:.2f}", f"{found['nafr']:.2f} / {found['nafr_other']:.2f}"]
        shown += [f"{found['ged']:.1f} ({found['proved']:.2f})", f"{found['molecule']:.2f}"]
        shown += [f"{found['seconds']:.2f}", f"{found['calls']:.0f}" if found.get("calls") else "–", str(found["n"])]
        assert cells.split(" | ") == shown, method
    assert f"a plain GCN of 3 × 20 (accuracy {table['oracle']['accuracy']:.3f})" in text
    assert (ROOT / "results" / "field" / "summary.md").read_text() in text


def believed(row):
    return (row["nafr"] + row["nafr_other"]) / 2


def test_what_readme_and_documentation_say_of_the_field_is_so():
    """Sentences that a new measurement may turn wrong: change them then."""
    blocks = {
        (name, oracle): FIELD[name][oracle] for name in ("mutagenicity", "nci1", "aids") for oracle in ("gcn", "kit")
    }
    assert all(block["graphs"]["limit"] is None for block in blocks.values())
    for (name, _), block in blocks.items():
        rows = {method: row for method, row in block.items() if "flip_ratio" in row}
        assert sum(row["n"] == max(each["n"] for each in rows.values()) for row in rows.values()) >= 8
        assert believed(rows["balanced"]) == max(map(believed, rows.values()))
        if name == "aids":
            assert rows["cf_gnn"]["flip_ratio"] == rows["cf2"]["flip_ratio"] == 0
            others = rows.keys() - {"gcf_walk", "minimal", "balanced"}
            assert rows["gcf_walk"]["flip_ratio"] > max(rows[method]["flip_ratio"] for method in others)
        else:
            assert rows["xplore"]["flip_ratio"] >= 0.99
            assert 1.5 < rows["xplore"]["ged"] < 2.5
    gcn, kit = (FIELD["mutagenicity"][oracle] for oracle in ("gcn", "kit"))
    assert all(
        FIELD[name]["gcn"]["xplore"]["seconds"] < FIELD[name]["gcn"]["minimal"]["seconds"]
        for name in ("mutagenicity", "nci1")
    )
    assert all(believed(kit[method]) > believed(kit["minimal"]) for method in ("cf2", "clear"))
    assert all(kit[method]["ged"] > 4 * kit["minimal"]["ged"] for method in ("cf2", "clear"))
    assert all(0 < believed(block["minimal"]) - believed(block["xplore"]) < 0.1 for block in (gcn, kit))
    clear, ours = FIELD["nci1"]["kit"]["clear"], FIELD["nci1"]["kit"]["balanced"]
    assert believed(ours) - believed(clear) < 0.01
    told = [f"{believed(clear):.2f}, `balanced` {believed(ours):.2f}", f"graphs that are {clear['ged']:.0f} edits"]
    told += [f"({believed(gcn['xplore']):.2f} and {believed(kit['xplore']):.2f}, `minimal`"]
    told += [f"`minimal` {believed(gcn['minimal']):.2f} and {believed(kit['minimal']):.2f})"]
    told += [f"({believed(kit['cf2']):.2f} and {believed(kit['clear']):.2f}), at several times the edits"]
    told += [f"about {gcn['obs']['calls']:.0f} graphs", f"asks about {gcn['balanced']['calls']:.0f}"]
    walks = [FIELD["aids"][oracle]["gcf_walk"]["flip_ratio"] for oracle in ("gcn", "kit")]
    told.append(f"flips most of AIDS ({walks[0]:.2f} and {walks[1]:.2f})")
    told += [f"{FIELD['tree_cycles']['kit'][name]['known_answer']:.2f}" for name in ("minimal", "gcf_walk", "xplore")]
    planted = FIELD["planted"]["kit"]
    shares = [f"{planted[name]['known_answer']:.2f}" for name in ("minimal", "balanced", "gcf_walk", "xplore")]
    told.append(f"on planted motifs {', '.join(shares[:3])} and {shares[3]}")
    stable = FIELD["stability"]["mutagenicity"]["gcn"]
    told += [f"{stable[name]['retrained']['valid']:.2f} (" for name in ("balanced", "minimal", "xplore", "gcf_walk")]
    assert all(stable[name]["n"] == 24 for name in ("balanced", "minimal", "xplore", "gcf_walk"))
    for page in ("README.md", "docs/field.md"):
        text = (ROOT / page).read_text()
        assert all(words in " ".join(text.split()) for words in told), page


def test_the_page_about_the_paper_has_the_rows_of_the_splits():
    found = json.loads((ROOT / "results" / "paper" / "splits.json").read_text())
    text = (ROOT / "docs" / "figures" / "paper.md").read_text()

    def mean(row, name, digits):
        value, spread = row.get(name), row.get(f"{name}_spread")
        error = "" if spread is None else f" ± {spread:.{digits}f}"
        return "–" if value is None else f"{value:.{digits}f}{error}"

    for name in ("aids", "mutagenicity", "nci1"):
        row = found[name]
        cells = [str(row["n_classifier"]), *(mean(row, name, 3) for name in ("auroc", "auroc_all", "auroc_nodes"))]
        cells.append(str(row["n_vae"]))
        cells += [f"{row['epochs']:.0f}" if row.get("epochs") else "–", mean(row, "neg_elbo", 1)]
        cells += [mean(row, "neg_elbo_published", 1), str(row["n_walk"])]
        cells += [mean(row, "flip_ratio", 3), mean(row, "sic", 3), mean(row, "ged", 1)]
        assert f" | {' | '.join(cells)} |" in text, name
    readme = (ROOT / "README.md").read_text()
    for name in ("auroc", "auroc_all"):
        assert " / ".join(f"{found[data][name]:.3f}"[1:] for data in ("aids", "mutagenicity", "nci1")) in readme
