"""From columns of measures to figures, and what a reader needs to get the same figures again."""

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
    """Mean and spread over the graphs of all seeds; with several seeds, also the spread of their means."""
    figures: dict[str, float | int] = {}
    for name in parts[0]:
        whole = summarize(torch.cat([part[name] for part in parts]))
        figures[name], figures[f"{name}_spread"] = whole.mean, whole.spread
        if len(parts) > 1:
            means = torch.tensor([summarize(part[name]).mean for part in parts])
            figures[f"{name}_seed_spread"] = float(means.std())
    return {name: number(value) for name, value in figures.items()}


def number(value: float | int) -> float | int | None:
    """A figure as JSON can hold it: six digits, None for NaN."""
    return None if value != value else round(value, 6)


def versions() -> dict[str, str]:
    """Of this package and of those that figures depend on."""
    found = {"graphflip": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
