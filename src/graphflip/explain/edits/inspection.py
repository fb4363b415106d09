"""Inspection: the moves of a round that promise most are made and classified, batch by batch; the others are not."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..moves.drafts import Draft
from .candidates import Candidate
from .estimates import Effects, Features, Row
from .neighborhood import Neighborhood, SearchStage
from .proposals import Proposals
from .scoring import Scoring
from .settings import Costs

# Features of a move that should be seen once before estimates are trusted: its place, and what it brings.
_MAIN = 2

# A batch that brings fewer than `_ENTRANTS` into the best `_BEST` candidates of a round is the last.
_BEST, _ENTRANTS = 8, 1

# Cost by which an estimate may be too high.
_MARGIN = 1.0

# Log-probability above which, and log-odds below which, differences do not count.
_SURE, _FAR = -1e-4, 12.0

# Price that stands for "not to be believed" when prices are learned.
_DEAR = 6.0


class _Options:
    """The moves of a round that may still be made.

    Args:
        pairs: Each move with the state that it starts from.
        features: Numbers of their features.
    """

    def __init__(self, pairs: list[tuple[Candidate, Draft]], features: Features):
        self.pairs = pairs
        self.rows = [features.of(draft, state.sketch) for state, draft in pairs]
        self.matrix = features.matrix(self.rows)
        self.open = np.ones(len(pairs), dtype=bool)
        self.cost: NDArray[np.float64] | None = None
        self.states = list({id(state): state for state, _ in pairs}.values())
        number = {id(state): k for k, state in enumerate(self.states)}
        self.state_of = np.array([number[id(state)] for state, _ in pairs], dtype=np.int64)

    def of_states(self, value: Callable[[Candidate], float]) -> NDArray[np.float64]:
        """A value of the state of each move."""
        return np.array([value(state) for state in self.states])[self.state_of]


class Inspection:
    """Chooses which moves of a round are made and shown to the models.

    What a move does to the classifier's score, to the cost and to the strangeness is estimated from the moves tried
    before it (`Effects`). The first batch has moves at every place, and every group once; the next ones have the moves
    that are expected to rank first, until a batch hardly changes the best candidates any more.

    Args:
        neighborhood: Moves that may be made.
        scoring: Models that are asked.
        propose: Walk that preselects candidates instead of estimates, if there is one.
    """

    def __init__(self, neighborhood: Neighborhood, scoring: Scoring, propose: Proposals):
        self.neighborhood, self.scoring, self.propose = neighborhood, scoring, propose
        self.features = Features()
        self.score, self.cost, self.price = (Effects(self.features) for _ in range(3))
        self.seen: set[int] = set()

    def __call__(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        """The candidates one move from the front that all models were asked about."""
        if not stage.estimated or self.propose.walk is not None:
            every = list(self.neighborhood.one_move_from(front, stage, limit))
            return self.scoring.score(self.propose(every), stage.known)
        return self._inspect(list(front), stage, limit)

    def _inspect(self, front: list[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        pairs = [(state, draft) for state in front for draft in self.neighborhood.drafts(state, stage)]
        options = _Options(pairs, self.features)
        classified: list[Candidate] = []
        row_of: dict[frozenset, tuple[Candidate, Row]] = {}
        order = self._unseen(options)
        exploring, wanted = bool(order), len(order) or self.scoring.limits.look
        order = order or self._by_promise(options, limit)
        while order and not self.scoring.spent:
            fresh = self.scoring.classify(self._make(options, order[: 4 * wanted], wanted, stage, limit, row_of))
            classified += fresh
            for candidate in fresh:
                self._learn(candidate, *row_of[candidate.key()])
            if not exploring and not self._is_news(fresh, classified):
                break
            exploring, wanted = False, self.scoring.limits.look
            order = self._by_promise(options, limit)
        tried = self.scoring.shortlist(classified, stage.known)
        self._learn_prices(row_of)
        return tried

    def _make(
        self,
        options: _Options,
        order: Sequence[int],
        wanted: int,
        stage: SearchStage,
        limit: float,
        row_of: dict[frozenset, tuple[Candidate, Row]],
    ) -> list[Candidate]:
        """Make moves in this order until so many allowed and new candidates are there."""
        made: list[Candidate] = []
        for k in order:
            options.open[k] = False
            state, draft = options.pairs[k]
            self.seen.update(options.rows[k][:_MAIN])
            candidate = self.neighborhood.made(state, draft, stage, limit)
            if candidate is not None and candidate.key() not in row_of:
                row_of[candidate.key()] = state, options.rows[k]
                made.append(candidate)
                if len(made) == wanted:
                    break
        return made

    def _unseen(self, options: _Options) -> list[int]:
        """Few moves that together have every place and every group that was not seen before."""
        main = np.array([row[:_MAIN] for row in options.rows], dtype=np.int64).reshape(-1, _MAIN)
        fresh = np.ones(len(self.features.numbers))
        fresh[list(self.seen)] = 0.0
        chosen: list[int] = []
        for _ in range(len(main)):
            gain = fresh[main].sum(1)
            best = int(gain.argmax())
            if gain[best] < 1.0:
                break
            chosen.append(best)
            fresh[main[best]] = 0.0
        return chosen

    def _by_promise(self, options: _Options, limit: float) -> list[int]:
        """The moves that may still be made and may cost less than the limit, those first that should rank first."""
        scoring, costs = self.scoring, self.scoring.costs
        score = options.of_states(self._linked) + self.score.estimate(options.matrix)
        support = np.minimum(self._unlinked(score), scoring.enough[0])
        if options.cost is None:  # edits and their surroundings are known after one batch well enough
            bare = options.of_states(_cost_of_edits(costs)) + self.cost.estimate(options.matrix)
            options.open &= bare < limit + _MARGIN
            options.cost = bare + options.of_states(_strangeness) + self.price.estimate(options.matrix)
        rank = scoring.thrift * costs.price * options.cost - support
        rank[~options.open] = math.inf
        return np.argsort(rank, kind="stable")[: int(options.open.sum())].tolist()

    def _is_news(self, fresh: list[Candidate], classified: list[Candidate]) -> bool:
        """True if enough of the fresh candidates are among the best of all."""
        best = sorted(classified, key=self.scoring.rank)[:_BEST]
        return sum(any(candidate is each for each in fresh) for candidate in best) >= _ENTRANTS

    def _learn(self, candidate: Candidate, state: Candidate, row: Row) -> None:
        effect = self._linked(candidate) - self._linked(state)
        if math.isfinite(effect):
            self.score.observe(row, effect)
        cost = _cost_of_edits(self.scoring.costs)
        self.cost.observe(row, cost(candidate) - cost(state))

    def _learn_prices(self, row_of: dict[frozenset, tuple[Candidate, Row]]) -> None:
        for key, (state, row) in row_of.items():
            price = self.scoring.prices.get(key)
            if price is not None:
                self.price.observe(row, min(price, _DEAR) - state.strangeness)

    def _linked(self, candidate: Candidate) -> float:
        """The classifier's score on a scale on which effects add up: log-odds, if it is a log-probability."""
        score = candidate.classifier_score
        if self.scoring.goal.unit != "probability":
            return score
        score = min(score, _SURE)
        return max(score - math.log(-math.expm1(score)), -_FAR) if score > -math.inf else -math.inf

    def _unlinked(self, linked: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores on the scale of `Candidate.classifier_score`."""
        return -np.logaddexp(0.0, -linked) if self.scoring.goal.unit == "probability" else linked


def _strangeness(candidate: Candidate) -> float:
    return candidate.strangeness


def _cost_of_edits(costs: Costs) -> Callable[[Candidate], float]:
    """Cost of a candidate without that of its strangeness."""
    return lambda candidate: costs.cost(candidate) - candidate.strangeness
