"""Classifiers that users bring: PyG modules, functions of dense tensors, and models that can only be asked."""

from typing import TYPE_CHECKING

from ...lazy import attach

if TYPE_CHECKING:
    from .black_box import BlackBox as BlackBox
    from .dense import DenseClassifier as DenseClassifier
    from .pyg import PyGClassifier as PyGClassifier

__getattr__, __dir__ = attach(__name__, __file__)
