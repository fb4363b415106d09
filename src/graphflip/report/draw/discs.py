"""Graphs that are no molecules: nodes as discs, edges as lines."""

from collections.abc import Sequence
from itertools import pairwise
from math import atan2

import numpy as np

from ...graph import Attributes, Graph
from ...schema import Categories
from .layout import free_direction
from .painter import AbstractPainter
from .routes import Route, arc, aside, cut, free_arc, middle
from .scene import REACH, UNIT, Form, Lines, Shape, Text, polar
from .stage import Stage

_RADIUS = 0.3 * UNIT
_ROOM = 0.42 * UNIT
"""How near an edge comes to nodes that are not its own."""

_GAP = 0.16 * UNIT
"""Between the lines of one edge."""


class Discs(AbstractPainter):
    """The first category of a node stands in its disc if it is short; else its number does, and the category beside.

    Edges that would run through other nodes run around them, and two that go both ways keep apart.
    """

    reach = 1.3 * REACH

    def __init__(self, stage: Stage, graph: Graph) -> None:
        self.stage, self.graph = stage, graph
        self.kinds = [_first_text(attributes or {}) for attributes in graph.nodes()]
        self.is_short = _has_short_types(graph)

    def node(self, i: int) -> Sequence[Form]:
        at, kind = self.stage.places[i], self.kinds[i]
        inside, beside = (kind, str(i)) if self.is_short else (str(i), kind)
        forms: list[Form] = [Shape((at,), "node", radius=_RADIUS), Text(at, inside, "label")]
        if beside and (i in self.stage.numbered or not self.is_short):
            forms.append(Text(polar(at, free_direction(at, self.stage.around(i)), 0.68 * UNIT), beside, "number"))
        return forms

    def route(self, i: int, j: int) -> Route:
        a, b = self.stage.places[i], self.stage.places[j]
        if self.graph.schema.directed and bool(self.graph.A[0, j, i]):
            return arc(a, b, 0.22 * UNIT)
        others = np.array([place for k, place in self.stage.places.items() if k not in (i, j)]).reshape(-1, 2)
        return free_arc(a, b, others, _ROOM)

    def room(self, i: int, j: int) -> float:
        return _RADIUS

    def edge(self, i: int, j: int, attributes: Attributes) -> Sequence[Form]:
        """As many lines as the number of its category, up to three; with words where there are more categories."""
        route = cut(self.route(i, j), self.room(i, j), self.room(j, i))
        column = next((column for column in self.graph.schema.edges if isinstance(column, Categories)), None)
        kind = str(attributes[column.name]) if column else ""
        is_many = column is not None and len(column.values) > 3
        number = column.index(kind) + 1 if column and not is_many else 1
        beside = [aside(route, (k - (number - 1) / 2) * _GAP) for k in range(number)]
        lines = Lines(tuple(piece for one in beside for piece in pairwise(one)))
        words = [Text(middle(aside(route, 0.26 * UNIT)), kind, "note")] if is_many else []
        return [lines, *words, *([_head(route)] if self.graph.schema.directed else [])]


def _first_text(attributes: Attributes) -> str:
    return next((value for value in attributes.values() if isinstance(value, str)), "")


def _has_short_types(graph: Graph) -> bool:
    column = next((column for column in graph.schema.nodes if isinstance(column, Categories)), None)
    return column is not None and all(len(value) <= 2 for value in column.values)


def _head(route: Route) -> Shape:
    (ax, ay), (bx, by) = route[-2:]
    angle, end = atan2(by - ay, bx - ax), (bx, by)
    return Shape((end, polar(end, angle + 2.7, 0.27 * UNIT), polar(end, angle - 2.7, 0.27 * UNIT)), "head")
