"""Fitting kits: from a dataset of your own to the models that explain it."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .kit import fit_kit as fit_kit

__getattr__, __dir__ = attach(__name__, __file__)
