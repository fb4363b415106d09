"""The picture of the quality benchmark: how small changes are against how many other models believe them."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import require
from ..models.files import write_atomically
from .paper_tables import NAMES

_JUDGES = {"nafr": ("GNN judge", "o"), "nafr_other": ("trees", "s")}
_SEARCHES = ("minimal", "balanced", "believable")
# Okabe and Ito's blue and orange, which everybody can tell apart; shapes tell the same.
_OURS, _OTHERS = "#0072B2", "#D55E00"
_LOOK = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "graphflip"}


def draw_frontier(results: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """One panel for each dataset and judge: heavy edits across, NAFR upwards, a tick where the ceiling is."""
    shown = {name: rows for name, rows in results.items() if any("nafr" in row for row in rows.values())}
    if not shown:
        return
    matplotlib = require("matplotlib", "plot", "Drawing the frontier")
    figures = require("matplotlib.figure", "plot", "Drawing the frontier")
    with matplotlib.rc_context(_LOOK):
        figure = figures.Figure(figsize=(4 * len(shown), 6), layout="constrained")
        axes = figure.subplots(2, len(shown), sharex="col", sharey=True, squeeze=False)
        for across, (dataset, rows) in enumerate(shown.items()):
            for down, judge in enumerate(_JUDGES):
                _draw(axes[down, across], rows, judge)
            axes[0, across].set_title(NAMES.get(dataset, dataset))
            axes[1, across].set_xlabel("mean heavy edits (log)")
        for down, (words, _) in enumerate(_JUDGES.values()):
            axes[down, 0].set_ylabel(f"NAFR, {words}")
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
    ax.plot([x for x, _, _ in searches], [y for _, y, _ in searches], color=_OURS, linewidth=1, zorder=1)
    for name, (x, y, ceiling) in points.items():
        color = _OURS if name in _SEARCHES else _OTHERS
        ax.plot([x], [y], _JUDGES[judge][1], color=color, markersize=5)
        if ceiling is not None:
            ax.plot([x], [ceiling], "_", color=color, markersize=10)
        ax.annotate(name, (x, y), xytext=(5, -9), textcoords="offset points", fontsize=7)
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.05)
