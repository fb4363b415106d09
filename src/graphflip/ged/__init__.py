"""Labelled graph edit distance: bounds, search, and proofs."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .distance import EditDistance as EditDistance
    from .distance import closer_alignment as closer_alignment
    from .distance import graph_edit_distance as graph_edit_distance

__getattr__, __dir__ = attach(__name__, __file__)
