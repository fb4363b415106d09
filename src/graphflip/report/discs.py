"""Graphs that are no molecules: nodes as discs, edges as lines."""

from collections.abc import Sequence
from math import atan2

from ..graph import Attributes, Graph
from ..schema import Categories
from .layout import free_direction
from .painter import AbstractPainter
from .scene import REACH, UNIT, Form, Lines, Point, Shape, Text, between, polar, shifted, strokes, trimmed
from .stage import Stage

_RADIUS = 0.3 * UNIT


class Discs(AbstractPainter):
    """The first category of a node stands in its disc if it is short; else its number does, and the category beside."""

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

    def edge(self, i: int, j: int, attributes: Attributes) -> Sequence[Form]:
        """As many lines as the number of its category, up to three; with words where there are more categories."""
        a, b = trimmed(self.stage.places[i], self.stage.places[j], _RADIUS, _RADIUS)
        directed = self.graph.schema.directed
        if directed and bool(self.graph.A[0, j, i]):  # two that go both ways are side by side
            a, b = shifted(a, b, 0.1 * UNIT)
        column = next((column for column in self.graph.schema.edges if isinstance(column, Categories)), None)
        kind = str(attributes[column.name]) if column else ""
        is_many = column is not None and len(column.values) > 3
        number = column.index(kind) + 1 if column and not is_many else 1
        words = [Text(between(*shifted(a, b, 0.22 * UNIT), 0.35), kind, "note")] if is_many else []
        return [Lines(strokes(a, b, number)), *words, *([_head(a, b)] if directed else [])]


def _first_text(attributes: Attributes) -> str:
    return next((value for value in attributes.values() if isinstance(value, str)), "")


def _has_short_types(graph: Graph) -> bool:
    column = next((column for column in graph.schema.nodes if isinstance(column, Categories)), None)
    return column is not None and all(len(value) <= 2 for value in column.values)


def _head(a: Point, b: Point) -> Shape:
    angle = atan2(b[1] - a[1], b[0] - a[0])
    return Shape((b, polar(b, angle + 2.7, 0.24 * UNIT), polar(b, angle - 2.7, 0.24 * UNIT)), "head")
