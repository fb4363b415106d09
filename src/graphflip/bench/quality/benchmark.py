"""The quality benchmark: size, validity and believability of the counterfactuals of each method."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...models.storage.files import write_atomically
from ..measure import Measures
from ..progress import Watch, counter
from ..score import figures_of
from ..summary import versions
from ..workers import Map, workers
from .earlier import with_earlier, with_earlier_lines
from .frontier import draw_frontier
from .known_answers import NAME as PLANTED
from .known_answers import known_answers, num_answers
from .material import Packaged, Source
from .realism import add_realism
from .rows import ROWS, MethodRow
from .runs import QualityRun, material_of
from .tables import goal_lines, graphs_csv, quality_table

DATASETS = ("ames", "mutagenicity", "nci1", "aids", PLANTED)


def run_quality(
    datasets: Sequence[str],
    out: Path,
    rows: Sequence[MethodRow] = ROWS,
    part: str = "test",
    limit: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    num_workers: int = 1,
    watch: Watch = lambda what, done, total: None,
    *,
    ged_seconds: float = 0.1,
    source: Source | None = None,
) -> Path:
    """Explain a part of each dataset with every method, score the counterfactuals, and write tables and a picture.

    Nothing is trained except a small classifier for the planted set. Runs that `out` already holds, with the same
    settings, data and models, are not repeated; a run that was killed continues where it was. Other methods that `out`
    already holds stay in the tables.

    Args:
        datasets: Names of datasets; "planted" is the one whose right answers are known.
        out: Folder for everything that is written.
        rows: Methods to run; without any, counterfactuals that the folder holds are measured and nothing is explained.
        part: Part of each dataset to explain, "test" or "validation".
        limit: Number of graphs of the part to explain, the first ones; None means all.
        seeds: Seeds for methods that draw random numbers; the others are run with the first.
        num_workers: Number of processes.
        watch: Called with the name of the current run, the number of steps done, and the total.
        ged_seconds: Time limit for the edit distance of a pair.
        source: Function that loads a dataset with its kit; by default those that come with the package.

    Returns:
        `out`.

    Raises:
        ConfigError: A name is given twice or unknown, or a number is out of range.
    """
    if not datasets or len(set(datasets)) < len(datasets):
        raise ConfigError(f"The benchmark needs one or more datasets, each once; got {list(datasets)}.")
    if not seeds or len(set(seeds)) < len(seeds):
        raise ConfigError(f"`seeds` must be one or more different numbers; got {list(seeds)}.")
    source = Packaged(part, limit) if source is None else source
    real_sets = [name for name in datasets if name != PLANTED]
    real_sets += [name for name in DATASETS if name not in datasets and (out / name).is_dir() and name != PLANTED]
    plans = [_with_held(source, name, rows if name in datasets else (), seeds, out, ged_seconds) for name in real_sets]
    runs = [_runs(source, name, plan, seeds, out, ged_seconds) for name, plan in zip(real_sets, plans, strict=True)]
    total = 3 * sum(len(run.material.graphs) for those in runs for run in those)
    total += num_answers(limit, part) if PLANTED in datasets else 0
    tick, results, graphs = counter(watch, total), {}, []
    with workers(num_workers) as pool:
        for name, plan, those in zip(real_sets, plans, runs, strict=True):
            if not those:
                continue
            results[name], measured = _one_dataset(those, plan, pool, tick)
            graphs += measured
        if PLANTED in datasets:
            results[PLANTED] = known_answers(out / PLANTED, limit, part, lambda count: tick(PLANTED, count))
        results = _in_order(with_earlier(results, out / "table.json", part, limit))
        rows = [row for row in dict.fromkeys([*ROWS, *rows]) if any(row.name in found for found in results.values())]
        every = [_runs(source, name, rows, seeds, out, ged_seconds) for name in real_sets]
        add_realism(results, every, [run for those in runs for run in those], pool, tick)
    _write(results, graphs, rows, _provenance(list(results), rows, part, limit, seeds, ged_seconds, source), out)
    return out


def _in_order(results: dict[str, Any]) -> dict[str, Any]:
    """Results with the datasets in the order of `DATASETS`, whichever were measured first; others stand before them."""
    return dict(sorted(results.items(), key=lambda one: DATASETS.index(one[0]) if one[0] in DATASETS else -1))


Measured = list[tuple[str, str, int, Sequence[str], Measures]]
"""Dataset, method, seed, ids of graphs and measures of each run."""


def _runs(
    source: Source, name: str, rows: Sequence[MethodRow], seeds: Sequence[int], out: Path, ged_seconds: float
) -> list[QualityRun]:
    return [
        QualityRun(source, name, row, seed, out / name, ged_seconds)
        for row in rows
        for seed in (seeds if row.repeated else seeds[:1])
    ]


def _with_held(
    source: Source, name: str, rows: Sequence[MethodRow], seeds: Sequence[int], out: Path, ged_seconds: float
) -> list[MethodRow]:
    """Methods that were asked for, and others whose runs the folder holds, in the order of the table."""
    held = [
        row
        for row in ROWS
        if row not in rows and all(run.is_done for run in _runs(source, name, [row], seeds, out, ged_seconds))
    ]
    return [row for row in dict.fromkeys([*ROWS, *rows]) if row in rows or row in held]


def _one_dataset(
    runs: Sequence[QualityRun], rows: Sequence[MethodRow], pool: Map, tick: Callable[[str, int], None]
) -> tuple[dict[str, Any], Measured]:
    """Complete the runs of a dataset; return the figures of each method, and the measures of each run."""
    measured: Measured = []
    for run in runs:
        what = f"{run.dataset}: {run.row.name}, seed {run.seed}"
        values = run.complete(pool, lambda count, what=what: tick(what, count))
        measured.append((run.dataset, run.row.name, run.seed, run.material.graphs.ids, values))
    real = runs[0].material.real
    figures: dict[str, Any] = {
        row.name: figures_of([values for _, name, _, _, values in measured if name == row.name], real) for row in rows
    }
    return figures | {"real": real.figures}, measured


def _provenance(
    datasets: Sequence[str],
    rows: Sequence[MethodRow],
    part: str,
    limit: int | None,
    seeds: Sequence[int],
    ged_seconds: float,
    source: Source,
) -> dict[str, Any]:
    """Command, settings and versions that give the same figures again; neither time nor machine is among them."""
    data = "all" if list(datasets) == list(DATASETS) else ",".join(datasets)
    words = ["graphflip bench quality", "--data", data, "--part", part]
    words += ["--limit", str(limit)] if limit else []
    words += ["--methods", ",".join(row.name for row in rows)] if list(rows) != list(ROWS) else []
    return {
        "command": " ".join([*words, "--seeds", str(len(seeds))]),
        "part": part,
        "limit": limit,
        "seeds": list(seeds),
        "ged_seconds": ged_seconds,
        "methods": {row.name: row.about for row in rows},
        "classes": {name: list(material_of(source, name).kit.classes) for name in datasets if name != PLANTED},
        "versions": versions(),
    }


def _write(
    results: dict[str, Any], graphs: Measured, rows: Sequence[MethodRow], provenance: dict[str, Any], out: Path
) -> None:
    source = f"`{provenance['command']}`; "
    source += ", ".join(f"{name} {number}" for name, number in provenance["versions"].items()) + "."
    table = quality_table(results, rows)
    methods = [f"- **{name}**: {about}" for name, about in provenance["methods"].items()]
    goals = goal_lines(results)
    text = "\n".join(["## Quality of counterfactuals", "", *methods, "", table.to_markdown(source), *_titled(goals)])
    write_atomically(out / "table.md", text.encode())
    write_atomically(out / "table.csv", table.to_csv().encode())
    lines = with_earlier_lines(graphs_csv(graphs), out / "graphs.csv", results)
    write_atomically(out / "graphs.csv", lines.encode())
    draw_frontier(results, out / "frontier.svg")
    if PLANTED in results:
        results[PLANTED] |= {"found": results[PLANTED]["minimal"]["found"]}
    content = {"provenance": provenance, **results}
    write_atomically(out / "table.json", (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def _titled(goals: list[str]) -> list[str]:
    return ["### Goals", "", *goals, ""] if goals else []
