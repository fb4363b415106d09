"""Scoring: what the classifier and the surrogates say of candidates, and which of them pass."""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from ...errors import BudgetSpent
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ...nn.variations import Variations
from ..goals.batches import mean_outputs
from ..goals.goal import AbstractGoal
from ..moves.apply import Varied, apply_differences
from ..moves.difference import Difference
from .candidates import GRAIN, Candidate, Vote, votes_for
from .memory import Memory
from .realism import AbstractStrangeness
from .settings import Costs, Level, Limits

# Scores of batches of different shapes differ in the last digits: a candidate must pass by more than that.
_MARGIN = 1e-5

# Candidates that are tried in vain, cheapest first, for one that survives being written as SMILES.
_TRIES = 16

# Candidates of a round that are looked at, best first, for each one that is to be believed.
_LOOKS = 5


# Nodes from which on networks are shown lists of what differs from the factual instead of dense tensors.
_LARGE = 64


class Scoring:
    """Asks the models of a search about candidates for one factual.

    Args:
        graph: The factual, a batch of one hard graph.
        goal: The prediction that is wanted.
        classifier: The classifier that is explained.
        surrogates: Models that must agree with it on average; may be empty.
        level: Probabilities of the goal that are enough.
        costs: Costs of candidates.
        limits: Bounds on what the models are shown.
        strangeness: Price of what real graphs seldom have; None if candidates need not look like them.

    `calls` counts the graphs that the classifier saw, the factual included; `spent` is True once it may see no more;
    `thrift` is the share of the price of cost that counts when candidates are ranked; `lenient` is True if candidates
    that need not be believed have a price all the same; `prices` are those of the
    strangeness of every candidate that was looked at; `levels` are the scores that were ever asked for, and those that
    may be accepted instead; `several` is True if more than one answer is wanted.
    """

    def __init__(
        self,
        graph: Graph,
        goal: AbstractGoal,
        classifier: AbstractClassifier,
        surrogates: Sequence[AbstractClassifier],
        level: Level,
        costs: Costs,
        limits: Limits,
        strangeness: AbstractStrangeness | None = None,
    ):
        self.graph, self.goal, self.classifier, self.surrogates = graph, goal, classifier, surrogates
        self.costs, self.limits, self.strangeness = costs, limits, strangeness
        self.calls, self.spent, self.thrift, self.lenient = 1, False, 1.0, False
        self.prices: dict[frozenset, float] = {}
        self.memory = Memory()
        self.first, self.is_first_round = list[Candidate](), True
        self._read_back: dict[frozenset, Candidate | None] = {}
        self.several, self.enough = False, self.scores_of(level)
        self.levels = [self.enough]
        large = graph.num_slots >= _LARGE and graph.schema.chemistry is None
        self._varied = Varied(graph) if large else None
        self._last: tuple[tuple[int, ...], Graph | Variations, list[Difference]] = ((), graph, [])

    def demand(self, level: Level) -> None:
        """Ask for this level from now on."""
        self.enough = self.scores_of(level)

    def scores_of(self, level: Level) -> list[float]:
        """Scores that are enough for a level: of the classifier and, if there are any, of the surrogates."""
        asked = level if self.surrogates else level[:1]
        return [self.goal.enough(least + _MARGIN if least else 0.0) for least in asked]

    def demand_as_much_as(self, candidate: Candidate) -> None:
        """Ask from now on for the scores that a candidate has, up to rounding."""
        self.enough = [score - GRAIN for score in candidate.scores]

    def start(self, factual: Candidate, logits: Float[Tensor, "1 c"]) -> Candidate:
        """The factual with the votes of all models; `logits` are the classifier's outputs."""
        return self._with_surrogates([factual.with_votes(votes_for(logits, self.goal))])[0]

    def score(self, candidates: list[Candidate], known: bool = True) -> list[Candidate]:
        """The candidates with the votes of all models, as many as the classifier may be shown.

        With surrogates, only the shortlist that the classifier ranks first. With `known`, only those that are to be
        believed, with the price of their strangeness.
        """
        return self.shortlist(self.classify(candidates), known)

    def classify(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates with the classifier's votes, the first ones if it may not be shown all.

        A graph that it has seen in this search is not shown again, and is no call.
        Those of the first round, which are one move from the factual, are kept in `first`.
        """
        fresh = self.memory.lacking(candidates, 1)
        shown, classified = fresh[: int(min(self.left, len(fresh)))], list[Candidate]()
        try:
            for chunk in self._chunks(shown):
                classified += self._asked([self.classifier], chunk)
        except BudgetSpent as error:
            rest = shown[len(classified) :][: error.left]
            classified += self._asked([self.classifier], rest) if rest else []
        self.calls += len(classified)
        self.spent = self.spent or len(classified) < len(fresh)
        self.memory.keep(classified)
        recalled = self.memory.recall(candidates, 1)
        self.first += recalled if self.is_first_round else []
        return recalled

    def vote(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates with the votes of all models, as many as the classifier may be shown."""
        classified = self.classify(candidates)
        return self._agreed(classified) if self.surrogates else classified

    def shortlist(self, classified: list[Candidate], known: bool = True) -> list[Candidate]:
        """Those of the candidates with the classifier's votes that the surrogates are asked about, with their votes."""
        return self._with_surrogates(self._believable(classified) if known else classified)

    def priced(self, candidate: Candidate, known: bool = True) -> Candidate | None:
        """The candidate with the price of its strangeness, if with `known` there is one; None if it is not believed."""
        if self.strangeness is None or not (known or self.lenient):
            return candidate
        price = self.prices[candidate.key()] = self.strangeness.price(candidate, lenient=not known)
        return candidate.with_strangeness(price) if price < math.inf else None

    def in_order(
        self,
        candidates: Iterable[Candidate],
        key: Callable[[Candidate], tuple[float, ...]],
        known: bool = True,
        least: Mapping[frozenset, float] = MappingProxyType({}),
    ) -> Iterator[Candidate]:
        """Candidates that are to be believed, with their prices, in the order of a key.

        The key may only grow with a price: so prices, which take most of the time, are looked up as late as possible,
        by the `least` that candidates are expected to have (0 where nothing is).
        """
        at_least = least.get if self.strangeness is not None and known else lambda _, default: default
        heap = [
            (key(each.with_strangeness(at_least(each.key(), 0.0))), k, False, each) for k, each in enumerate(candidates)
        ]
        heapq.heapify(heap)
        while heap:
            _, k, is_priced, candidate = heapq.heappop(heap)
            if is_priced:
                yield candidate
                continue
            priced = self.priced(candidate, known)
            if priced is not None:
                heapq.heappush(heap, (key(priced), k, True, priced))

    def confirm(self, candidate: Candidate) -> Candidate:
        """The candidate with the votes on the very graph that is returned, with ample slots."""
        whole = self.graph.ample()
        return self._judged(candidate, apply_differences(whole, [candidate.difference]))

    def passes(self, candidate: Candidate, slack: float = 0.0, enough: Sequence[float] | None = None) -> bool:
        """True if all models say enough, by default what is asked; `slack` tolerates so many rounding errors."""
        enough = self.enough if enough is None else enough
        pairs = zip(candidate.votes, enough, strict=False)
        says_enough = all(vote.score >= least - slack * _MARGIN for vote, least in pairs)
        return candidate.predicted and says_enough and len(candidate.votes) == len(enough)

    def cheapest(self, candidates: Iterable[Candidate], tries: int = _TRIES) -> Candidate | None:
        """The cheapest candidate that passes, also when read back from SMILES, among the first `tries` that pass."""
        return next(filter(self.survives_smiles, self.passing(candidates)[:tries]), None)

    def passing(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The candidates that pass, cheapest first; at the same cost, the more believable first."""
        passing = [candidate for candidate in candidates if self.passes(candidate)]
        return sorted(passing, key=lambda candidate: (self.costs.key(candidate), -candidate.belief))

    def survives_smiles(self, candidate: Candidate) -> bool:
        """True if a molecule still passes when it is written as SMILES and read back.

        A SMILES does not say where the double bonds of an aromatic ring are, and models may see nothing else. Graphs
        that are no molecules survive, and all do once the classifier may not be asked any more.
        """
        if self.spent or self.graph.schema.chemistry is None:
            return True
        key = candidate.key()
        if key not in self._read_back:
            self._read_back[key] = self._read_from_smiles(candidate)
        again = self._read_back[key]
        return again is not None and self.passes(again)

    def support(self, candidate: Candidate) -> float:
        """Mean of the scores by the classifier and by the surrogates, each counted up to what is asked."""
        pairs = zip(candidate.scores, self.enough, strict=False)
        return sum(min(score, enough) for score, enough in pairs) / max(len(candidate.scores), 1)

    def rank(self, candidate: Candidate) -> tuple[float, float]:
        """Sort key of the beam: price * cost - support; then the classifier's score, highest first."""
        price = self.thrift * self.costs.price * self.costs.cost(candidate)
        return price - self.support(candidate), -candidate.classifier_score

    def _read_from_smiles(self, candidate: Candidate) -> Candidate | None:
        from ...data.molecules.molecule import round_trip

        again = round_trip(apply_differences(self.graph, [candidate.difference]), kekule=False)
        return None if again is None else self._judged(candidate, again)

    def _judged(self, candidate: Candidate, graph: Graph) -> Candidate:
        """The candidate with the votes on a graph that stands for it; unchanged if the classifier may not be asked."""
        if self.left >= 1:
            with suppress(BudgetSpent):
                votes = [self._votes(models, graph)[0] for models in ([self.classifier], self.surrogates) if models]
                self.calls += 1
                return candidate.with_votes(votes)
        self.spent = True
        return candidate

    @property
    def left(self) -> float:
        """Number of graphs that the classifier may still be shown."""
        return math.inf if self.limits.max_calls is None else float(self.limits.max_calls - self.calls)

    def _believable(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates that are to be believed, best first, up to a shortlist; all if nothing is priced."""
        if self.strangeness is None:
            return candidates
        chosen: list[Candidate] = []
        for candidate in sorted(candidates, key=self.rank)[: _LOOKS * self.limits.shortlist]:
            priced = self.priced(candidate)
            chosen += [] if priced is None else [priced]
            if len(chosen) == self.limits.shortlist:
                break
        return chosen

    def _with_surrogates(self, candidates: list[Candidate]) -> list[Candidate]:
        """The shortlist of classified candidates with the votes of the surrogates; all of them if there are none."""
        if not self.surrogates:
            return candidates
        return self._agreed(sorted(candidates, key=self.rank)[: self.limits.shortlist])

    def _agreed(self, classified: list[Candidate]) -> list[Candidate]:
        """Candidates with the classifier's votes, now with those of the surrogates as well."""
        for chunk in self._chunks(self.memory.lacking(classified, 2)):
            self.memory.keep(self._asked(self.surrogates, chunk))
        return self.memory.recall(classified, 2)

    def _chunks(self, candidates: list[Candidate]) -> Iterator[list[Candidate]]:
        for start in range(0, len(candidates), self.limits.batch_size):
            yield candidates[start : start + self.limits.batch_size]

    def _asked(self, models: Sequence[AbstractClassifier], candidates: list[Candidate]) -> list[Candidate]:
        """The candidates with one more vote, the mean of these models."""
        votes = self._votes(models, self._shown([each.difference for each in candidates]))
        return [each.with_votes([*each.votes, vote]) for each, vote in zip(candidates, votes, strict=True)]

    def _shown(self, differences: list[Difference]) -> Graph | Variations:
        """The graphs that differ from the factual as given, as models are shown them: lists, if they are large."""
        asked = tuple(map(id, differences))
        if self._last[0] != asked:  # surrogates are asked about what the classifier was asked about
            shown = apply_differences(self.graph, differences) if self._varied is None else self._varied.of(differences)
            self._last = asked, shown, differences
        return self._last[1]

    @torch.no_grad()
    def _votes(self, models: Sequence[AbstractClassifier], shown: Graph | Variations) -> list[Vote]:
        """The mean vote of some models on each graph of a batch."""
        if isinstance(shown, Variations):
            outputs = [model.of_variations(shown) for model in models]
        else:
            outputs = [model(shown) for model in models]
        return votes_for(mean_outputs(torch.stack(outputs)), self.goal)
