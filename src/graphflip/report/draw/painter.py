"""AbstractPainter: draws the nodes and edges of one kind of graph."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...schema import AttributeDict
from .routes import Route
from .scene import Form


class AbstractPainter(ABC):
    """Draws the nodes and edges of a graph, one at a time; `compose` adds the marks of changes.

    `reach` is the radius of the halo around a marked node.
    """

    reach: float

    @abstractmethod
    def node(self, i: int) -> Sequence[Form]:
        """Shapes and texts of a node."""

    @abstractmethod
    def route(self, i: int, j: int) -> Route:
        """Points that an edge runs through, from the middle of node i to that of node j."""

    @abstractmethod
    def room(self, i: int, j: int) -> float:
        """Space that the edge to node j leaves free around the middle of node i."""

    @abstractmethod
    def edge(self, i: int, j: int, attributes: AttributeDict) -> Sequence[Form]:
        """Lines, shapes and texts of an edge."""
