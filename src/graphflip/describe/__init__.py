"""Answers in words."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .sentences import describe as describe
    from .sentences import sentences as sentences
    from .takeback import take_back as take_back
    from .text import as_text as as_text

__getattr__, __dir__ = attach(__name__, __file__)
