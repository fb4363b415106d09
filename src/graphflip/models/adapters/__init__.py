"""Classifiers that users bring: PyG modules, functions of dense tensors, and models that can only be asked."""

from .black_box import BlackBox as BlackBox
from .dense import DenseClassifier as DenseClassifier
from .pyg import PyGClassifier as PyGClassifier
