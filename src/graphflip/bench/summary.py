"""Figures (means and spreads) of measures, and the versions of the packages that they depend on."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import torch

from ..metrics import summarize
from ..version import __version__
from .measure import Measures

Figures = dict[str, float | int | None]
"""Figures by name; None where there is nothing to measure."""

_PACKAGES = ("torch", "numpy", "scipy", "rdkit")


def summary(parts: Sequence[Measures]) -> Figures:
    """Mean and standard deviation over the graphs of all seeds; with several seeds, also the deviation of their means.

    `parts` has the measures of one seed each.
    """
    figures: dict[str, float | int] = {}
    for name in parts[0]:
        whole = summarize(torch.cat([part[name] for part in parts]))
        figures[name], figures[f"{name}_spread"] = whole.mean, whole.spread
        if len(parts) > 1:
            means = torch.tensor([summarize(part[name]).mean for part in parts])
            figures[f"{name}_seed_spread"] = float(means.std())
    return {name: number(value) for name, value in figures.items()}


def number(value: float | int) -> float | int | None:
    """Round a figure to six digits; NaN becomes None, as JSON has no NaN."""
    return None if value != value else round(value, 6)


def versions() -> dict[str, str]:
    """Versions of graphflip, Python and the packages that figures depend on."""
    installed = {"graphflip": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "not installed"
    return installed
