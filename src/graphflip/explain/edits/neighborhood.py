"""Neighborhood: the graphs that a search for one graph may try."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...graph import Graph
from ..moves.difference import Difference
from ..moves.restrictions import Restrictions
from ..moves.sketch import Sketch
from .candidates import Candidate

if TYPE_CHECKING:
    from .search import EditSearch


class SearchStage(NamedTuple):
    """What a search tries: the largest group to add, whether branches of any size may go, the width of the beam, and
    whether environments must be known."""

    largest: int | None
    branches: bool
    beam: int
    known: bool = True


class Neighborhood:
    """What can be reached from a graph by moves, with what rules candidates out: constraints, environments, and what
    they cost. `ruled_out` counts the reasons."""

    def __init__(self, settings: "EditSearch", graph: Graph):
        self.settings, self.schema = settings, graph.schema
        self.factual = Sketch.of(graph)
        self.restrictions = Restrictions.of(settings.constraints, self.factual, graph.schema)
        self.stage = next(self.stages())
        self.ruled_out: Counter[str] = Counter()
        known = settings.environments
        self._home = dict(known.created(self.factual, self.factual, self.factual.nodes)) if known else {}
        self._size, self._limit = self.factual.size, math.inf

    def stages(self) -> Iterator[SearchStage]:
        """More and more, for as long as nothing passes."""
        settings = self.settings
        if settings.moves.has_larger(settings.largest):
            yield SearchStage(settings.largest, False, settings.beam)
        yield SearchStage(None, False, settings.beam)
        yield SearchStage(None, True, 4 * settings.beam)
        if settings.environments is not None and settings.concede_to is not None:
            yield SearchStage(settings.largest, False, settings.beam, known=False)

    def candidate(self, after: Sketch, state: Difference | None = None) -> Candidate:
        """A graph as a candidate; `state` is the difference of the one that it was copied from, if that is known."""
        return Candidate.of(self.factual, after, self.schema, state)

    def one_move_from(self, front: Iterable[Candidate], limit: float) -> Iterator[Candidate]:
        """Every allowed graph one move away, once, that costs less than the limit."""
        met: set[frozenset] = set()
        self._limit = limit
        for state in front:
            moves = self.settings.moves.steps(
                state.sketch, self.factual, self._admits, self.stage.largest, self.stage.branches
            )
            for _, after in moves:
                candidate = self.candidate(after, state.difference)
                if self.settings.cost(candidate) >= limit:
                    continue
                key = candidate.key()
                if key and key not in met:
                    met.add(key)
                    if self.allows(candidate):
                        yield candidate

    def between(self, found: Candidate, sketches: Iterable[Sketch]) -> list[Candidate]:
        """Those of the graphs that are allowed and cost less than what was found, each once."""
        self._limit = math.inf
        smaller = [self.candidate(sketch) for sketch in sketches if self._admits(found.sketch, sketch)]
        known = {one.key(): one for one in smaller if one.heavy and self.expense(one) < self.expense(found)}
        return [one for one in known.values() if self.allows(one)]

    def allows(self, one: Candidate) -> bool:
        """Whether constraints admit a graph; counts what rules it out if not."""
        broken = self.restrictions.broken(one.difference, one.counted)
        if broken is not None:
            self.ruled_out[broken] += 1
        return broken is None

    def expense(self, one: Candidate) -> tuple[float, int, float]:
        """What candidates are compared by that pass."""
        return self.settings.cost(one), one.heavy, one.travel

    def is_strange(self, one: Candidate) -> bool:
        """Whether edits created environments that ought to be known and are not."""
        known = self.settings.environments
        return known is not None and bool(
            known.unknown(self.factual, one.sketch, one.difference, self.settings.minimum)
        )

    def _admits(self, state: Sketch, after: Sketch) -> bool:
        """Whether a move may cost less than the limit, and the environments that it created are known, or are those
        of the factual."""
        if self._costs_at_least(after) >= self._limit:
            return False
        known = self.settings.environments
        if known is None or not self.stage.known:
            return True
        for i, environment in known.created(state, after, after.touched):
            if known.counts.get(environment, 0) < self.settings.minimum and self._home.get(i) != environment:
                self.ruled_out["environments"] += 1
                return False
        return True

    def _costs_at_least(self, after: Sketch) -> float:
        """What must be paid for nodes and edges that are more or fewer than the factual's, wherever they are."""
        apart = sum(abs(now - was) for now, was in zip(after.size, self._size, strict=True))
        return min(1.0, self.settings.hydrogen_price) * apart
