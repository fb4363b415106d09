"""Applying: a transformation made in a graph through the moves of its schema, so that the result is valid."""

from dataclasses import dataclass, field

from ..explain.moves.attributes import Attributes, typical
from ..explain.moves.difference import Difference
from ..explain.moves.environments import EnvironmentCounts
from ..explain.moves.moves import Moves
from ..explain.moves.rings.aromatic import AromaticRings
from ..explain.moves.sketch import Sketch
from ..schema import Column
from .sites import Site
from .transformations import Transformation, Wildcards


@dataclass(frozen=True, eq=False)
class Applier:
    """Makes transformations in graphs, and leaves out what would not be valid.

    Args:
        moves: Moves of the schema; they fill in hydrogens and charges.
        environments: Surroundings in the training graphs; changes that create others are left out, and in molecules
            those that break an aromatic ring. None allows all that the moves allow.
    """

    moves: Moves
    environments: EnvironmentCounts | None = None
    _aromatic: dict[int, tuple[Sketch, AromaticRings]] = field(default_factory=dict, init=False, repr=False)

    def apply(self, change: Transformation, site: Site, state: Sketch, factual: Sketch) -> Sketch | None:
        """Make a transformation at a site of a graph.

        Args:
            change: The transformation.
            site: Slots of its old nodes, as `PatternIndex.sites` lists them.
            state: The graph to change; it stays as it is.
            factual: The graph that was explained, of which `state` may be a changed copy.

        Returns:
            The changed graph, aligned with the factual; None if it would not be valid or would fall apart.
        """
        draft, changed = self._draft(change, site, state)
        after = self.moves.settled(state, draft, changed, factual)
        if after is None or len(after.parts()) > len(state.parts()):
            return None
        return after if self.allows(factual, after) else None

    def allows(self, factual: Sketch, after: Sketch) -> bool:
        """True if all surroundings that a change creates are known, and no aromatic ring is lost."""
        if self.environments is None:
            return True
        difference, known = Difference.between(factual, after), self.environments
        return not known.unknown(factual, after, difference, known.minimum) and self._rings_stay(factual, difference)

    def _rings_stay(self, factual: Sketch, difference: Difference) -> bool:
        """True if no aromatic ring of a molecule is lost."""
        if self.moves.schema.chemistry is None:
            return True
        if id(factual) not in self._aromatic:
            self._aromatic.clear()
            self._aromatic[id(factual)] = factual, AromaticRings.of(factual, self.moves.schema)
        rings = self._aromatic[id(factual)][1]
        return all(change.after is not None for pair, change in difference.edges.items() if pair in rings.bonds) and (
            rings.stay(difference)
        )

    def _draft(self, change: Transformation, site: Site, state: Sketch) -> tuple[Sketch, set[int]]:
        """A copy of the state with the change made, and the nodes that it reaches."""
        draft, number, schema = state.copy(), list(site), self.moves.schema
        changed = {i for i in site if i is not None}
        for k, node in enumerate(change.nodes):
            i = number[k]
            if i is not None and node.after is None:
                self.moves.strip_hydrogens(draft, i)
                draft.remove(i)
            elif i is not None and node.after is not None and node.after != node.before:
                draft.set_node(i, _filled(node.after, draft.nodes[i], schema.nodes))
            elif i is None and node.after is not None:
                number[k] = draft.add(_filled(node.after, None, schema.nodes))
                changed.add(number[k])  # pyright: ignore[reportArgumentType]
        for edge in change.edges:
            i, j = number[edge.i], number[edge.j]
            if i is None or j is None or i not in draft.nodes or j not in draft.nodes or edge.before == edge.after:
                continue
            if edge.after is None:
                draft.cut(i, j)
            else:
                draft.join(i, j, _filled(edge.after, draft.near[i].get(j), schema.edges))
        return draft, changed


def _filled(wanted: Wildcards, there: Attributes | None, columns: tuple[Column, ...]) -> Attributes:
    """Attributes in which the values that are left open are those that are there, or typical ones."""
    if None not in wanted:
        return tuple(value for value in wanted if value is not None)
    if there is not None:
        return tuple(old if value is None else value for value, old in zip(wanted, there, strict=True))
    open_ = tuple(column.mean if value is None else value for value, column in zip(wanted, columns, strict=True))
    return typical(open_, columns)
