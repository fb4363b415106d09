"""Tables of the quality benchmark: figures of each method, goals with what was reached, measures of every graph."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from ..measure import Measures
from ..paper.tables import NAMES
from ..score import SCORES
from ..tables import Column, Table, TablePart, markdown_lines, spreadsheet_text
from .goals import GOALS
from .rows import MethodRow

FOOTNOTES = {
    "ceiling": "In brackets how often the judge agrees with the classifier on real graphs of like confidence: a "
    "counterfactual that were as clear as they are would do no better.",
    "flips": "Measured on counterfactuals that flip; flip ratio, NAFR, seconds and calls on all inputs.",
    "heavy": "Without hydrogens that come and go with their bonds, where hydrogens are nodes.",
    "one_minimal": "Share of answers from which no change can be taken back so that a valid, smaller one remains that "
    "still meets what was asked; checked anew.",
    "nitro": "Of molecules with a nitro group on a ring that are predicted mutagenic: edits touch the group.",
    "aromatic": "Share of molecules none of whose aromatic rings is broken: each is kept, exchanged, saturated or "
    "taken away as a whole.",
    "rings": "Share without a new ring system that a corpus of real molecules lacks; in brackets, of real molecules.",
    "synthesis": "Ertl's score of synthetic accessibility rises by at most 1.",
    "similarity": "Mean Tanimoto similarity to the factual, ECFP4 of 2,048 bits.",
    "stereo": "Share with more stereocentres than the factual.",
    "changes": "Groups of changed atoms and bonds that are apart from each other.",
    "alerts": "Share with more structural alerts from the literature than the factual; to nonmutagen, of factuals that "
    "have some, with fewer.",
    "class_minimal": "Share of answers from which no change can be taken back so that a valid, smaller one remains "
    "that is still of the target class.",
    "ged": "Upper bound of the edit distance, whatever the order of nodes; then the share that is proved.",
}

_SUBJECT = (Column("data", "dataset"), Column("method", "row"))
_BELIEF = TablePart(
    "Do other models believe it, and is it like the data?",
    (
        *_SUBJECT,
        Column("flip ratio ↑", "flip_ratio", 3, spread=True, note="flips"),
        Column("NAFR, GNN ↑", "nafr_with_ceiling", note="ceiling"),
        Column("NAFR, trees ↑", "nafr_other_with_ceiling"),
        Column("environment ↑", "environment", 3),
        Column("plausible ↑", "plausible", 3),
        Column("molecule ↑", "molecule", 3),
        Column("radical-free ↑", "radical_free", 3),
        Column("of real graphs", "radical_free_real", 3),
        Column("round trip ↑", "round_trip", 3),
        Column("nitro touched", "nitro_touched", 3, note="nitro"),
    ),
)
_SIZE = TablePart(
    "How small is it, and what does it cost?",
    (
        *_SUBJECT,
        Column("edits ↓", "mean_edits", 2, spread=True),
        Column("heavy edits ↓", "mean_heavy_edits", 2, spread=True, note="heavy"),
        Column("EdgeSp ↑", "edge_sp", 3),
        Column("NodeSp ↑", "node_sp", 3),
        Column("GED ↓", "ged", 2, note="ged"),
        Column("proved", "ged_exact_share", 3),
        Column("1-minimal ↑", "one_minimal", 3, note="one_minimal"),
        Column("seconds ↓", "seconds", 2),
        Column("classifier calls ↓", "classifier_calls", 0),
        Column("graphs", "n", 0),
        Column("seeds", "seeds", 0),
    ),
)
_CHEMISTRY = TablePart(
    "Would a chemist sign it?",
    (
        *_SUBJECT,
        Column("aromatic kept ↑", "aromatic_kept", 3, note="aromatic"),
        Column("scaffold kept", "scaffold_kept", 3),
        Column("rings known ↑", "rings_known_with_ceiling", note="rings"),
        Column("SA rise ≤ 1 ↑", "sa_up_le1", 3, note="synthesis"),
        Column("similarity ↑", "similarity", 3, note="similarity"),
        Column("new stereo ↓", "new_stereo", 3, note="stereo"),
        Column("halogens added ↓", "halogens_added", 2),
        Column("changes ↓", "changes", 2, note="changes"),
        Column("alerts to mutagen ↑", "alerts_toward.mutagen", 3, note="alerts"),
        Column("to nonmutagen ↑", "alerts_toward.nonmutagen", 3),
        Column("class-minimal ↑", "class_minimal", 3, note="class_minimal"),
    ),
)


def quality_table(results: Mapping[str, Mapping[str, Any]], rows: Sequence[MethodRow]) -> Table:
    """Table with the figures of every method."""
    lines = []
    for dataset, figures in results.items():
        for row in rows:
            if row.name in figures:
                lines.append({"dataset": NAMES.get(dataset, dataset), "row": row.name, **_shown(figures[row.name])})
    return Table("table", (_BELIEF, _CHEMISTRY, _SIZE), lines, FOOTNOTES)


def _shown(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures as printed, NAFR and known rings with ceilings in brackets, and the spread of flip ratios over seeds."""
    shown = {**figures, "flip_ratio_spread": figures.get("flip_ratio_seed_spread")}
    for name, other in (("nafr", "ceiling"), ("nafr_other", "ceiling"), ("rings_known", "real")):
        value, ceiling = figures.get(name), figures.get(f"{name}_{other}")
        if value is not None:
            shown[f"{name}_with_ceiling"] = f"{value:.3f}" + (f" ({ceiling:.3f})" if ceiling is not None else "")
    return shown


def goal_lines(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Markdown table of the goals whose figures are known."""
    cells = []
    for goal in GOALS:
        met = goal.is_met(results)
        if met is not None:
            value = results[goal.dataset][goal.row][goal.figure]
            name = NAMES.get(goal.dataset, goal.dataset)
            cells.append([name, goal.row, goal.figure, goal.words(results), f"{value:.3f}", "yes" if met else "**no**"])
    return markdown_lines(["data", "method", "figure", "goal", "reached", "met"], cells) if cells else []


def graphs_csv(runs: Sequence[tuple[str, str, int, Sequence[str], Measures]]) -> str:
    """CSV with every measure of every graph: one line for each dataset, method, seed and graph."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "row", "seed", "id", *SCORES])
    for dataset, row, seed, ids, measures in runs:
        columns = [measures[name].tolist() for name in SCORES]
        for name, *values in zip(ids, *columns, strict=True):
            writer.writerow([dataset, row, seed, spreadsheet_text(name), *(_cell(value) for value in values)])
    return text.getvalue()


def _cell(value: float) -> str:
    return "" if value != value else f"{value:.6g}"
