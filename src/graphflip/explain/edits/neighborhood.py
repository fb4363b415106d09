"""Neighborhood: the graphs around one factual that a search may try."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from ...columns import STEPS
from ...graph import Graph
from ..constraints import Constraints
from ..moves.difference import Difference
from ..moves.draft import Draft, Family, Variants
from ..moves.environments import EnvironmentCounts
from ..moves.moves import Moves
from ..moves.restrictions import Restrictions
from ..moves.sketch import Sketch
from .bounds import LeastCosts
from .candidates import Candidate
from .settings import Costs

_MANY = 10_000
"""Nodes of the training data from which on unknown surroundings speak against a change."""

_KEPT = 16
"""States whose moves are kept: the moves of a round may be listed twice, and those of the factual in every stage."""


class SearchStage(NamedTuple):
    """Moves that a search tries at a time.

    Args:
        largest: Nodes of the largest group to add; None for any.
        branches: Share of the heavy nodes that a branch may have which is removed; small groups always may go.
        beam: Graphs from which each round goes on.
        known: True if edits must create known environments only, and the result must be believable.
        lenient: True if what is strange has its price though it need not be believable.
        thrift: Share of the price of cost that counts when candidates are ranked.
        estimated: True if only the moves that promise most are made; False if all are.
        looks: How many times as many of them as usual are made at a time.
        complete: True if no round leaves moves out for being many.
    """

    largest: int | None
    branches: float
    beam: int
    known: bool = True
    lenient: bool = False
    thrift: float = 1.0
    estimated: bool = False
    looks: int = 1
    complete: bool = False

    @property
    def is_thorough(self) -> bool:
        """True if groups of all sizes are tried, and all moves or many of them are made."""
        return self.largest is None and (not self.estimated or self.looks > 1)


class PricedMove(NamedTuple):
    """A move that has not been made yet.

    Args:
        least: What the graph after it costs at least.
        number: Number of the move among all of a round, in the order in which they are listed.
        state: The graph before it.
        family: Family of the move.
        choice: Number of the move in its family.
    """

    least: float
    number: int
    state: Candidate
    family: Family
    choice: int


class Neighborhood:
    """Candidates around a factual, without those that constraints, environments or costs rule out.

    Args:
        graph: The factual, a batch of one hard graph.
        moves: Moves of its schema.
        costs: Costs of candidates.
        constraints: Parts that must stay as they are.
        environments: Environments that occur in the data; None to allow all.
        minimum: Number of times that an environment must occur to be known.

    `ruled_out` counts the candidates that each constraint has ruled out.
    """

    def __init__(
        self,
        graph: Graph,
        moves: Moves,
        costs: Costs,
        constraints: Constraints,
        environments: EnvironmentCounts | None = None,
        minimum: int = 5,
    ):
        self.schema, self.moves, self.costs = graph.schema, moves, costs
        self.environments, self.minimum = environments, minimum
        self.factual = Sketch.of(graph)
        self.restrictions = Restrictions.of(constraints, self.factual, graph.schema)
        self.ruled_out: Counter[str] = Counter()
        around = environments.created(self.factual, self.factual, self.factual.nodes) if environments else ()
        self.own_environments = dict(around)
        self.least_costs = LeastCosts(self.factual, moves, costs)
        self._size = self.factual.size
        self._listed: dict[tuple[Sketch, int | None, float], list[Family]] = {}

    @property
    def least_cost(self) -> float:
        """Lower bound of what one more move costs."""
        return self.costs.edit_price * (min((1.0, *map(abs, STEPS))) if self.schema.has_continuous else 1.0)

    def candidate(self, after: Sketch, state: Difference | None = None) -> Candidate:
        """A graph as a candidate; `state` is the difference of the sketch that it was copied from, if known."""
        return Candidate.of(self.factual, after, self.schema, state)

    def one_move_from(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> Iterator[Candidate]:
        """Every allowed graph one move away that costs less than the limit, each once."""
        met: set[frozenset] = set()
        for state in front:
            for draft in self.drafts(state, stage):
                candidate = self.made(state, draft, stage, limit)
                if candidate is not None and candidate.key() not in met:
                    met.add(candidate.key())
                    yield candidate

    def by_least_cost(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> list[PricedMove]:
        """Every move from the front that may cost less than the limit, those first that may be the cheapest."""
        listed, number = list[PricedMove](), 0
        for state in front:
            for family in self.families(state, stage):
                least = self.least_costs.of(state, family)
                listed += [
                    PricedMove(cost, number + k, state, family, k) for k, cost in enumerate(least) if cost < limit
                ]
                number += len(least)
        return sorted(listed, key=itemgetter(0, 1))

    def drafts(self, state: Candidate, stage: SearchStage) -> Iterator[Draft]:
        """Every move of a state that a stage tries, not made yet."""
        return self.moves.drafts(state.sketch, self.factual, stage.largest, stage.branches)

    def families(self, state: Candidate, stage: SearchStage) -> list[Family]:
        """The same, those moves together that differ only in what they bring, without those above the budget."""
        what = state.sketch, stage.largest, stage.branches
        if what not in self._listed:
            if len(self._listed) >= _KEPT:
                del self._listed[next(iter(self._listed))]
            self._listed[what] = list(self.moves.families(state.sketch, self.factual, stage.largest, stage.branches))
        families = list(self._listed[what])
        budget = self.restrictions.constraints.budget
        return families if budget is None else [*self._within(budget, state, families)]

    def _within(self, budget: int, state: Candidate, families: Iterable[Family]) -> Iterator[Family]:
        for family in families:
            dear = [least > budget for least in self.least_costs.counted(state, family)]
            self.ruled_out["budget"] += sum(dear)
            kept = tuple(value for value, is_dear in zip(family.choices.values, dear, strict=True) if not is_dear)
            if kept:
                yield family._replace(choices=Variants(kept)) if any(dear) else family

    def made(self, state: Candidate, draft: Draft, stage: SearchStage, limit: float) -> Candidate | None:
        """The graph that a move leads to; None if it is not allowed or does not cost less than the limit."""
        admits = partial(self.admits, known=stage.known, limit=limit)
        after = self.moves.made(state.sketch, draft, self.factual, admits)
        if after is None:
            return None
        candidate = self.candidate(after, state.difference)
        if self.costs.cost(candidate) >= limit or not candidate.size:
            return None
        return candidate if self.allows(candidate) else None

    def cheaper_than(self, candidate: Candidate, sketches: Iterable[Sketch], stage: SearchStage) -> list[Candidate]:
        """Those of the graphs that are allowed and cheaper than a candidate, each once.

        A number that only comes nearer to its old value, at the same cost, is not cheaper: it would end at the very
        boundary of the classifier, where no graph of the data may be.
        """
        admitted = (sketch for sketch in sketches if self.admits(candidate.sketch, sketch, stage.known, math.inf))
        key, unique = self.costs.key, {}
        for smaller in map(self.candidate, admitted):
            if smaller.heavy and key(smaller)[:2] < key(candidate)[:2]:
                unique[smaller.key()] = smaller
        return [smaller for smaller in unique.values() if self.allows(smaller)]

    def allows(self, candidate: Candidate) -> bool:
        """True if no constraint rules a candidate out; counts the one that does."""
        broken = self.restrictions.broken(candidate.difference, candidate.counted)
        if broken is not None:
            self.ruled_out[broken] += 1
        return broken is None

    @property
    def knows_much(self) -> bool:
        """True if the data are so many that what they do not have is strange for that."""
        return self.environments is not None and self.environments.total >= _MANY

    def has_unknown_environments(self, candidate: Candidate) -> bool:
        """True if edits created environments that must be known and are not."""
        return self.environments is not None and bool(
            self.environments.unknown(self.factual, candidate.sketch, candidate.difference, self.minimum)
        )

    def admits(self, state: Sketch, after: Sketch, known: bool, limit: float = math.inf) -> bool:
        """True if a draft may cost less than the limit and, if asked, has only known environments around its changes.

        The environments that a node has in the factual count as known.
        """
        apart = sum(abs(now - was) for now, was in zip(after.size, self._size, strict=True))
        if self.costs.at_least(apart) >= limit:
            return False
        if self.environments is None or not known:
            return True
        counts = self.environments.counts
        for i, environment in self.environments.created(state, after, after.touched):
            if counts.get(environment, 0) < self.minimum and self.own_environments.get(i) != environment:
                self.ruled_out["environments"] += 1
                return False
        return True
