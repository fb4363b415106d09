"""Figures of a method on a set with an oracle: means with intervals, proofs, failures by reason."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ..measure import Measures
from ..realism import realism_figures
from ..score import SCORES, figures_of
from ..summary import number
from .statistics import interval

_NAMES = {
    "mean_edits": "edits",
    "mean_heavy_edits": "heavy_edits",
    "ged_exact_share": "proved",
    "class_minimal": "one_minimal",
    "classifier_calls": "calls",
    "found": "answered",
}
"""Names of figures in the field's table, where they differ from those of `graphflip score`."""
_KEPT = (
    "n", "answered", "flip_ratio", "nafr", "nafr_ceiling", "nafr_other", "nafr_other_ceiling", "edits", "heavy_edits",
    "ged", "ged_lower", "proved", "edge_sp", "node_sp", "molecule", "radical_free", "environment", "plausible",
    "round_trip", "one_minimal", "aromatic_kept", "scaffold_kept", "rings_known", "similarity", "calls", "seconds",
)  # fmt: skip
_OF_ALL = ("flip_ratio", "nafr", "nafr_other")
_OF_FLIPS = ("edits", "heavy_edits", "ged")


def method_figures(measures: Measures, realism: Measures | None, known: torch.Tensor | None = None) -> dict[str, Any]:
    """Figures of one method from the measures of each of its answers.

    Args:
        measures: `SCORES` of each answer.
        realism: Outside measures, if there are any.
        known: 1 for each answer that is the known one, where answers are known.

    Returns:
        Figures by name; `flip_ratio_low` and `flip_ratio_high` are the ends of an interval. Flips and confirmations
        by judges are shares of all inputs; sizes, validity and the like are means over answers that flip.
    """
    figures = figures_of([{name: measures[name] for name in SCORES}])
    figures.pop("one_minimal")  # each method by its own demands; the field asks of all that the class stays
    figures |= {} if realism is None else realism_figures([realism])
    named = {_NAMES.get(name, name): value for name, value in figures.items()}
    kept: dict[str, Any] = {name: named[name] for name in _KEPT if name in named}
    flips = measures["flip_ratio"] == 1
    for name in (*_OF_ALL, *_OF_FLIPS):
        column = measures[name]
        ends = interval(column if name in _OF_ALL else torch.where(flips, column, torch.nan))
        if ends is not None:
            kept[f"{name}_low"], kept[f"{name}_high"] = (number(end) for end in ends)
    if known is not None:
        kept["known_answer"] = number(float(known.mean()))
    return kept


def failures(records: Path) -> dict[str, int]:
    """Number of answers of a file that do not flip, by reason: how the search ended, and what it notes."""
    lines = (json.loads(line) for line in records.read_text(encoding="utf-8").splitlines())
    told = [(str(line.get("outcome", "unknown")), str(line.get("note") or "")) for line in lines]
    return reasons([(outcome, note) for outcome, note in told if outcome != "flipped"])


def flips_to(records: Path) -> dict[str, float]:
    """Share of flips by the class that was asked for: a method may manage one direction alone."""
    lines = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    asked: dict[str, list[bool]] = {}
    for line in lines:
        target, names = line.get("target"), line.get("classes") or []
        known = isinstance(target, int) and target < len(names)
        asked.setdefault(str(names[target] if known else target), []).append(line.get("outcome") == "flipped")
    return {name: round(sum(flips) / len(flips), 4) for name, flips in sorted(asked.items())}


def reasons(told: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Count outcomes with their notes; long notes are left out."""
    short = [outcome + (f": {note}" if note and len(note) < _LONG else "") for outcome, note in told]
    return dict(sorted(Counter(short).items()))


_LONG = 80
