"""The benchmark of summaries: runs subjects, writes results/model/table.json and a table to read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError
from ...models.storage.files import write_atomically
from ...summary.studies import SummaryOptions
from ...version import __version__
from .ceilings import ceiling_figures
from .directions import direction_figures
from .graphs import graph_figures
from .measure import baseline_recourses, believed_figures, recourse_figures, walk
from .shuffled import shuffled_figures
from .subject import DESIRED, SummarySubject, run_trial

SETS = ("aids", "mutagenicity", "nci1")
PUBLISHED = {
    "gcfexplainer": {
        "mutagenicity": {"coverage": 0.371, "cost": 0.114},
        "nci1": {"coverage": 0.279, "cost": 0.128},
        "aids": {"coverage": 0.147, "cost": 0.152},
    },
    "comrecgc": {
        "mutagenicity": {"coverage": 0.518, "minutes": 199},
        "nci1": {"coverage": 0.429},
        "aids": {"coverage": 0.347},
    },
}
"""Figures of the two papers, with a GCN of three layers of 20 units and a learned estimate of the distance."""

BENCH = SummaryOptions(sample=90, answers=25, shortlist=120, believed=False)
_WALK_STEPS = 400
_ANY_CHANGE_EVERY = 4


def run_model(
    names: Sequence[str],
    out: Path,
    limit: int | None = None,
    seed: int = 0,
    parts: Sequence[str] = (),
    every: int = 1,
    sample: int = BENCH.sample,
    watch: Callable[[str, int, int], None] = lambda *_: None,
) -> Path:
    """Measure summaries of the packaged classifiers; what the table has already is not measured again.

    Args:
        names: Names of datasets.
        out: Folder of the table.
        limit: Largest number of graphs of each split, for a quick look.
        seed: Seed of the random walk.
        parts: Parts of the table, of `PARTS`; by default all.
        every: 1 for all inputs; 4 for every fourth of them, for a figure with a margin in a quarter of the time.
        sample: Inputs that recourses are looked for in.
        watch: Called with what is being done, how many parts are done, and of how many.

    Returns:
        The file of the table.
    """
    if unknown := [name for name in names if name not in DESIRED]:
        raise ConfigError(f"A dataset must be one of {', '.join(SETS)}; got {unknown[0]!r}.")
    if unknown := [part for part in parts if part not in PARTS]:
        raise ConfigError(f"A part must be one of {', '.join(PARTS)}; got {unknown[0]!r}.")
    path = out / "table.json"
    table: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    out.mkdir(parents=True, exist_ok=True)
    work = [(name, part) for name in names for part in parts or PARTS]
    for done, (name, part) in enumerate(work):
        command = f"graphflip bench model --data {name} --parts {part} --seed {seed}"
        command += f" --limit {limit}" if limit else ""
        command += f" --every {every}" if every > 1 else ""
        command += f" --sample {sample}" if sample != BENCH.sample else ""
        watch(f"{name}: {part}", done, len(work))
        if table.get(name, {}).get("commands", {}).get(part) == command:
            continue
        figures = PARTS[part](SummarySubject(name, replace(BENCH, seed=seed, sample=sample), limit, every))
        # Another process may have measured another part meanwhile.
        table = json.loads(path.read_text()) if path.exists() else {}
        one = table.setdefault(name, {})
        one |= figures
        one |= {"target": DESIRED[name], "commands": {**one.get("commands", {}), part: command}}
        table |= {"published": PUBLISHED, "graphflip": __version__, "torch": torch.__version__.partition("+")[0]}
        write_atomically(path, (json.dumps(table, indent=1, sort_keys=True) + "\n").encode())
        write_atomically(out / "table.md", to_markdown(table).encode())
    watch("done", len(work), len(work))
    return path


def _recourses(subject: SummarySubject) -> dict[str, Any]:
    """Coverage of recourses, and of those of baselines."""
    trial = run_trial(subject)
    figures = recourse_figures(trial)
    minutes = sum(trial.timer.seconds.values()) / 60
    walked = walk(subject, trial.study, _WALK_STEPS)
    trial.timer.stop("random walk")
    figures["baselines"] = baseline_recourses(subject, trial, walked)
    trial.timer.stop("baselines")
    believed = believed_figures(subject, trial)
    trial.timer.stop("believed")
    return {
        "options": asdict(subject.options),
        "recourse": figures,
        "recourse_believed": believed,
        "minutes": minutes,
        "growth": trial.growth,
        "seconds": trial.timer.rounded,
    }


def _any_change(subject: SummarySubject) -> dict[str, Any]:
    """Coverage of recourses that may create surroundings that the data do not have."""
    free = replace(subject, options=replace(subject.options, valid=False), every=_ANY_CHANGE_EVERY * subject.every)
    return {"recourse_any_change": recourse_figures(run_trial(free))}


PARTS: dict[str, Callable[[SummarySubject], dict[str, Any]]] = {
    "recourse": _recourses,
    "graphs": graph_figures,
    "directions": direction_figures,
    "any_change": _any_change,
    "ceilings": ceiling_figures,
    "shuffled": shuffled_figures,
}
"""Parts of the table, each measured by itself."""


def to_markdown(table: dict[str, Any]) -> str:
    """The table to read: one row for each set; a dash for what was not measured."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
    for name in (name for name in SETS if name in table):
        cells = [name, *(_cell(text, table[name]) for text in list(_COLUMNS.values())[1:])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_COLUMNS = {
    "set": "",
    "inputs": "{recourse[inputs]}",
    "10 graphs": "{graphs[coverage]:.1%}",
    "cost": "{graphs[cost]:.3f}",
    "real graphs: 10 (all)": "{ceilings[real_graphs][coverage_10]:.1%} ({ceilings[real_graphs][coverage]:.1%})",
    "valid graphs": "{graphs[valid][coverage]:.1%}",
    "100 recourses": "{recourse[coverage]:.1%}",
    "first 10": "{recourse[coverage_10]:.1%}",
    "a change for each": "{ceilings[single_answers][coverage]:.1%}",
    "held out (train)": "{recourse[held_out]:.1%} ({recourse[train_10]:.1%})",
    "any change": "{recourse_any_change[coverage]:.1%} / {recourse_any_change[coverage_10]:.1%}",
    "believed": "{recourse_believed[coverage]:.1%} / {recourse_believed[coverage_10]:.1%}",
    "latent / edits": "{directions[latent][held_out]:.1%} / {directions[edits][held_out]:.1%}",
    "minutes": "{minutes:.1f}",
}


def _cell(text: str, figures: dict[str, Any]) -> str:
    try:
        return text.format(**figures)
    except KeyError:
        return "–"
