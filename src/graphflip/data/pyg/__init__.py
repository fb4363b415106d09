"""PyG graphs: objects, files, and texts to send and store."""

from typing import TYPE_CHECKING

from ...lazy import attach

if TYPE_CHECKING:
    from .objects import from_pyg as from_pyg
    from .objects import to_pyg as to_pyg

__getattr__, __dir__ = attach(__name__, __file__)
