"""CheapestFirst: a round of a search in which cost alone decides, without the moves that are too dear to win."""

import math
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from ..candidates import Candidate
from ..neighborhood import Neighborhood, SearchStage
from ..scoring import Scoring

# Candidates that the classifier is shown at a time, at least, while moves that cost as little are left.
_AT_ONCE = 32

# Moves that are made of a round after the first one, while none leads to a candidate that passes.
_MOST = 500


class Cheapest(NamedTuple):
    """Classified candidates, and whether they are all that count: every other move costs more than one that passes."""

    candidates: list[Candidate]
    is_complete: bool


class CheapestFirst:
    """Makes the moves of a round in the order of what they cost at least, up to the cost of the first that passes.

    Every single move of the factual is made, unless it costs more than one that passes. In later rounds, which may have
    tens of thousands of moves, the cheapest ones are; all of them in a stage that is complete.

    Args:
        neighborhood: Moves that may be made.
        scoring: The classifier.

    `slack` is the cost above that of the first candidate up to which others are wanted, too; `left_out` is True once
    there were too many moves to make them all.
    """

    def __init__(self, neighborhood: Neighborhood, scoring: Scoring):
        self.neighborhood, self.scoring, self.slack, self.left_out = neighborhood, scoring, 0.0, False

    @property
    def decides(self) -> bool:
        """True if the cheapest change that convinces the classifier is wanted, and nothing else counts."""
        return not self.scoring.surrogates and self.scoring.strangeness is None

    def __call__(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> Cheapest:
        """The candidates one move from the front that cost less than the limit, in the order of the moves."""
        front = list(front)
        moves = self.neighborhood.by_least_cost(front, stage, limit)
        many = any(state.size for state in front) and not stage.complete
        most = min(_MOST, len(moves)) if many else len(moves)
        tried: list[tuple[int, Candidate]] = []
        known: set[frozenset] = set()
        at, ceiling = 0, math.inf
        while at < most and moves[at].least <= ceiling and not self.scoring.spent:
            fresh: list[tuple[int, Candidate]] = []
            while at < most and (len(fresh) < _AT_ONCE or moves[at].least == moves[at - 1].least):
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
        is_complete = self.scoring.spent or at == len(moves) or moves[at].least > ceiling
        self.left_out = self.left_out or not is_complete
        return Cheapest([candidate for _, candidate in sorted(tried, key=itemgetter(0))], is_complete)
