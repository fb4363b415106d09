"""PlainRules: nodes that are no atoms may have any attributes and any number of edges."""

from collections.abc import Iterable
from dataclasses import dataclass

from ....schema import Schema
from ..attributes import Attributes, fresh_attributes, other_attributes
from ..sketch import Sketch
from .rules import AbstractRules

_UNLIMITED = 99


@dataclass(frozen=True)
class PlainRules(AbstractRules):
    """Rules for graphs that are no molecules.

    Args:
        schema: Schema of the graphs.
    """

    schema: Schema

    def heavy(self, sketch: Sketch) -> list[int]:
        return list(sketch.nodes)

    def is_hydrogen(self, sketch: Sketch, i: int) -> bool:
        return False

    def order(self, edge: Attributes) -> int:
        return 1

    def limit(self, node: Attributes) -> int:
        return _UNLIMITED

    def room(self, sketch: Sketch, i: int) -> int:
        return _UNLIMITED

    def alternatives(self, sketch: Sketch, i: int, room: int) -> Iterable[Attributes]:
        return other_attributes(sketch.nodes[i], self.schema.nodes)

    def fresh(self, known: Iterable[Attributes]) -> list[Attributes]:
        return fresh_attributes(self.schema.nodes, known)

    def as_new(self, node: Attributes, sketch: Sketch, i: int) -> Attributes | None:
        return node

    def bare(self, node: Attributes) -> Attributes:
        return node

    def settle(self, before: Sketch, after: Sketch, changed: set[int], factual: Sketch) -> bool:
        return True
