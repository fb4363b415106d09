"""Minimizer: makes an answer smaller by reverting or exchanging changes, or by aligning its nodes better."""

from collections.abc import Iterator
from functools import partial
from itertools import takewhile

import torch

from ...ged.distance import closer_alignment
from ..moves.alignment import align, renumber
from ..moves.apply import apply_differences
from ..moves.revert import revert_all, reverted
from ..moves.sketch import Pair, Sketch
from .candidates import Candidate
from .neighborhood import Neighborhood, SearchStage
from .rounds.inspection import Inspection
from .scoring import Scoring

# With fewer edits, another alignment hardly ever saves one.
_WORTH_REALIGNING = 3


class Minimizer:
    """Makes answers that pass smaller for as long as they still pass.

    Args:
        neighborhood: Candidates that are allowed.
        scoring: Models that must still be convinced.
        inspect: Choice of the moves that are tried.
        stage: Moves that may be exchanged for others.
    """

    def __init__(self, neighborhood: Neighborhood, scoring: Scoring, inspect: Inspection, stage: SearchStage):
        self.neighborhood, self.scoring, self.inspect, self.stage = neighborhood, scoring, inspect, stage

    def __call__(self, candidate: Candidate) -> Candidate:
        """The candidate that remains when no change can be reverted, exchanged or saved by another alignment."""
        return revert_all(candidate, partial(self._smaller, exchange=True))

    def without_exchanges(self, candidate: Candidate) -> Candidate:
        """The candidate that remains when no change can be reverted or saved; the others stay the changes they are."""
        return revert_all(candidate, partial(self._smaller, exchange=False))

    def _smaller(self, candidate: Candidate, exchange: bool) -> Candidate | None:
        if self.scoring.spent:
            return None
        return self._reverted_or_exchanged(candidate, exchange) or self.realigned(candidate)

    def _reverted_or_exchanged(self, candidate: Candidate, exchange: bool) -> Candidate | None:
        """The cheapest that passes after one change was reverted, or else reverted and another one made."""
        around, cost = self.neighborhood, self.neighborhood.costs.cost
        sketches = reverted(around.moves, around.factual, candidate.sketch, partly=True)
        smaller = self.scoring.vote(around.cheaper_than(candidate, sketches, self.stage))
        cheapest = self._cheaper(smaller, candidate)
        if cheapest is not None or not exchange or (self.inspect.slopes.useful and candidate.heavy < 2):
            return cheapest
        front = [each for each in smaller if cost(each) + around.least_cost < cost(candidate)]
        front = sorted(front, key=cost)[: self.scoring.limits.exchanges]
        return self._cheaper(self.inspect(front, self.stage, cost(candidate)), candidate) if front else None

    def _cheaper(self, scored: list[Candidate], than: Candidate) -> Candidate | None:
        """The cheapest of the candidates that passes, if it is cheaper than another when all is priced."""
        key = self.neighborhood.costs.key
        passing = [each for each in scored if self.scoring.passes(each)]
        priced = self.scoring.in_order(passing, key, self.stage.known)
        return self.scoring.cheapest(takewhile(lambda each: key(each) < key(than), priced))

    def realigned(self, candidate: Candidate) -> Candidate | None:
        """The same graph with its nodes in other slots, so that fewer edits lead to it; None if no allowed ones do."""
        around, graph = self.neighborhood, self.scoring.graph
        if candidate.size < _WORTH_REALIGNING or candidate.size <= candidate.difference.least_size(graph.schema):
            return None
        after = apply_differences(graph, [candidate.difference])
        image = closer_alignment(graph.pad(after.num_slots), after, torch.arange(after.num_slots)).tolist()
        slot = {k: i for i, k in self._plausible(image, candidate.sketch)}
        fresh = [k for k in candidate.sketch.nodes if k not in slot]
        slot |= {k: -number for number, k in enumerate(fresh, 1)}
        sketch = align(around.factual, renumber(candidate.sketch, slot), graph.schema.max_nodes)
        if sketch is None:
            return None
        again = self.scoring.priced(around.candidate(sketch).with_votes(candidate.votes), self.stage.known)
        if again is None:
            return None
        if not again.heavy or around.costs.key(again) >= around.costs.key(candidate):
            return None
        if around.has_unknown_environments(again) and not around.has_unknown_environments(candidate):
            return None
        return again if around.allows(again) else None

    def _plausible(self, image: list[int], after: Sketch) -> Iterator[Pair]:
        """The pairs of an alignment; in molecules only atoms that keep a bond to an atom which is kept.

        An atom that goes here and comes back elsewhere would be fewer edits, but no chemist would make them.
        """
        before = self.neighborhood.factual
        is_molecule = self.neighborhood.schema.chemistry is not None
        for i, k in enumerate(image):
            if k >= 0:
                around = before.around(i) if is_molecule and i in before.nodes else []
                if not around or any(image[j] in after.around(k) for j in around):
                    yield i, k
