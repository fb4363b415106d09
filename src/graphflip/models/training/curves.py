"""Training curves as a table and, if matplotlib is installed, as a picture."""

import csv
import importlib.util
import io
from pathlib import Path

from ...errors import require
from ..storage.files import write_atomically
from .schedule import Epoch


def save_curves(history: list[Epoch], folder: Path) -> None:
    """Write the training curve to `curves.csv` and, if matplotlib is installed, to `curves.svg`."""
    names = sorted({name for line in history for name in line.figures})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["epoch", "loss", "rate", *names])
    for line in history:
        table.writerow([line.epoch, line.loss, line.rate, *(line.figures.get(name, "") for name in names)])
    write_atomically(folder / "curves.csv", text.getvalue().encode())
    if importlib.util.find_spec("matplotlib") is not None:
        write_atomically(folder / "curves.svg", _draw_curves(history, names))


def _draw_curves(history: list[Epoch], names: list[str]) -> bytes:
    figures = require("matplotlib.figure", "plot", "Drawing training curves")
    figure = figures.Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([line.epoch for line in history], [line.loss for line in history])
    left.set(xlabel="epoch", ylabel="training loss")
    shown = [name for name in names if name in ("auroc", "accuracy", "atoms", "edges", "graphs")] or names[:1]
    measured = [line for line in history if line.figures]
    for name in shown:
        right.plot([line.epoch for line in measured], [line.figures[name] for line in measured], label=name)
    right.set(xlabel="epoch", ylabel="validation")
    if shown:
        right.legend()
    picture = io.BytesIO()
    with require("matplotlib", "plot", "Drawing training curves").rc_context({"svg.hashsalt": "graphflip"}):
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()
