"""Painter of graphs that are not molecules: nodes are discs, edges are lines."""

from collections.abc import Sequence
from itertools import pairwise
from math import atan2

import numpy as np

from ...graph import Graph
from ...schema import AttributeDict
from .layout import free_direction
from .painter import AbstractPainter
from .routes import Route, arc, aside, cut, free_arc, middle
from .scene import REACH, UNIT, Form, Lines, Shape, Text, polar
from .stage import Stage

_RADIUS = 0.3 * UNIT
_ROOM = 0.42 * UNIT
"""Least distance between an edge and the nodes that it does not join."""

_GAP = 0.16 * UNIT
"""Distance between the parallel lines of one edge."""


class Discs(AbstractPainter):
    """Draws nodes as discs with the value of their first category inside if all its values are short.

    Otherwise the node's number stands inside and the value beside it. Edges that would cross other nodes are curved
    around them, and the two edges of a pair that is joined in both directions are kept apart.
    """

    reach = 1.3 * REACH

    def __init__(self, stage: Stage, graph: Graph) -> None:
        self.stage, self.graph = stage, graph
        self.types = [_first_text(attributes or {}) for attributes in graph.nodes()]
        self.is_short = _has_short_types(graph)

    def node(self, i: int) -> Sequence[Form]:
        at, value = self.stage.places[i], self.types[i]
        inside, beside = (value, str(i)) if self.is_short else (str(i), value)
        forms: list[Form] = [Shape((at,), "node", radius=_RADIUS), Text(at, inside, "label")]
        style = self.stage.number_style(i) if self.is_short else "number"
        if beside and style:
            forms.append(Text(polar(at, free_direction(at, self.stage.around(i)), 0.68 * UNIT), beside, style))
        return forms

    def route(self, i: int, j: int) -> Route:
        a, b = self.stage.places[i], self.stage.places[j]
        if self.graph.schema.directed and bool(self.graph.A[0, j, i]):
            return arc(a, b, 0.22 * UNIT)
        others = np.array([place for k, place in self.stage.places.items() if k not in (i, j)]).reshape(-1, 2)
        return free_arc(a, b, others, _ROOM)

    def room(self, i: int, j: int) -> float:
        return _RADIUS

    def edge(self, i: int, j: int, attributes: AttributeDict) -> Sequence[Form]:
        """One, two or three parallel lines by the edge's category; if there are more of them, one line and a text."""
        route = cut(self.route(i, j), self.room(i, j), self.room(j, i))
        column = next((column for column in self.graph.schema.edges if column.values), None)
        value = str(attributes[column.name]) if column else ""
        is_many = column is not None and len(column.values) > 3
        number = column.values.index(value) + 1 if column and not is_many else 1
        parallel = [aside(route, (k - (number - 1) / 2) * _GAP) for k in range(number)]
        lines = Lines(tuple(segment for line in parallel for segment in pairwise(line)))
        texts = [Text(middle(aside(route, 0.26 * UNIT)), value, "note")] if is_many else []
        return [lines, *texts, *([_head(route)] if self.graph.schema.directed else [])]


def _first_text(attributes: AttributeDict) -> str:
    """The first attribute that is a text; empty if there is none."""
    return next((value for value in attributes.values() if isinstance(value, str)), "")


def _has_short_types(graph: Graph) -> bool:
    """True if all values of the first category of nodes fit into a disc."""
    column = next((column for column in graph.schema.nodes if column.values), None)
    return column is not None and all(len(value) <= 2 for value in column.values)


def _head(route: Route) -> Shape:
    """The arrowhead at the end of a route."""
    (ax, ay), (bx, by) = route[-2:]
    angle, end = atan2(by - ay, bx - ax), (bx, by)
    return Shape((end, polar(end, angle + 2.7, 0.27 * UNIT), polar(end, angle - 2.7, 0.27 * UNIT)), "head")
