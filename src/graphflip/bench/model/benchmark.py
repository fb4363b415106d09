"""The benchmark of summaries: runs subjects, writes results/model/table.json and a table to read."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError
from ...models.storage.files import write_atomically
from ...summary.studies import SummaryOptions
from ...version import __version__
from .measure import baseline_recourses, believed_figures, graph_figures, recourse_figures, walk
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

BENCH = SummaryOptions(sample=70, answers=10, shortlist=80, prefer="minimal", believed=False)
_WALK_STEPS = 400


def run_model(
    names: Sequence[str],
    out: Path,
    limit: int | None = None,
    seed: int = 0,
    watch: Callable[[str, int, int], None] = lambda *_: None,
) -> Path:
    """Measure summaries of the packaged classifiers; sets that the table has already are not measured again.

    Args:
        names: Names of datasets.
        out: Folder of the table.
        limit: Largest number of graphs of each part, for a quick look.
        seed: Seed of the random walk.
        watch: Called with what is being done, how many sets are done, and of how many.

    Returns:
        The file of the table.
    """
    if unknown := [name for name in names if name not in DESIRED]:
        raise ConfigError(f"A dataset must be one of {', '.join(SETS)}; got {unknown[0]!r}.")
    path = out / "table.json"
    table: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    out.mkdir(parents=True, exist_ok=True)
    for done, name in enumerate(names):
        command = f"graphflip bench model --data {name} --seed {seed}" + (f" --limit {limit}" if limit else "")
        stored = table.get(name, {})
        if stored.get("complete") and stored["command"] == command:
            continue
        for what, figures in _measured(name, limit, seed):
            watch(f"{name}: {what}", done, len(names))
            table[name] = {**figures, "seed": seed, "command": command, "complete": what == "all"}
            table |= {"published": PUBLISHED, "graphflip": __version__, "torch": torch.__version__.partition("+")[0]}
            write_atomically(path, (json.dumps(table, indent=1, sort_keys=True) + "\n").encode())
    watch("done", len(names), len(names))
    write_atomically(out / "table.md", to_markdown(table).encode())
    return path


def _measured(name: str, limit: int | None, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Figures of one set, step by step: what was measured last, and all figures so far."""
    options = replace(BENCH, seed=seed)
    subject = SummarySubject(name, options, limit)
    trial = run_trial(subject)
    figures: dict[str, Any] = {"target": DESIRED[name], "options": asdict(options), "growth": trial.growth}
    figures["recourse"] = recourse_figures(trial)
    figures["minutes"] = sum(trial.timer.seconds.values()) / 60
    yield "recourses", figures
    walked = walk(subject, trial.study, _WALK_STEPS)
    trial.timer.stop("random walk")
    figures["recourse"]["baselines"] = baseline_recourses(subject, trial, walked)
    trial.timer.stop("baselines")
    figures["recourse_believed"] = believed_figures(subject, trial)
    trial.timer.stop("believed")
    yield "baselines", figures
    figures["graphs"] = graph_figures(subject, trial, walked, trial.timer)
    seconds = trial.timer.seconds
    figures["minutes_graphs"] = (seconds["candidates"] + seconds["graphs"]) / 60
    figures["seconds"] = {step: round(time, 1) for step, time in seconds.items()}
    yield "graphs", figures
    figures["recourse_any_change"] = recourse_figures(
        run_trial(SummarySubject(name, replace(options, valid=False), limit, 4))
    )
    yield "all", figures


def to_markdown(table: dict[str, Any]) -> str:
    """The table to read: one row for each set."""
    names = "set", "inputs", "10 graphs", "cost", "100 recourses", "first 10", "held out (train)", "any change"
    head = f"| {' | '.join([*names, 'believed', 'minutes'])} |"
    lines = [head, "|" + "---|" * 10]
    for name in (name for name in SETS if table.get(name, {}).get("complete")):
        one = table[name]
        found, free, trusted = one["recourse"], one["recourse_any_change"], one["recourse_believed"]
        cells = [
            name,
            str(found["inputs"]),
            f"{one['graphs']['coverage']:.1%}",
            f"{one['graphs']['cost']:.3f}",
            f"{found['coverage']:.1%}",
            f"{found['coverage_10']:.1%}",
            f"{found['held_out']:.1%} ({found['train_10']:.1%})",
            f"{free['coverage']:.1%} / {free['coverage_10']:.1%}",
            f"{trusted['coverage']:.1%} / {trusted['coverage_10']:.1%}",
            f"{one['minutes']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
