"""Minimizer: from an answer to a smaller one; changes are taken back, exchanged, or told in fewer words."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import torch

from ...ged.distance import closer_alignment
from ...graph import Graph
from ..moves.alignment import align, renumber
from ..moves.apply import apply_differences
from ..moves.shrink import shrunk
from ..moves.sketch import Pair, Sketch
from ..moves.undo import undone
from .candidates import Candidate
from .neighborhood import Neighborhood
from .scoring import Scoring

# Two edits are hardly ever one in other words.
_WORTH_REALIGNING = 3


class Minimizer:
    """Makes answers that pass smaller, as long as they still pass. `cheapest` chooses among several that do."""

    def __init__(
        self,
        graph: Graph,
        neighborhood: Neighborhood,
        scoring: Scoring,
        least: float,
        cheapest: Callable[[Iterable[Candidate]], Candidate | None],
    ):
        self.graph, self.neighborhood, self.scoring, self.least, self.cheapest = (
            graph,
            neighborhood,
            scoring,
            least,
            cheapest,
        )

    def __call__(self, found: Candidate) -> Candidate:
        """What is left when nothing can be undone, exchanged or aligned better."""
        while not self.scoring.spent:
            better = self._undone_or_exchanged(found) or self._realigned(found)
            if better is None:
                break
            found = better
        return found

    def _undone_or_exchanged(self, found: Candidate) -> Candidate | None:
        """The best that passes for less, one change taken back or exchanged; None if there is none."""
        smaller = self.neighborhood.between(found, self._without_a_change(found))
        better = self.cheapest(self._passing(smaller))
        return better or self.cheapest(self._exchanged(found, smaller))

    def _without_a_change(self, found: Candidate) -> Iterator[Sketch]:
        factual, schema = self.neighborhood.factual, self.graph.schema
        return chain(
            undone(self.neighborhood.settings.moves, factual, found.sketch), shrunk(factual, found.sketch, schema)
        )

    def _exchanged(self, found: Candidate, smaller: list[Candidate]) -> list[Candidate]:
        """What passes for less once a change was taken back and another one made."""
        cost = self.neighborhood.settings.cost
        start = [one for one in smaller if cost(one) + self.least < cost(found)]
        return self._passing(self.neighborhood.one_move_from(start, cost(found)))

    def _passing(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        return [one for one in self.scoring.score(list(candidates)) if self.scoring.passes(one)]

    def _realigned(self, found: Candidate) -> Candidate | None:
        """The same graph, its nodes named so that fewer edits lead to it; None if none or no allowed ones do."""
        if found.size < _WORTH_REALIGNING:
            return None
        after = apply_differences(self.graph, [found.difference])
        image = closer_alignment(self.graph.pad(after.num_slots), after, torch.arange(after.num_slots)).tolist()
        slot = {k: i for i, k in self._told_together(image, found.sketch)}
        fresh = [k for k in found.sketch.nodes if k not in slot]
        slot |= {k: -number for number, k in enumerate(fresh, 1)}
        sketch = align(self.neighborhood.factual, renumber(found.sketch, slot), self.graph.schema.max_nodes)
        if sketch is None:
            return None
        again = self.neighborhood.candidate(sketch).with_votes(found.votes)
        if not again.heavy or self.neighborhood.expense(again) >= self.neighborhood.expense(found):
            return None
        stranger = self.neighborhood.is_strange(again) and not self.neighborhood.is_strange(found)
        return again if not stranger and self.neighborhood.allows(again) else None

    def _told_together(self, image: list[int], after: Sketch) -> Iterator[Pair]:
        """The pairs of an alignment, without hydrogens that would become another atom elsewhere, or come of one: fewer
        edits, and nobody would say it so."""
        before, moves = self.neighborhood.factual, self.neighborhood.settings.moves
        heavy, heavy_after = set(moves.heavy(before)), set(moves.heavy(after))
        for i, k in enumerate(image):
            if k >= 0:
                stays = i not in before.nodes or any(image[j] in after.around(k) for j in before.around(i))
                if stays or (i in heavy) == (k in heavy_after):
                    yield i, k
