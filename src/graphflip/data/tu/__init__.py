"""The TU collection: its files, and the three sets of the paper."""

from typing import TYPE_CHECKING

from ...lazy import attach

if TYPE_CHECKING:
    from .reading import load_paper_dataset as load_paper_dataset
    from .reading import load_tu as load_tu
    from .writing import write_tu as write_tu

__getattr__, __dir__ = attach(__name__, __file__)
