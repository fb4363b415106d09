"""LeastCosts: what a move costs at least, known before it is made, so that dear ones need not be made at all."""

from collections import Counter
from functools import cached_property
from typing import cast

from ...schema import Schema
from ..moves.atoms.counting import is_of_charge
from ..moves.atoms.forecast import Growth
from ..moves.atoms.orders import column_index
from ..moves.attributes import Attributes
from ..moves.draft import Family, MoveKind
from ..moves.fragments import Fragment
from ..moves.moves import Moves
from ..moves.sketch import Sketch
from .candidates import Candidate
from .settings import Costs

# Edits by which a ring changes at least, hydrogens aside.
_LEAST_OF_RINGS: dict[MoveKind, int] = {"exchange ring": 3, "fuse ring": 6, "open ring": 2, "close ring": 2}

# Moves that change a node or an edge alone.
_SETS = ("change node", "change edge", "add edge", "remove edge")


class LeastCosts:
    """Lower bounds of the costs of moves.

    A move at nodes that are still as in the factual adds what it changes to the cost of the graph that it is made from.
    Any other may take back what was changed before; but graphs of different sizes are as many edits apart as their
    numbers of nodes and edges.

    Args:
        factual: The graph that all costs are counted from.
        moves: Moves of its schema.
        costs: Costs of candidates.
    """

    def __init__(self, factual: Sketch, moves: Moves, costs: Costs):
        self.factual, self.moves, self.costs = factual, moves, costs
        self.schema: Schema = moves.schema
        self._sized: tuple[Sketch, tuple[tuple[int, int], int]] | None = None

    def of(self, state: Candidate, family: Family) -> list[float]:
        """Least cost of each move of a family, together with the changes of the state that it is made from."""
        growths = self.moves.forecast.of(state.sketch, family)
        values = family.choices.values
        if self._adds_up(state, family):
            spent = self.costs.edit_price * self._edits(state)
            return [spent + self._own(family, brings, grown) for brings, grown in zip(values, growths, strict=True)]
        size, heavy = self._size_of(state.sketch)
        return [
            self._edits_cost(max(self._apart(size, grown), abs(heavy + _heavier(family, brings))))
            for brings, grown in zip(values, growths, strict=True)
        ]

    def counted(self, state: Candidate, family: Family) -> list[int]:
        """Least number of edits, as a budget counts them, of each move of a family together with those of the state."""
        growths = self.moves.forecast.of(state.sketch, family)
        pairs = zip(family.choices.values, growths, strict=True)
        if self._adds_up(state, family):
            return [state.counted.size + self._own_counted(family, brings, grown) for brings, grown in pairs]
        size, heavy = self._size_of(state.sketch)
        return [
            max(self._seen(self._apart(size, grown)), abs(heavy + _heavier(family, brings))) for brings, grown in pairs
        ]

    def _own_counted(self, family: Family, brings: object, grown: Growth | None) -> int:
        """Least number of edits of a move by itself, bookkeeping of hydrogens and charges aside."""
        if family.kind in _SETS:
            return self._sets(family, brings)
        size = 0 if grown is None else self._seen(abs(grown.nodes) + abs(grown.edges))
        return max(size, self._exchanged(family, brings), _LEAST_OF_RINGS.get(family.kind, 0))

    def _seen(self, count: int) -> int:
        """Of nodes and edges that come or go, the number that a budget counts at least."""
        return 0 if self.moves.rules.counts_hydrogens else count

    def _adds_up(self, state: Candidate, family: Family) -> bool:
        """True if what a move changes is counted in addition to what the state has changed."""
        changed = state.difference
        if not changed.size:
            return True
        if any(None in change for change in (*changed.nodes.values(), *changed.edges.values())):
            return False  # new nodes may take the slots of those that went
        if any(self.moves.rules.is_hydrogen(state.sketch, i) for i in changed.nodes):
            return False  # which may go with any change beside it
        if self._stores_charges and any(is_of_charge(change, self._charge) for change in changed.nodes.values()):
            return False  # a charge does not count any more once something else changes beside it
        return changed.touched.isdisjoint((*family.place, *family.gone))

    def _own(self, family: Family, brings: object, grown: Growth | None) -> float:
        """Least cost of a move by itself."""
        if family.kind in _SETS:
            hydrogens = 0 if grown is None else 2 * self.costs.hydrogen_price * grown.hydrogens
            return self.costs.edit_price * (self._sets(family, brings) + hydrogens)
        size = 0 if grown is None else abs(grown.nodes) + abs(grown.edges)
        return self._edits_cost(max(size, self._exchanged(family, brings), _LEAST_OF_RINGS.get(family.kind, 0)))

    def _sets(self, family: Family, brings: object) -> int:
        """Edits of a change of attributes besides hydrogens, at least: none where a step of a number, or a charge
        alone, may count less."""
        if self._has_continuous:
            return 0
        if not self._stores_charges or family.kind != "change node":
            return 1
        now, was = (self.moves.rules.bare(cast(Attributes, node)) for node in (brings, family.takes))
        return int(now != was)

    def _exchanged(self, family: Family, brings: object) -> int:
        """Nodes, explicit hydrogens aside, that a change of groups or rings adds, removes or changes at least."""
        if family.kind != "replace group" or self._has_continuous:
            return abs(_heavier(family, brings))
        removed, added = cast(tuple, family.takes)[1], cast(Fragment, brings).nodes
        gone, come = (Counter(map(self.moves.rules.bare, nodes)) for nodes in (removed, added))
        return max(gone.total(), come.total()) - (gone & come).total()

    def _edits_cost(self, count: int) -> float:
        """Least cost of so many nodes and edges that come or go."""
        rules = self.moves.rules
        return self.costs.at_least(count) if rules.counts_hydrogens else self.costs.edit_price * count

    def _apart(self, size: tuple[int, int], grown: Growth | None) -> int:
        """Nodes and edges that the graph after a move has more or fewer than the factual; 0 if not known."""
        if grown is None:
            return 0
        nodes, edges = (now - was for now, was in zip(size, self._size, strict=True))
        return abs(nodes + grown.nodes) + abs(edges + grown.edges)

    def _edits(self, state: Candidate) -> float:
        """Edits of a state as its cost counts them."""
        return state.weight + self.costs.hydrogen_price * (state.size - state.heavy + state.unseen)

    def _size_of(self, sketch: Sketch) -> tuple[tuple[int, int], int]:
        """Numbers of nodes and edges, and of nodes more than in the factual, hydrogens aside; kept for one sketch,
        as its families follow each other."""
        if self._sized is None or self._sized[0] is not sketch:
            self._sized = sketch, (sketch.size, len(self.moves.heavy(sketch)) - self._heavy)
        return self._sized[1]

    @cached_property
    def _size(self) -> tuple[int, int]:
        return self.factual.size

    @cached_property
    def _heavy(self) -> int:
        return len(self.moves.heavy(self.factual))

    @cached_property
    def _has_continuous(self) -> bool:
        return self.schema.has_continuous

    @cached_property
    def _charge(self) -> int:
        return column_index(self.schema.nodes, "charge")

    @cached_property
    def _stores_charges(self) -> bool:
        return self.schema.chemistry is not None and self.schema.chemistry.stored_charges


def _heavier(family: Family, brings: object) -> int:
    """Nodes, explicit hydrogens aside, that a move adds; those that it removes are counted with a minus."""
    group = brings[0] if isinstance(brings, tuple) and brings and isinstance(brings[0], Fragment) else brings
    if isinstance(group, Fragment):
        return len(group.nodes) - len(family.gone)
    come = len(group) if isinstance(group, tuple) and family.kind.endswith("ring") else 0
    return come - len(family.gone)
