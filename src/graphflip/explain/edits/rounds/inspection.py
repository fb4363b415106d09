"""Inspection: the moves of a round that promise most are made and shown to the models; the others are not."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...moves.draft import family_of
from ..candidates import DECIMALS, Candidate
from ..experience.estimates import Effects, Features
from ..experience.options import Options
from ..experience.table import Experience
from ..neighborhood import Neighborhood, SearchStage
from ..scoring import Scoring
from ..settings import Costs
from ..slopes.guide import Listed, Slopes
from .cheapest import CheapestFirst
from .proposals import Proposals

# Features of a move that should be seen once before estimates are trusted: its place, and what it brings.
_MAIN = 2

# Candidates of a round whose order must not change any more: more batches follow while it does.
_BEST = 2

# Cost, and price of strangeness, by which an estimate may be too high.
_MARGIN, _MARGIN_OF_PRICE = 1.0, 2.0

# Log-odds by which the estimate of a score may be too low.
_DOUBT = 1.5

# Log-probability above which, and log-odds below which, differences do not count.
_SURE, _FAR, _FAR_OF_SLOPES = -1e-4, 12.0, 80.0

# Candidates at a time where a search makes all moves that are not too many.
_LOOK = 128

# Gradients say so much about moves, and a black box is so dear to ask, that batches are so many times smaller.
_SPARING = 2

# Price that stands for "not to be believed" when prices are learned.
_DEAR = 16.0


class Inspection:
    """Chooses which moves of a round are made and shown to the models.

    What a move does to the scores, to the cost and to the strangeness is estimated: by experience from training graphs,
    if there is any, corrected by what the moves tried before it did (`Effects`). Without experience the first batch has
    moves at every place, and every group once. Then come the moves that are expected to rank first, batch by batch,
    until a batch does not change the best candidates any more.

    Args:
        neighborhood: Moves that may be made.
        scoring: Models that are asked.
        propose: Walk that preselects candidates instead of estimates, if there is one.
        experience: What moves have done to training graphs.
    """

    def __init__(
        self, neighborhood: Neighborhood, scoring: Scoring, propose: Proposals, experience: Experience | None = None
    ):
        self.neighborhood, self.scoring, self.propose, self.experience = neighborhood, scoring, propose, experience
        self.cheapest_first = CheapestFirst(neighborhood, scoring)
        self.slopes = Slopes(neighborhood, scoring, patient=experience is not None)
        self.features, self.seen = Features(), set[int]()
        self.least: dict[frozenset, float] = {}
        trusted = experience is not None or self.slopes.useful
        self.scores = Effects(self.features, 2, centered=not trusted)
        self.costs = Effects(self.features, 1, centered=not trusted)
        self.prices = Effects(self.features, 1, centered=not trusted)

    def __call__(self, front: Iterable[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        """The candidates one move from the front that all models were asked about."""
        if not stage.estimated and self.propose.walk is None and self.cheapest_first.decides:
            return self._cheapest_and_promising(list(front), stage, limit)
        if not stage.estimated or self.propose.walk is not None:
            every = list(self.neighborhood.one_move_from(front, stage, limit))
            return self.scoring.score(self.propose(every), stage.known)
        return self._inspect(list(front), stage, limit)

    def _cheapest_and_promising(self, front: list[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        """Candidates by the cheapest moves and, where these are not all that may win, by those that promise most."""
        cheap, is_complete = self.cheapest_first(front, stage, limit)
        if is_complete:
            return cheap
        found = {candidate.key(): candidate for candidate in (*cheap, *self._inspect(front, stage, limit))}
        return list(found.values())

    def _inspect(self, front: list[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        voted = self._explored(front, stage, limit)
        options = self._options(front, stage)
        known = {candidate.key() for candidate in voted}
        order = [] if options.expected is not None else self._unseen(options)
        guided = self.slopes.useful and self.experience is None
        spare = guided or not self.scoring.classifier.has_gradients
        look = stage.looks * (self.scoring.limits.look or _LOOK) // (_SPARING if spare else 1)
        exploring, wanted = bool(order), len(order) or look
        promise = self._promise(options, stage, limit)
        order = order or promise()
        best: list[frozenset] = []
        while order and not self.scoring.spent:
            guesses = self._strangeness(options)
            made = self._make(options, order[: 4 * wanted], wanted, stage, limit)
            fresh = self.scoring.vote([candidate for candidate in made if candidate.key() not in known])
            voted += fresh
            for candidate in fresh:
                self._learn(options, candidate)
                self.least[candidate.key()] = max(guesses[options.made[candidate.key()]] - _MARGIN_OF_PRICE, 0.0)
            before, best = best, self._leaders(voted, stage, limit)
            self._learn_prices(options)
            if not exploring and best == before and (best or limit < math.inf):
                break
            exploring, wanted = False, look
            order = promise()
            if options.promises and self._is_settled(options, voted):
                break
        return self._believed(voted, stage)

    def _is_settled(self, options: Options, voted: list[Candidate]) -> bool:
        """True if no other move promises to rank before the best candidate."""
        return min((self.scoring.rank(candidate)[0] for candidate in voted), default=math.inf) <= options.lowest

    def _options(self, front: list[Candidate], stage: SearchStage) -> Options:
        promising = self.slopes.listed(front, stage)
        if promising is not None:
            return self._promised(front, promising)
        families = [self.neighborhood.families(state, stage) for state in front]
        expected = None
        if self.experience is not None:
            pairs = zip(front, families, strict=True)
            said = [self.experience.expected(state.sketch, some, self.scoring.goal) for state, some in pairs]
            expected = [each for each in said if each is not None]
            expected = expected if len(expected) == len(front) and expected else None
        return Options(front, families, self.features, expected)

    def _promised(self, front: list[Candidate], listed: Sequence[Listed]) -> Options:
        families, expected = [list(map(family_of, one.drafts)) for one in listed], [one.expected for one in listed]
        return Options(front, families, self.features, expected, [each for one in listed for each in one.promises])

    def _explored(self, front: list[Candidate], stage: SearchStage, limit: float) -> list[Candidate]:
        """Candidates by which slopes are tried before they are trusted; none if there are no slopes, or later."""
        listed = self.slopes.exploring(front, stage)
        if not listed:
            return []
        options = self._promised(front[:1], listed)
        voted = self.scoring.vote(self._make(options, range(len(options.rows)), len(options.rows), stage, limit))
        for candidate in voted:
            self._learn(options, candidate)
        return voted

    def _make(
        self, options: Options, order: Sequence[int], wanted: int, stage: SearchStage, limit: float
    ) -> list[Candidate]:
        """Make moves in this order until so many allowed and new candidates are there."""
        made: list[Candidate] = []
        for k in order:
            options.open[k] = False
            state, draft = options.move(k)
            self.seen.update(options.rows[k, :_MAIN].tolist())
            candidate = self.neighborhood.made(state, draft, stage, limit)
            if candidate is None:
                self._learn_price(options, k, _DEAR)
            elif candidate.key() not in options.made:
                options.made[candidate.key()] = k
                made.append(candidate)
                if len(made) == wanted:
                    break
        return made

    def _unseen(self, options: Options) -> list[int]:
        """Few moves that together have every place and every group that was not seen before."""
        main = options.rows[:, :_MAIN]
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

    def _promise(self, options: Options, stage: SearchStage, limit: float) -> Callable[[], list[int]]:
        """A function that lists the moves that may still be made, those first that should rank first."""
        scoring, costs, expected = self.scoring, self.scoring.costs, options.expected
        priced = scoring.strangeness is not None and (stage.known or stage.lenient)
        levels = [
            options.of_states(lambda state, m=m: self._linked(state.scores[m])) for m in range(len(scoring.enough))
        ]
        spent = options.of_states(costs.cost)
        if expected is not None:
            for level, rise in zip(levels, (expected.score, expected.agreement), strict=False):
                level += rise
            spent += costs.edit_price * (expected.edits + costs.hydrogen_price * expected.hydrogens)
            spent += costs.site_price * expected.sites

        def in_order() -> list[int]:
            more = self.scores.estimate(options.rows)
            pairs = zip(levels, more.T, scoring.enough, strict=False)
            support, may_pass = np.zeros(len(more)), np.ones(len(more), dtype=bool)
            for level, rise, enough in pairs:
                support += np.minimum(self._unlinked(level + rise), enough)
                may_pass &= self._unlinked(level + rise + _DOUBT) >= enough
            cost = spent + self.costs.estimate(options.rows)[:, 0]
            options.open &= cost - options.of_states(_strangeness) < limit + _MARGIN
            if priced:
                cost = cost - options.of_states(_strangeness) + self._strangeness(options)
            if limit < math.inf and scoring.limits.patience == 1:  # only a cheaper one that passes is of any use now
                options.open &= may_pass & (cost < limit + _MARGIN_OF_PRICE)
            rank = (scoring.thrift * costs.price * cost - support / len(levels)).round(DECIMALS)
            rank[~options.open] = math.inf
            options.lowest = float(rank.min(initial=math.inf))
            return np.argsort(rank, kind="stable")[: int(options.open.sum())].tolist()

        return in_order

    def _strangeness(self, options: Options) -> NDArray[np.float64]:
        """Strangeness that candidates are expected to have."""
        known = np.zeros(len(options.rows)) if options.expected is None else options.expected.strangeness
        return np.maximum(options.of_states(_strangeness), 0.0) + known + self.prices.estimate(options.rows)[:, 0]

    def _first(self, voted: list[Candidate], count: int, stage: SearchStage) -> list[Candidate]:
        """The candidates that rank first, with their prices."""
        return list(islice(self.scoring.in_order(voted, self.scoring.rank, stage.known, self.least), count))

    def _leaders(self, voted: list[Candidate], stage: SearchStage, limit: float) -> list[frozenset]:
        """Keys of the best candidates: by rank or, once there is an answer that costs `limit`, the cheapest one that
        takes its place."""
        if limit == math.inf:
            return [candidate.key() for candidate in self._first(voted, _BEST, stage)]
        scoring = self.scoring
        passing = filter(scoring.passes, voted)
        cheapest = islice(scoring.in_order(passing, scoring.costs.key, stage.known, self.least), 1)
        return [candidate.key() for candidate in cheapest if scoring.costs.cost(candidate) < limit]

    def _believed(self, voted: list[Candidate], stage: SearchStage) -> list[Candidate]:
        """The candidates that the search may go on from, or answer with: the first ones by rank, and the cheapest that
        meet a level. Others are not priced."""
        scoring = self.scoring
        breadth = scoring.limits.shortlist if scoring.several else max(2 * stage.beam, _BEST)
        chosen = {candidate.key(): candidate for candidate in self._first(voted, breadth, stage)}
        for enough in scoring.levels:
            passing = [candidate for candidate in voted if scoring.passes(candidate, enough=enough)]
            cheapest = islice(scoring.in_order(passing, scoring.costs.key, stage.known, self.least), breadth)
            chosen |= {candidate.key(): candidate for candidate in cheapest}
        return list(chosen.values())

    def _learn(self, options: Options, candidate: Candidate) -> None:
        """Learn by how much the estimates of a move were wrong."""
        k, costs, expected = options.made[candidate.key()], self.scoring.costs, options.expected
        state = options.state(k)
        rises = [self._linked(now) - self._linked(was) for now, was in zip(candidate.scores, state.scores, strict=True)]
        cost = _bare(costs, candidate) - _bare(costs, state)
        if options.promises and all(map(math.isfinite, rises)):
            self.slopes.observe(options.promises[k], rises)
        if expected is not None:
            guesses = expected.score[k], expected.agreement[k]
            rises = [rise - guess for rise, guess in zip(rises, guesses, strict=False)]
            cost -= costs.edit_price * (expected.edits[k] + costs.hydrogen_price * expected.hydrogens[k])
            cost -= costs.site_price * expected.sites[k]
        if all(map(math.isfinite, rises)):
            self.scores.observe(options.rows[k], rises[0], rises[-1])
        self.costs.observe(options.rows[k], cost)

    def _learn_prices(self, options: Options) -> None:
        """Learn the prices of candidates that were looked up since the last time."""
        for key, k in options.made.items():  # in the order of the moves: sums of numbers depend on their order
            if key in self.scoring.prices and key not in options.priced:
                options.priced.add(key)
                self._learn_price(options, k, self.scoring.prices[key])

    def _learn_price(self, options: Options, k: int, price: float) -> None:
        guess = 0.0 if options.expected is None else float(options.expected.strangeness[k])
        self.prices.observe(options.rows[k], min(price, _DEAR) - options.state(k).strangeness - guess)

    def _linked(self, score: float) -> float:
        """A score on a scale on which effects add up: log-odds, if it is a log-probability."""
        if self.scoring.goal.unit != "probability":
            return score
        score = min(score, _SURE)
        far = _FAR_OF_SLOPES if self.slopes.useful else _FAR  # a gradient knows the way from afar
        return max(score - math.log(-math.expm1(score)), -far) if score > -math.inf else -math.inf

    def _unlinked(self, linked: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores on the scale of `Candidate.classifier_score`."""
        return -np.logaddexp(0.0, -linked) if self.scoring.goal.unit == "probability" else linked


def _strangeness(candidate: Candidate) -> float:
    return candidate.strangeness


def _bare(costs: Costs, candidate: Candidate) -> float:
    """Cost of a candidate without that of its strangeness."""
    return costs.cost(candidate) - candidate.strangeness
