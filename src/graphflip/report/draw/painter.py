"""AbstractPainter: how one kind of graph is drawn."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...graph import Attributes
from .routes import Route
from .scene import Form


class AbstractPainter(ABC):
    """Draws nodes and edges of a graph, one at a time; marks are drawn behind and over them by whoever asks.

    `reach` is how far the halo of a marked node reaches.
    """

    reach: float

    @abstractmethod
    def node(self, i: int) -> Sequence[Form]:
        """What is drawn for a node."""

    @abstractmethod
    def route(self, i: int, j: int) -> Route:
        """Where an edge runs, from the middle of one node to that of the other."""

    @abstractmethod
    def room(self, i: int, j: int) -> float:
        """What an edge leaves free around node i on its way to node j."""

    @abstractmethod
    def edge(self, i: int, j: int, attributes: Attributes) -> Sequence[Form]:
        """What is drawn for an edge."""
