"""Picture of the quality benchmark: the size of changes against the share that other models confirm."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import require
from ...models.storage.files import write_atomically
from ..paper.tables import NAMES

_JUDGES = {"nafr": "NAFR, GNN judge", "nafr_other": "NAFR, trees"}
_SEARCHES = ("minimal", "balanced", "believable")
_BLUE = "#0072B2"
# Okabe and Ito's colors, made for color-blind readers; shapes tell the methods apart as well.
_MARKS = {
    "minimal": (_BLUE, "v"),
    "balanced": (_BLUE, "o"),
    "believable": (_BLUE, "^"),
    "walk": ("#56B4E9", "D"),
    "greedy": ("#E69F00", "s"),
    "limit": ("#999999", "*"),
    "cgcf": ("#D55E00", "X"),
    "nearest": ("#009E73", "P"),
    "random": ("#CC79A7", "p"),
}
_OTHER = ("#000000", ".")
_TICKS = (1, 2, 5, 10, 20, 50, 100)
_LOOK = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "graphflip"}


def draw_frontier(results: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw a panel for each dataset and judge: heavy edits across, NAFR upwards, a dash at its ceiling."""
    shown = {name: rows for name, rows in results.items() if any("mean_heavy_edits" in row for row in rows.values())}
    if not shown:
        return
    matplotlib = require("matplotlib", "plot", "Drawing the frontier")
    figures = require("matplotlib.figure", "plot", "Drawing the frontier")
    with matplotlib.rc_context(_LOOK):
        figure = figures.Figure(figsize=(1.5 + 3.2 * len(shown), 6), layout="constrained")
        axes = figure.subplots(2, len(shown), sharex=True, sharey=True, squeeze=False)
        for across, (dataset, rows) in enumerate(shown.items()):
            for down, judge in enumerate(_JUDGES):
                _draw(axes[down, across], rows, judge)
            axes[0, across].set_title(NAMES.get(dataset, dataset))
            axes[1, across].set_xlabel("mean heavy edits")
        for down, words in enumerate(_JUDGES.values()):
            axes[down, 0].set_ylabel(words)
        handles = {name: line for ax in axes.flat for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    write_atomically(path, picture.getvalue())


def _draw(ax: Any, rows: Mapping[str, Any], judge: str) -> None:
    points = {
        name: (row["mean_heavy_edits"], row[judge], row.get(f"{judge}_ceiling"))
        for name, row in rows.items()
        if row.get(judge) is not None and row.get("mean_heavy_edits")
    }
    searches = [points[name] for name in _SEARCHES if name in points]
    ax.plot([x for x, _, _ in searches], [y for _, y, _ in searches], color=_BLUE, linewidth=1, zorder=1)
    for name, (x, y, ceiling) in points.items():
        color, marker = _MARKS.get(name, _OTHER)
        ax.plot([x], [y], marker, color=color, markersize=7, label=name)
        if ceiling is not None:
            ax.plot([x], [ceiling], "_", color=color, markersize=11, zorder=1)
    ax.plot([], [], "_", color="#555555", markersize=11, label="ceiling")
    ax.set_xscale("log")
    ax.set_xticks(_TICKS, map(str, _TICKS), minor=False)
    ax.set_xticks([], minor=True)
    ax.set_ylim(-0.03, 1.05)
