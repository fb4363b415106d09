"""BeamSearch: the search of EditSearch for one graph."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from ...graph import Graph
from ..counterfactual import Outcome
from ..goals.goal import AbstractGoal
from ..latent.saliency import Saliency
from ..moves.apply import apply_differences
from ..moves.attributes import STEPS, has_continuous
from .candidates import Candidate, choose_different, choose_frontier
from .minimize import Minimizer
from .neighborhood import Neighborhood
from .scoring import Scoring, first_score

if TYPE_CHECKING:
    from .search import EditSearch

# Several answers are chosen among those that cost at most so much more than the cheapest, this many for each.
_SLACK, _POOL = 6.0, 24

# So many answers are looked at for one that survives being written as SMILES, in a round and in the end.
_TRIES, _TRIES_IN_THE_END = 16, 64


@dataclass(frozen=True)
class Round:
    """How far a search has come: rounds done, rounds at most, graphs classified, the best probability of the target, or
    the value that comes closest."""

    turn: int
    max_turns: int
    calls: int
    probability: float


@dataclass(frozen=True)
class Finding:
    """What was found and how the search ended; `one_minimal` if it was checked that nothing can be undone."""

    candidate: Candidate
    outcome: Outcome
    one_minimal: bool | None = None


class BeamSearch:
    """The state of a search for one graph."""

    def __init__(self, settings: "EditSearch", graph: Graph, goal: AbstractGoal, logits: Float[Tensor, "1 c"]):
        self.settings, self.goal = settings, goal
        self.neighborhood = Neighborhood(settings, graph)
        used = max(self.neighborhood.factual.nodes, default=0) + 1
        self.graph = Graph.trusted(
            graph.B[:, :used], graph.V[:, :used], graph.A[:, :used, :used], graph.E[:, :used, :used], graph.schema
        )
        self.scoring = Scoring(settings, self.graph, goal)
        self.conceded = False
        self.least = min((1.0, *STEPS)) if has_continuous(graph.schema) else 1.0  # what one more change costs at least
        self.minimize = Minimizer(self.graph, self.neighborhood, self.scoring, self.least, self._cheapest)
        self.turn = 0
        self.trace: list[float] = []
        self.root = self.scoring.start(self.neighborhood.candidate(self.neighborhood.factual), logits)
        self.likeliest = self.root

    def run(self, num: int = 1) -> list[Finding]:
        """Up to `num` answers, or the frontier; what comes closest if nothing passes."""
        frontier = self.settings.frontier
        slack = math.inf if frontier else _SLACK if num > 1 else 0.0
        flipped, best, closest = [], None, self.root
        for stage in self.neighborhood.stages():
            self.neighborhood.stage = stage
            met, nearest = self._hunt(slack)
            flipped, closest = flipped + met, max(closest, nearest, key=self._nearness)
            best = self._cheapest((one for one in met if self.scoring.passes(one)), _TRIES_IN_THE_END)
            # What comes after all groups were tried is for finding any flip at all.
            if best or self.scoring.spent or (flipped and stage.largest is None):
                break
        if frontier:
            return self._frontier(flipped) or [self._failed(closest)]
        best = best or self._second_best(flipped)
        if best is None:
            return [self._failed(closest)]
        best = self.minimize(best)
        if num == 1:
            return [self._confirmed(best)]
        # Graphs that are the same in another order are one answer.
        passing = sorted((one for one in flipped if self.scoring.passes(one)), key=self._rank_found)
        pool = _distinct(passing[: num * _POOL])
        refined = [self.minimize(one) for one in choose_different([best, *pool], 2 * num, self.settings.cost)[1:]]
        refined = [one for one in refined if self._lasts(one)]
        return [self._confirmed(one) for one in choose_different(_distinct([best, *refined]), num, self.settings.cost)]

    def _frontier(self, flipped: list[Candidate]) -> list[Finding]:
        """From the smallest change to the most believable one, each polished for as long as it is believed as much."""
        polished = []
        for one in choose_frontier(flipped, self.settings.cost):
            self.scoring.hold(one)
            polished.append(self.minimize(one))
        findings = []
        for one in choose_frontier(polished, self.settings.cost):
            self.scoring.hold(one)
            findings.append(self._confirmed(one))
        return findings

    def _second_best(self, flipped: list[Candidate]) -> Candidate | None:
        """The cheapest that meets what will do; of those that meet all but are lost as SMILES if there is none."""
        asked, *lower = self.settings.levels()
        for level in lower:
            self.scoring.ask_for(*level)
            best = self._cheapest((one for one in flipped if self.scoring.passes(one)), _TRIES_IN_THE_END)
            if best is not None:
                self.conceded = True
                return best
        self.scoring.ask_for(*asked)
        return min((one for one in flipped if self.scoring.passes(one)), key=self._rank_found, default=None)

    def _hunt(self, slack: float) -> tuple[list[Candidate], Candidate]:
        """All candidates met that are predicted as the target, and the one that comes closest to what is asked."""
        flipped: list[Candidate] = []
        limit, closest, front = math.inf, self.root, [self.root]
        seen = {self.root.sketch.colors()}
        for _ in range(self.settings.max_moves):
            if not front or self.scoring.spent:
                break
            self.turn += 1
            tried = self.scoring.score(self._proposed(list(self.neighborhood.one_move_from(front, limit))))
            flipped += [one for one in tried if one.predicted]
            closest = max([closest, *tried], key=self._nearness)
            best = self._cheapest(one for one in tried if self.scoring.passes(one))
            limit = limit if best is None else min(limit, self.settings.cost(best) + slack)
            likeliest = max(tried, key=first_score, default=closest)
            self.likeliest = max(self.likeliest, likeliest, key=first_score)
            self.trace.append(likeliest.probability)
            self.settings.watch(
                Round(self.turn, self.settings.max_moves, self.scoring.calls, self.likeliest.probability)
            )
            front = self._best(tried, seen, limit)
        return flipped, closest

    def _proposed(self, candidates: list[Candidate]) -> list[Candidate]:
        """All of them, or those that the walk asks for most by what they cost."""
        saliency = self._saliency
        if saliency is None:
            return candidates
        ranked = sorted(candidates, key=lambda one: -saliency.score(one.difference) / (1 + self.settings.cost(one)))
        return ranked[: self.settings.proposals]

    @cached_property
    def _saliency(self) -> Saliency | None:
        walk = self.settings.walk
        return None if walk is None else walk.saliencies(self.graph, [self.goal])[0]

    def _nearness(self, one: Candidate) -> tuple[bool, bool, float]:
        return self.scoring.passes(one), one.predicted, self.scoring.support(one)

    def _rank_found(self, one: Candidate) -> tuple[tuple[float, int, float], float]:
        return self.neighborhood.expense(one), -one.belief

    def _best(self, tried: list[Candidate], seen: set, limit: float) -> list[Candidate]:
        """The first that are new and from which something below the limit may be reached."""
        front: list[Candidate] = []
        for one in sorted(tried, key=self.scoring.rank):
            if len(front) == self.neighborhood.stage.beam:
                break
            if self.scoring.support(one) == -math.inf or self.settings.cost(one) + self.least >= limit:
                continue
            colors = one.sketch.colors()
            if colors not in seen:
                seen.add(colors)
                front.append(one)
        return front

    def _cheapest(self, passing: Iterable[Candidate], tries: int = _TRIES) -> Candidate | None:
        """The cheapest that survives being written down, looked for among the first."""
        return next(filter(self._lasts, sorted(passing, key=self._rank_found)[:tries]), None)

    def _lasts(self, one: Candidate) -> bool:
        """Whether a molecule still passes when it is written as SMILES and read back."""
        return self.scoring.spent or self.graph.schema.chemistry is None or self.scoring.lasts(one)

    def _confirmed(self, found: Candidate) -> Finding:
        """The last word: the very graph that is returned, in all its slots, classified once more."""
        if self.scoring.spent:  # it was classified once, and nobody may ask again
            return Finding(found, Outcome.FLIPPED)
        again = self.scoring.judged(
            found, apply_differences(self.graph.pad(self.graph.schema.max_nodes), [found.difference])
        )
        passes = self.scoring.passes(again, slack=10.0)
        return Finding(again, Outcome.FLIPPED if passes else Outcome.NOT_CONFIDENT, True if passes else None)

    def _failed(self, closest: Candidate) -> Finding:
        if self.scoring.spent:
            return Finding(closest, Outcome.OUT_OF_CALLS)
        if closest.predicted:
            return Finding(closest, Outcome.NOT_CONFIDENT)
        return Finding(closest, Outcome.NO_MOVE_ALLOWED if self.scoring.calls == 1 else Outcome.OUT_OF_MOVES)

    @property
    def calls(self) -> int:
        """How many graphs the classifier was shown."""
        return self.scoring.calls

    def falls_short(self, answer: Candidate) -> bool:
        """Whether an answer misses something that was asked."""
        return self.conceded or self.neighborhood.is_strange(answer)

    def what_stood_in_the_way(self, closest: Candidate) -> str:
        """How far the search got, and how many moves each constraint ruled out."""
        settings, of = self.settings, " of the target" if self.goal.unit == "probability" else ""
        least = [f"{asked:g}" if of else self.goal.name() for asked in (settings.confidence, settings.agreement)]
        got = f"The closest of {self.scoring.calls - 1} graphs has {self.goal.unit} {closest.probability:.3f}{of}"
        got += f" ({closest.heavy} edits, {self.turn} rounds of moves); {least[0]} was asked."
        if len(closest.votes) > 1:
            got += f" {len(settings.surrogates)} surrogates give it {closest.votes[1].shown:.3f} on average;"
            got += f" {least[1]} was asked."
        if self.neighborhood.is_strange(closest):
            got += " With surroundings that the data have, nothing was found."
        reasons = [f"{count} by `{name}`" for name, count in self.neighborhood.ruled_out.most_common()]
        return f"{got} Moves ruled out: {', '.join(reasons)}." if reasons else got


def _distinct(found: list[Candidate]) -> list[Candidate]:
    """The first of each lot that is one graph in different orders."""
    known: dict[tuple[int, ...], Candidate] = {}
    for one in found:
        known.setdefault(one.sketch.colors(), one)
    return list(known.values())
