"""Answers in words."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .takeback import take_back as take_back
    from .text import as_text as as_text
    from .wording import describe as describe
    from .wording import sentences as sentences

__getattr__, __dir__ = attach(__name__, __file__)
