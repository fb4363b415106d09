"""Calibration: the reliability curve of predicted probabilities, and the temperature that brings it to the diagonal.

Guo et al., On Calibration of Modern Neural Networks (2017).
"""

import importlib.util
import io
from pathlib import Path

import torch
from jaxtyping import Float, Int
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from ...errors import require
from ..storage.files import write_atomically

_BINS = 15
# Bounds of 1 / temperature; a classifier that is worse than chance ends at the lower one.
_COLDEST, _HOTTEST = 10.0, 0.1


class Reliability(BaseModel):
    """Reliability curve: predictions in bins of equal width by the probability of the predicted class; none is empty.

    Args:
        counts: Number of predictions in each bin.
        confidence: Mean probability of the predicted class in each bin.
        accuracy: Share of right predictions in each bin.
        ece: Expected calibration error: mean distance of accuracy and confidence, weighted by counts.
    """

    model_config = ConfigDict(frozen=True)
    counts: tuple[int, ...]
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]
    ece: float


def reliability(logits: Float[Tensor, "g c"], labels: Int[Tensor, " g"], bins: int = _BINS) -> Reliability:
    """Compare predicted probabilities with the share of predictions that are right.

    >>> reliability(torch.tensor([[0.0, 9.0], [9.0, 0.0]]), torch.tensor([1, 1])).ece  # sure of both, right once
    0.49987...
    """
    sure, predicted = logits.double().softmax(-1).max(-1)
    right = (predicted == labels).double()
    at = (sure * bins).long().clamp(max=bins - 1)
    counts = torch.bincount(at, minlength=bins)
    full = counts > 0
    confidence = torch.bincount(at, sure, bins)[full] / counts[full]
    accuracy = torch.bincount(at, right, bins)[full] / counts[full]
    return Reliability(
        counts=tuple(counts[full].tolist()),
        confidence=tuple(confidence.tolist()),
        accuracy=tuple(accuracy.tolist()),
        ece=float((counts[full] * (accuracy - confidence).abs()).sum() / max(len(labels), 1)),
    )


def fit_temperature(logits: Float[Tensor, "g c"], labels: Int[Tensor, " g"], weights: tuple[float, ...] = ()) -> float:
    """Find the temperature by which logits are to be divided for the lowest cross-entropy, between 0.1 and 10.

    Labels are smoothed as if one more graph had been met, of all classes alike, so that a classifier without a fault
    on a few graphs is not made infinitely sure. `weights` are those of the classes, equal if empty.
    """
    logits = logits.double()
    one_hot = nn.functional.one_hot(labels, logits.shape[1]).double()
    targets = (len(labels) * one_hot + 1 / logits.shape[1]) / (len(labels) + 1)
    weight = logits.new_tensor(weights)[labels] if weights else logits.new_ones(len(labels))

    def slope(coldness: float) -> float:
        """Derivative of the cross-entropy, which is convex in 1 / temperature."""
        return float((weight * (((coldness * logits).softmax(-1) - targets) * logits).sum(-1)).sum())

    low, high = _HOTTEST, _COLDEST
    for _ in range(50):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return 1 / (low * high) ** 0.5


def save_reliability(curve: Reliability, path: Path) -> None:
    """Write a reliability curve as JSON to `path` and, if matplotlib is installed, as a picture beside it (.svg)."""
    write_atomically(path, (curve.model_dump_json(indent=1) + "\n").encode())
    if importlib.util.find_spec("matplotlib") is not None:
        write_atomically(path.with_suffix(".svg"), _draw(curve))


def _draw(curve: Reliability) -> bytes:
    figures = require("matplotlib.figure", "plot", "Drawing a reliability curve")
    figure = figures.Figure(figsize=(4, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="gray", linewidth=1, linestyle="--")
    axes.plot(curve.confidence, curve.accuracy, marker="o")
    axes.set(xlabel="probability of the predicted class", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"expected calibration error {curve.ece:.3f}")
    picture = io.BytesIO()
    with require("matplotlib", "plot", "Drawing a reliability curve").rc_context({"svg.hashsalt": "graphflip"}):
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()
