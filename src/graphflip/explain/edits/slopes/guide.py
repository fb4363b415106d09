"""Slopes: the moves of a round that promise most by the models' gradients, with what they are expected to do."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....models.networks.classifier import AbstractClassifier
from ...moves.apply import apply_differences
from ...moves.draft import Draft
from ..candidates import DECIMALS, Candidate
from ..experience.table import ExpectedEffects
from ..neighborhood import Neighborhood, SearchStage
from ..scoring import Scoring
from .admission import Admission
from .bundles import SIZES, bundles
from .gradients import Gradient, gradients
from .ground import Ground
from .listing import Choices, Listing, Promise, Rank, Sort
from .residuals import Codes, Residuals

# Moves of each kind that are listed for a state.
_MOST = 48

# Trials of each sort of move before the search begins: by default, and for kits with experience, whose levels were
# chosen for so many (NCI1: with two, answers are a little larger).
_TRIALS, _MORE_TRIALS = 2, 3

# Sorts of moves that are tried: those that promise most, and some of the others, in which gradients may be wrong.
_SORTS, _OTHERS = 24, 8

# Log-probability above which, and log-odds below which, differences do not count.
_SURE, _FAR = -1e-4, 80.0


class Listed(NamedTuple):
    """Moves of a state that are worth a look, and what they are expected to do."""

    promises: list[Promise]
    expected: ExpectedEffects

    @property
    def drafts(self) -> list[Draft]:
        """The moves alone."""
        return [promise.draft for promise in self.promises]


class Slopes:
    """Lists the promising moves of graphs that are no molecules, by one backward pass for all states of a round.

    A model without gradients is represented by the others; where none has any, nothing can be listed. By how much
    gradients are wrong about each sort of move is learned from the moves that are tried.

    Args:
        neighborhood: Moves that may be made.
        scoring: Models that are asked, and what is asked of them.
        patient: True if one more of each sort of move is tried before slopes are trusted.
    """

    def __init__(self, neighborhood: Neighborhood, scoring: Scoring, patient: bool = False):
        self.neighborhood, self.scoring = neighborhood, scoring
        self.trials = _MORE_TRIALS if patient else _TRIALS
        self.known: dict[frozenset, list[Gradient]] = {}
        self.listings: dict[tuple[frozenset, bool], Listing] = {}
        self.residuals, self.explored = Residuals(len(scoring.enough)), False
        self.admissions = {known: Admission(neighborhood, known) for known in (True, False)}
        models = (scoring.classifier, *scoring.surrogates)
        self.useful = neighborhood.schema.chemistry is None and any(model.has_gradients for model in models)

    def exploring(self, front: Sequence[Candidate], stage: SearchStage) -> list[Listed]:
        """Moves of the first state that are made whatever they promise.

        When this is called for the first time, a few of every sort, or of the most promising ones if graphs have many
        attributes; later, where single changes were not enough,
        bundles of the most promising ones.
        """
        if not self._has_slopes(front):
            return []
        kinds = self._listing(front[0], stage).kinds(1, 0.0)
        if self.explored:
            promises = self._bundled(front[0], list(kinds))
        else:
            sorts = chosen_sorts([sort for kind in kinds for sort in kind.sorts()])
            promises = [promise for sort in sorts for promise in sort.spread(self.trials)]
        self.explored = True
        return [Listed(promises, self._expected(promises))] if promises else []

    def _bundled(self, state: Candidate, kinds: Sequence[Choices]) -> list[Promise]:
        """Bundles of the changes that rank first; single ones must have been too little."""
        rank, most = self._rank(state), 2 * SIZES[-1]
        single = [promise for kind in kinds for promise in kind.best(rank, most)]
        rises, edits, codes = (np.array([getattr(one, of) for one in single]) for of in ("rises", "edits", "codes"))
        order = np.argsort(rank(rises, edits, codes), kind="stable") if single else ()
        return bundles(state.sketch, [single[k] for k in order], self.residuals.number)

    def listed(self, front: Sequence[Candidate], stage: SearchStage) -> list[Listed] | None:
        """The moves of each state that should rank first; None if no model has gradients."""
        return [self._listed(state, stage) for state in front] if self._has_slopes(front) else None

    def observe(self, promise: Promise, rises: Sequence[float]) -> None:
        """Learn what a move did."""
        self.residuals.observe(promise.codes, np.array(rises) - promise.rises)

    def _has_slopes(self, front: Sequence[Candidate]) -> bool:
        """True if the gradients at all states are known, after they were computed where they were not."""
        if not self.useful:
            return False
        fresh = [state for state in front if state.key() not in self.known]
        self.useful = not fresh or self._learn(fresh)
        return self.useful

    def _learn(self, states: list[Candidate]) -> bool:
        """Keep the gradients at some states; False if there are none."""
        scoring = self.scoring
        graphs = apply_differences(scoring.graph, [state.difference for state in states])
        may_ask = scoring.left > len(states)
        sides: list[Sequence[AbstractClassifier]] = [[scoring.classifier] if may_ask else [], scoring.surrogates]
        found = [gradients(models, graphs, scoring.goal) if models else None for models in sides]
        scoring.calls += len(states) if found[0] is not None else 0
        there = [each for each in found if each is not None]
        if not there:
            return False
        chosen = [(each or there[0]) for each in found[: len(scoring.enough)]]
        for state, *slopes in zip(states, *chosen, strict=True):
            self.known[state.key()] = slopes
        return True

    def _listing(self, state: Candidate, stage: SearchStage) -> Listing:
        """The listing of a state, kept: stages begin at the same states again."""
        key = state.key(), stage.known
        if key not in self.listings:
            self.listings[key] = Listing(self._ground(state, stage))
        return self.listings[key]

    def _ground(self, state: Candidate, stage: SearchStage) -> Ground:
        around = self.neighborhood
        return Ground(
            around.moves,
            around.factual,
            state.sketch,
            self.known[state.key()],
            self.residuals.number,
            self.admissions[stage.known].at(state.sketch),
        )

    def _listed(self, state: Candidate, stage: SearchStage) -> Listed:
        rank = self._rank(state)
        kinds = self._listing(state, stage).kinds(stage.largest, stage.branches)
        promises = [promise for kind in kinds for promise in kind.best(rank, _MOST)]
        return Listed(promises, self._expected(promises))

    def _rank(self, state: Candidate) -> Rank:
        """Rank of moves of a state, as the search will rank the candidates that they lead to."""
        scoring, goal = self.scoring, self.scoring.goal
        levels = np.array([_linked(score) if goal.unit == "probability" else score for score in state.scores])
        price = scoring.thrift * scoring.costs.price * scoring.costs.edit_price

        def rank(rises: NDArray[np.float64], edits: NDArray[np.float64], codes: Codes) -> NDArray[np.float64]:
            rises = rises + self.residuals.expected(codes)
            scores = levels + rises
            scores = -np.logaddexp(0.0, -scores) if goal.unit == "probability" else scores
            support = np.minimum(scores, np.array(scoring.enough)).mean(1)
            # Where nothing is missing any more, the steepest comes first all the same.
            return (price * edits - support - 1e-3 * rises.mean(1)).round(DECIMALS)

        return rank

    def _expected(self, promises: Sequence[Promise]) -> ExpectedEffects:
        count, nothing = len(promises), np.zeros(len(promises))
        if not promises:
            return ExpectedEffects(*[nothing] * len(ExpectedEffects._fields))
        rises = np.stack([one.rises for one in promises])
        rises = rises + self.residuals.expected(np.stack([one.codes for one in promises]))
        edits = np.fromiter((one.edits for one in promises), dtype=np.float64, count=count)
        return ExpectedEffects(rises[:, 0].copy(), rises[:, -1].copy(), edits, nothing, nothing, nothing)


def chosen_sorts(sorts: Sequence[Sort]) -> list[Sort]:
    """The sorts of moves to try: all, or if there are many, the most promising ones and an even choice of the rest."""
    if len(sorts) <= _SORTS + _OTHERS:
        return list(sorts)
    ordered = sorted(sorts, key=lambda sort: -sort.promise)
    rest = ordered[_SORTS:]
    return ordered[:_SORTS] + [rest[k * len(rest) // _OTHERS] for k in range(_OTHERS)]


def _linked(score: float) -> float:
    """Log-odds of a log-probability."""
    score = min(score, _SURE)
    return max(score - math.log(-math.expm1(score)), -_FAR) if score > -math.inf else -_FAR
