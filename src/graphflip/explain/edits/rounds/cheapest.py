"""CheapestFirst: a round of a search in which cost alone decides, without the moves that are too dear to win."""

import math
from collections.abc import Iterable
from operator import itemgetter

from ..candidates import Candidate
from ..neighborhood import Neighborhood, SearchStage
from ..scoring import Scoring

# Candidates that the classifier is shown at a time, at least, while moves that cost as little are left.
_AT_ONCE = 32


class CheapestFirst:
    """Makes the moves of a round in the order of what they cost at least, up to the cost of the first that passes.

    The answer is that of a round in which every move is made: what is left out costs more than a candidate that passes.

    Args:
        neighborhood: Moves that may be made.
        scoring: The classifier.

    `slack` is the cost above that of the first candidate up to which others are wanted, too.
    """

    def __init__(self, neighborhood: Neighborhood, scoring: Scoring):
        self.neighborhood, self.scoring, self.slack = neighborhood, scoring, 0.0

    @property
    def decides(self) -> bool:
        """True if the cheapest change that convinces the classifier is wanted, and nothing else counts."""
        return not self.scoring.surrogates and self.scoring.strangeness is None

    def __call__(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        """Classified candidates one move from the front that cost less than the limit, in the order of the moves."""
        moves = self.neighborhood.by_least_cost(front, stage, limit)
        tried: list[tuple[int, Candidate]] = []
        known: set[frozenset] = set()
        at, ceiling = 0, math.inf
        while at < len(moves) and moves[at].least <= ceiling and not self.scoring.spent:
            fresh: list[tuple[int, Candidate]] = []
            while at < len(moves) and (len(fresh) < _AT_ONCE or moves[at].least == moves[at - 1].least):
                move = moves[at]
                if move.least > ceiling:
                    break
                at += 1
                candidate = self.neighborhood.made(move.state, move.family.draft(move.choice), stage, limit)
                if candidate is not None and candidate.key() not in known:
                    known.add(candidate.key())
                    fresh.append((move.number, candidate))
            scored = self.scoring.classify([candidate for _, candidate in fresh])
            tried += [(number, each) for (number, _), each in zip(fresh, scored, strict=False)]
            best = self.scoring.cheapest(each for _, each in tried)
            ceiling = math.inf if best is None else self.neighborhood.costs.cost(best) + self.slack
        return [candidate for _, candidate in sorted(tried, key=itemgetter(0))]
