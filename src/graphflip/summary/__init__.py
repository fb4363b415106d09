"""Summaries of what a model has learned: changes that flip its prediction for many graphs, and how many they cover."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .comparison import ModelComparison as ModelComparison
    from .comparison import compare_models as compare_models
    from .groups import Group as Group
    from .recourses import Recourse as Recourse
    from .results.summary import ModelSummary as ModelSummary
    from .studies import SummaryOptions as SummaryOptions
    from .summarizer import summarize as summarize
    from .transformations import Transformation as Transformation

__getattr__, __dir__ = attach(__name__, __file__)
