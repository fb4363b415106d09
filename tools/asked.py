"""Split the answers of the quality benchmark by whether they have all that was asked; write results/quality/asked.json.

Usage: python tools/asked.py   (after `graphflip bench quality`; reads its counterfactuals and graphs.csv)

An answer that misses something (confidence, agreement of the surrogates, known surroundings) says so in its note.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

QUALITY = Path(__file__).parents[1] / "results" / "quality"
DATASETS, ROWS = ("ames", "mutagenicity", "nci1", "aids"), ("balanced", "believable")
FIGURES = ("nafr", "nafr_other", "heavy_edits", "classifier_calls")
TITLES = ("believed by another GNN", "by trees", "heavy edits", "graphs shown")


def main() -> None:
    found = measured_apart()
    (QUALITY / "asked.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (QUALITY / "asked.md").write_text("\n".join(table(found)) + "\n", encoding="utf-8")


def measured_apart() -> dict[str, Any]:
    """Figures by set and preference, of answers that have all that was asked and of those that miss something."""
    with (QUALITY / "graphs.csv").open(encoding="utf-8", newline="") as file:
        measured = {(row["dataset"], row["row"], row["id"]): row for row in csv.DictReader(file) if row["seed"] == "0"}
    found: dict[str, Any] = {"about": {"command": "python tools/asked.py", "seed": 0}}
    for name in DATASETS:
        for row in ROWS:
            lines = (QUALITY / name / f"{row}-seed0.jsonl").read_text(encoding="utf-8").splitlines()
            answers = [json.loads(line) for line in lines]
            groups = {
                "as_asked": [measured[name, row, answer["id"]] for answer in answers if not answer["note"]],
                "less": [measured[name, row, answer["id"]] for answer in answers if answer["note"]],
            }
            share = round(len(groups["as_asked"]) / len(answers), 4)
            parts = {key: figures(group) for key, group in groups.items()}
            found.setdefault(name, {})[row] = {"n": len(answers), "share_as_asked": share, **parts}
    return found


def figures(group: Sequence[dict[str, str]]) -> dict[str, float | None]:
    """Means over a group of answers; None where nothing was measured."""
    values = {name: [float(row[name]) for row in group if row[name]] for name in FIGURES}
    return {"n": len(group), **{name: round(fmean(some), 3) if some else None for name, some in values.items()}}


def table(found: dict[str, Any]) -> list[str]:
    """Markdown: a line for each set and preference, figures of answers as asked / of those that miss something."""
    lines = [f"| | as asked | {' | '.join(TITLES)} |", "|" + "---|" * (2 + len(TITLES))]
    for name in DATASETS:
        for row, one in found[name].items():
            pairs = (f"{text(name_, one['as_asked'])} / {text(name_, one['less'])}" for name_ in FIGURES)
            lines.append(f"| {name}, `{row}` | {one['share_as_asked']:.2f} | {' | '.join(pairs)} |")
    return lines


def text(name: str, group: dict[str, float | None]) -> str:
    """A figure as it is printed: shares with two digits, numbers with one or none."""
    digits = {"heavy_edits": 1, "classifier_calls": 0}.get(name, 2)
    value = group[name]
    return "–" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    main()
