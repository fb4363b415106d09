"""Pictures of the field: edits against the agreement of judges, and seconds against edits, with the Pareto front."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import require
from ..paper.tables import NAMES
from .methods import METHODS, OURS
from .tables import blocks_of, in_order

_LOOK = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "graphflip"}
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = "osD^vP*X<>ph"
Points = dict[str, tuple[float, float]]


def pareto_front(points: Points, larger_y: bool) -> list[str]:
    """Names of points that no other point beats: a smaller x, and a larger (or smaller) y.

    Example:
        >>> pareto_front({"a": (1, 0.5), "b": (2, 0.9), "c": (3, 0.6)}, larger_y=True)
        ['a', 'b']
    """
    sign = -1 if larger_y else 1
    kept = []
    for name, (x, y) in points.items():
        others = [(u, sign * v) for other, (u, v) in points.items() if other != name]
        mine = (x, sign * y)
        if not any(u <= mine[0] and v <= mine[1] and (u, v) != mine for u, v in others):
            kept.append(name)
    return sorted(kept, key=lambda name: points[name])


def draw_field(content: Mapping[str, Any]) -> dict[str, bytes]:
    """Draw one picture for each pair of figures, with a panel for each set and oracle.

    Returns:
        SVG files by name; none if there is nothing to draw.
    """
    blocks = {
        f"{NAMES.get(name, name)}, {oracle}": block
        for name, oracles in blocks_of(content).items()
        for oracle, block in oracles.items()
    }
    names = [name for name in METHODS if any(name in block for block in blocks.values())]
    names += sorted({name for block in blocks.values() for name in in_order(block)} - set(names))
    believed = {title: _points(block, "heavy_edits", "believed") for title, block in blocks.items()}
    quick = {title: _points(block, "seconds", "heavy_edits") for title, block in blocks.items()}
    pictures = {}
    if any(believed.values()):
        pictures["believed.svg"] = _draw(
            believed, names, ("heavy edits of flips", "NAFR, mean of both judges"), (True, False), True
        )
        pictures["seconds.svg"] = _draw(quick, names, ("seconds a graph", "heavy edits of flips"), (True, True), False)
    return pictures


def _points(block: Mapping[str, Any], x: str, y: str) -> Points:
    points = {}
    for name in in_order(block):
        figures = block[name]
        judged = [figures[judge] for judge in ("nafr", "nafr_other") if figures.get(judge) is not None]
        values = {**figures, "believed": sum(judged) / len(judged) if judged else None}
        if values.get(x) and values.get(y) is not None:
            points[name] = (float(values[x]), float(values[y]))
    return points


def _draw(
    panels: Mapping[str, Points],
    names: Sequence[str],
    words: tuple[str, str],
    logarithmic: tuple[bool, bool],
    larger_y: bool,
) -> bytes:
    matplotlib = require("matplotlib", "plot", "Drawing the field")
    figures = require("matplotlib.figure", "plot", "Drawing the field")
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    with matplotlib.rc_context(_LOOK):
        figure = figures.Figure(figsize=(1.6 + 2.9 * across, 0.6 + 2.5 * down), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)
        for ax, (title, points) in zip(axes, panels.items(), strict=False):
            _panel(ax, points, names, larger_y)
            ax.set_title(title)
            ax.set_xlabel(words[0])
            ax.set_ylabel(words[1])
            ax.set_xscale("log" if logarithmic[0] else "linear")
            ax.set_yscale("log" if logarithmic[1] else "linear")
            for axis in [axis for axis, yes in zip((ax.xaxis, ax.yaxis), logarithmic, strict=True) if yes]:
                _plain_numbers(axis)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        handles = {
            label: line for ax in figure.axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        shown = [name for name in [*names, "Pareto front"] if name in handles]
        figure.legend([handles[name] for name in shown], shown, loc="outside right center", frameon=False)
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


def _plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers, at 1, 2 and 5."""
    ticker = require("matplotlib.ticker", "plot", "Drawing the field")
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0), numticks=5))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _panel(ax: Any, points: Points, names: Sequence[str], larger_y: bool) -> None:
    front = [points[name] for name in pareto_front(points, larger_y)]
    ax.plot([x for x, _ in front], [y for _, y in front], color="#bbbbbb", linewidth=1, zorder=1, label="Pareto front")
    for k, name in enumerate(names):
        if name in points:
            size = 9 if name in OURS else 6
            style = {"color": _COLORS[k % len(_COLORS)], "markersize": size, "label": name}
            ax.plot([points[name][0]], [points[name][1]], _MARKERS[k % len(_MARKERS)], **style)
