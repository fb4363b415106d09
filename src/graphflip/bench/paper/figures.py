"""The paper's figure: validity against identity preservation, one curve for each method."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import require
from ...metrics import histogram, tradeoff_curve
from ...models.storage.files import write_atomically
from ..measure import Measures

_IDENTITY = {"ged": "graph edit distance", "led": "latent distance", "cosine": "negative cosine similarity"}
_VALIDITY = {"flip_ratio": "flip ratio", "sic": "gain of confidence"}
# Okabe and Ito's colors, made for color-blind readers; the two variants of a baseline share one.
_COLORS = ("#999999", "#0072B2", "#0072B2", "#009E73", "#009E73", "#D55E00", "#CC79A7")
_BINS = 24
_LOOK = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_LOOK |= {"svg.hashsalt": "graphflip"}  # so that the same figure is the same file


def draw_tradeoff(dataset: str, columns: Mapping[str, Sequence[Measures]], folder: Path) -> None:
    """Write `tradeoff-<dataset>` as PNG and SVG: a column for each distance, a row for each measure of validity.

    A point of a curve is the mean validity of all counterfactuals that are at most so far from their factuals; a curve
    begins with ten of them. The seeds of a method are pooled. The top row has histograms of the distances.
    """
    matplotlib = require("matplotlib", "plot", "Drawing the trade-off figure")
    figures = require("matplotlib.figure", "plot", "Drawing the trade-off figure")
    with matplotlib.rc_context(_LOOK):
        figure = figures.Figure(figsize=(11, 7), layout="constrained")
        axes = figure.subplots(1 + len(_VALIDITY), len(_IDENTITY), sharex="col", sharey="row", height_ratios=(1, 2, 2))
        pooled = {title: _pool(parts) for title, parts in columns.items()}
        for across, (identity, words) in enumerate(_IDENTITY.items()):
            _draw_histograms(axes[0, across], {title: _identity(values, identity) for title, values in pooled.items()})
            for down, validity in enumerate(_VALIDITY, 1):
                _draw_curves(axes[down, across], pooled, identity, validity)
            axes[-1, across].set_xlabel(words + ", at most")
        axes[0, 0].set_ylabel("share of graphs")
        for down, words in enumerate(_VALIDITY.values(), 1):
            axes[down, 0].set_ylabel("mean " + words)
        axes[1, 0].set_ylim(-0.03, 1.03)
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(f"{dataset}: validity of counterfactuals against their distance from the factual")
        for suffix, options in (("png", {"dpi": 140}), ("svg", {"metadata": {"Date": None}})):
            picture = io.BytesIO()
            figure.savefig(picture, format=suffix, **options)
            write_atomically(folder / f"tradeoff-{dataset}.{suffix}", picture.getvalue())


def _draw_curves(ax: Any, pooled: Mapping[str, Measures], identity: str, validity: str) -> None:
    for (title, values), style in zip(pooled.items(), _styles(pooled), strict=True):
        curve = tradeoff_curve(_identity(values, identity), values[validity])
        mark = {"marker": "o", "markersize": 4} if len(curve.threshold) == 1 else {}
        ax.plot(curve.threshold, curve.validity, drawstyle="steps-post", label=title, **style, **mark)
    ax.axhline(0, color="#cccccc", linewidth=0.6, zorder=0)


def _draw_histograms(ax: Any, scores: Mapping[str, Float[Tensor, " b"]]) -> None:
    every = torch.cat(list(scores.values()))
    known = every[every.isfinite()]
    if not len(known):
        return
    low, high = float(known.min()), float(known.max())
    for values, style in zip(scores.values(), _styles(scores), strict=True):
        bars = histogram(values, _BINS, low, high)
        if len(bars.count):
            ax.stairs(bars.count / bars.count.sum(), bars.edges, **style)


def _styles(methods: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "color": _COLORS[k % len(_COLORS)],
            "linestyle": "--" if "ordered" in title else "-",
            "linewidth": 2.0 if title == "CGCF" else 1.2,
            "zorder": 3 if title == "CGCF" else 2,
        }
        for k, title in enumerate(methods)
    ]


def _identity(values: Measures, name: str) -> Float[Tensor, " b"]:
    """Distance from the factual; a similarity is negated, so that lower is closer."""
    return -values[name] if name == "cosine" else values[name]


def _pool(parts: Sequence[Measures]) -> Measures:
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
