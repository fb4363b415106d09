"""Remainders: graphs that lack some changes of an answer, as sketches; tensors are made where models ask for them."""

from dataclasses import dataclass
from functools import cached_property

from ...edits import Edit
from ...graph import Graph
from ..moves.apply import apply_differences
from ..moves.atoms.counting import counted_part
from ..moves.difference import Difference
from ..moves.sketch import Sketch
from .validity import Validity


@dataclass(frozen=True, eq=False)
class Remainder:
    """A graph that lacks some changes of an answer: on trial, to see what these are needed for.

    Args:
        factual: The graph before all changes.
        before: The same as a sketch.
        after: The graph that lacks some changes, with the slots of the factual.
    """

    factual: Graph
    before: Sketch
    after: Sketch

    @cached_property
    def difference(self) -> Difference:
        """Changes that lead to it from the factual."""
        return Difference.between(self.before, self.after)

    @cached_property
    def counted(self) -> Difference:
        """The changes without bookkeeping of hydrogens and charges."""
        return counted_part(self.difference, self.before, self.after, self.factual.schema)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The changes as edits, as `edits_between` lists them."""
        return tuple(self.difference.edits(self.factual.schema))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Number of edits, without and with those of hydrogens and charges."""
        return self.counted.size, self.difference.size

    @cached_property
    def graph(self) -> Graph:
        """Its tensors, with as many slots as the factual."""
        return apply_differences(self.factual, [self.difference])

    @cached_property
    def validity(self) -> Validity:
        """Soundness of the graph."""
        return Validity.of(self.graph)

    @property
    def ordered(self) -> Sketch:
        """Its nodes and edges in the order of their slots: moves give the same slots to new nodes whatever led here."""
        near = {i: dict(sorted(self.after.near[i].items())) for i in sorted(self.after.near)}
        return Sketch({i: self.after.nodes[i] for i in sorted(self.after.nodes)}, near, self.after.directed)

    def is_smaller(self, than: "Remainder") -> bool:
        """True if no number of edits is larger, hydrogens and charges counted or not, and one is smaller."""
        sizes = zip(self.size, than.size, strict=True)
        return self.size != than.size and all(here <= there for here, there in sizes)
