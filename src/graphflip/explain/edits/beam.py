"""BeamSearch: the search of EditSearch for one graph."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from operator import attrgetter
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from ..counterfactual import Outcome
from .candidates import Candidate, choose_different, choose_frontier, distinct, undominated
from .experience.table import Experience
from .minimize import Minimizer
from .neighborhood import Neighborhood, SearchStage
from .notes import Notes
from .rounds.inspection import Inspection
from .rounds.pace import Nearness, Pace
from .rounds.proposals import Proposals
from .scoring import Scoring
from .settings import Demand, Limits

# Several answers are chosen among those that cost at most so much more than the cheapest, this many for each.
_SLACK, _POOL = 6.0, 24
# Candidates that are tried, after the last round of a stage, for one that survives being written as SMILES.
_TRIES_IN_THE_END = 64
# Where the moves that promise most lead to nothing that flips the class, so many times as many are made at a time.
_LOOKS = 2
# Where nothing believable flips the class at a fair price, the price hardly counts any more.
_THRIFT = 0.1
# Steps of continuous attributes cost little: a fair price would end at many small ones that lead nowhere.
_THRIFT_OF_STEPS = 0.05
# Nodes of graphs that are no molecules up to which every move is made where nothing that promised led anywhere.
_ENUMERABLE = 41
# Of a molecule, at most this share of the heavy atoms goes with one branch: it is to stay the molecule of the question.
_BRANCH = 0.34
_classifier_score = attrgetter("classifier_score")
_FAILURES = (Outcome.NOT_CONFIDENT, Outcome.OUT_OF_MOVES, Outcome.NO_MOVE_ALLOWED, Outcome.OUT_OF_CALLS)


@dataclass(frozen=True)
class Round:
    """Progress of a search.

    Args:
        turn: Rounds done.
        max_turns: Rounds at most, by what is known now, and one more for what follows them: so the share that is done
            grows with every round, and is below 1 for as long as there is anything to do.
        calls: Graphs that the classifier has seen.
        probability: Highest probability of the target so far, or the predicted value that comes closest.
    """

    turn: int
    max_turns: int
    calls: int
    probability: float


@dataclass(frozen=True)
class Finding:
    """A candidate that a search ends with.

    Args:
        candidate: The answer, or what came closest to one.
        outcome: The way in which the search ended.
        one_minimal: True if it was checked that no change can be reverted; None if it was not checked.
    """

    candidate: Candidate
    outcome: Outcome
    one_minimal: bool | None = None


class _Explored(NamedTuple):
    """Candidates of all stages so far: those predicted as the target, the best that passes, the closest to passing."""

    stage: SearchStage
    flipped: list[Candidate]
    best: Candidate | None
    closest: Candidate


class BeamSearch:
    """State of the search for one graph: rounds done, and the best probability of each.

    Args:
        neighborhood: Candidates that may be tried.
        scoring: Models that are asked about them.
        propose: Choice of the candidates of a round by a walk, if there is one.
        demand: Levels that an answer must meet.
        limits: Bounds on the effort.
        logits: The classifier's outputs for the factual.
        watch: Called after every round.
        experience: What moves have done to training graphs.
    """

    def __init__(
        self,
        neighborhood: Neighborhood,
        scoring: Scoring,
        propose: Proposals,
        demand: Demand,
        limits: Limits,
        logits: Float[Tensor, "1 c"],
        watch: Callable[[Round], None] = lambda _: None,
        experience: Experience | None = None,
    ):
        self.neighborhood, self.scoring = neighborhood, scoring
        scoring.levels = [scoring.scores_of(level) for level in demand.levels()]
        self.inspect = Inspection(neighborhood, scoring, propose, experience)
        self.demand, self.limits, self.watch = demand, limits, watch
        self.costs, self.conceded, self.believable = neighborhood.costs, False, True
        self.turn, self.rounds_left = 0, 0
        self.trace: list[float] = []
        self.root = scoring.start(neighborhood.candidate(neighborhood.factual), logits)
        self.likeliest = self.root

    def stages(self) -> Iterator[SearchStage]:
        """Stages of the search, each with more to try; the next one follows if nothing passes."""
        largest, beam, look = self.limits.largest, self.limits.beam, self.limits.look > 0
        strange = self.scoring.strangeness is not None
        guided = look and self.inspect.slopes.useful
        thrifty = _THRIFT_OF_STEPS if guided and self.neighborhood.schema.has_continuous else 1.0
        if look:
            yield SearchStage(None, 0.0, beam, thrift=thrifty, estimated=True)
        elif self.neighborhood.moves.has_larger(largest) and not strange:
            yield SearchStage(largest, 0.0, beam)
        if not (look and (strange or guided)):  # with realism, what estimates do not find is hardly ever found
            yield SearchStage(None, 0.0, beam, estimated=look, looks=2 * _LOOKS)
        wide, part = (2 * beam, _BRANCH) if strange else (4 * beam, _BRANCH if guided else 1.0)
        # Levels of kits with experience were chosen for a fair price; of others, what was asked is reached first.
        thrift = min(thrifty, _THRIFT) if strange or (look and self.inspect.experience is None) else thrifty
        yield SearchStage(None, part, wide, thrift=thrift, estimated=look, looks=_LOOKS)
        if (strange or self.neighborhood.environments is not None) and self.demand.concede_to is not None:
            any_change = SearchStage(None, part, wide, known=False, thrift=thrift, estimated=look, looks=_LOOKS)
            if strange:
                yield any_change._replace(lenient=True)
            yield any_change
        if look and not (guided and self.neighborhood.factual.size[0] > _ENUMERABLE):
            # This has hardly ever found a flip, and graphs may have thousands of moves: the best of a round is enough.
            yield SearchStage(None, part if guided else 1.0, beam=1, thrift=thrift)
        elif not look and self.inspect.cheapest_first.decides:
            yield SearchStage(None, part, beam, complete=True)

    def run(self, num: int = 1) -> list[Finding]:
        """Up to `num` answers that differ, cheapest first; the closest candidate if nothing passes."""
        self.scoring.several = num > 1
        explored = self._explore(slack=_SLACK if num > 1 else 0.0)
        best = (explored.best if self.believable else None) or self._concession(explored.flipped)
        if best is None:
            return [self._failure(explored.closest)]
        best = (minimize := Minimizer(self.neighborhood, self.scoring, self.inspect, explored.stage))(best)
        if num == 1:
            return [self._confirmed(best)]
        pool = [best, *distinct(self.scoring.passing(explored.flipped)[: num * _POOL])]
        others = choose_different(pool, 2 * num, self.costs.cost)[1:]
        others = [minimize.without_exchanges(candidate) for candidate in others]  # which would make them the same
        others = [candidate for candidate in others if self.scoring.survives_smiles(candidate)]
        chosen = choose_different(distinct([best, *others]), num, self.costs.cost)
        return [self._confirmed(candidate) for candidate in chosen]

    def run_frontier(self) -> list[Finding]:
        """Answers from the smallest change to the most believable one; the closest candidate if nothing flips.

        Each is minimized for as long as the models believe it as much.
        """
        self.scoring.several = True
        explored = self._explore(slack=math.inf)
        minimize = Minimizer(self.neighborhood, self.scoring, self.inspect, explored.stage)
        minimized = []
        for candidate in choose_frontier(explored.flipped, self.costs.cost):
            self.scoring.demand_as_much_as(candidate)
            minimized.append(minimize(candidate))
        findings = []
        for candidate in undominated(minimized):
            self.scoring.demand_as_much_as(candidate)
            findings.append(self._confirmed(candidate))
        return findings or [self._failure(explored.closest)]

    def _explore(self, slack: float) -> _Explored:
        """Search stage by stage until something passes, or calls or stages are used up."""
        stages, self.inspect.cheapest_first.slack = list(self.stages()), slack
        explored = _Explored(stages[0], [], None, self.root)
        for k, stage in enumerate(stages, start=1):
            if stage.complete and not self.inspect.cheapest_first.left_out:
                break
            self.rounds_left = (len(stages) - k) * self.limits.max_moves
            met, nearest = self._search(stage, slack)
            closest = max(explored.closest, nearest, key=self._nearness)
            explored = _Explored(stage, explored.flipped + met, self.scoring.cheapest(met, _TRIES_IN_THE_END), closest)
            self.believable = stage.known or not self.neighborhood.knows_much
            # After such a stage, more of them are only for graphs without any flip. Without experience, what the first
            # one tried was a guess: the next comes before less than what was asked is accepted.
            informed = self.inspect.experience is not None or stage.thrift < 1.0
            complete = stage.is_thorough or (stage.estimated and self.scoring.strangeness is not None and informed)
            if explored.best or self.scoring.spent or (explored.flipped and complete):
                break
        return explored

    def _search(self, stage: SearchStage, slack: float) -> tuple[list[Candidate], Candidate]:
        """All candidates of a stage that are predicted as the target, and the one that comes closest to passing.

        A candidate that passes ends the search for those that cost `slack` more or above.
        """
        flipped, met = list[Candidate](), list[Candidate]()
        self.scoring.thrift, self.scoring.lenient = stage.thrift, stage.lenient
        limit, closest, front, guided = math.inf, self.root, [self.root], self.inspect.slopes.useful
        realistic = self.scoring.strangeness is not None
        pace = Pace(self.limits.patience, guided, realistic, self._nearness(self.root))
        seen = {self.root.sketch.colors()}
        for done in range(1, self.limits.max_moves + 1):
            if not front or self.scoring.spent or pace.is_over:
                break
            self.turn += 1
            tried = self.inspect(front, stage, limit)
            self.scoring.is_first_round = False
            flipped += [candidate for candidate in tried if candidate.predicted]
            before, closest = closest, max([closest, *tried], key=self._nearness)
            best = self.scoring.cheapest(tried)
            better = best is not None and self.costs.cost(best) + slack < limit
            limit = self.costs.cost(best) + slack if best is not None and better else limit
            pace.count(closest is not before, self._nearness(closest), better, limit)
            self._report(max(tried, key=_classifier_score, default=closest), self.limits.max_moves - done)
            met += tried if guided else []
            front = [] if pace.stuck else self._front(sorted(tried, key=self.scoring.rank), stage.beam, seen, limit)
            front = front or self._front(self._other_ways(met), stage.beam, seen, limit)
        return flipped, closest

    def _report(self, likeliest: Candidate, left: int) -> None:
        """Keep the likeliest candidate of a round, and tell whoever watches; `left` rounds may follow in this stage."""
        self.likeliest = max(self.likeliest, likeliest, key=_classifier_score)
        self.trace.append(likeliest.probability)
        most = self.turn + left + self.rounds_left + 1
        self.watch(Round(self.turn, most, self.scoring.calls, self.likeliest.probability))

    def _other_ways(self, met: list[Candidate]) -> Iterator[Candidate]:
        """Candidates to come back to where a way leads nowhere: those that change nodes, edges, or both, in turn."""
        ways: dict[tuple[bool, bool], list[Candidate]] = {}
        for candidate in sorted(met, key=self.scoring.rank):
            ways.setdefault((bool(candidate.counted.nodes), bool(candidate.counted.edges)), []).append(candidate)
        return (each for turn in zip_longest(*ways.values()) for each in turn if each is not None)

    def _front(self, tried: Iterable[Candidate], beam: int, seen: set, limit: float) -> list[Candidate]:
        """The `beam` first candidates that are new and from which one below the cost limit may be reached."""
        front: list[Candidate] = []
        for candidate in tried:
            if len(front) == beam:
                break
            least = self.costs.cost(candidate) + self.neighborhood.least_cost
            if self.scoring.support(candidate) == -math.inf or least >= limit:
                continue
            colors = candidate.sketch.colors()
            if colors not in seen:
                seen.add(colors)
                front.append(candidate)
        return front

    def _nearness(self, candidate: Candidate) -> Nearness:
        """Sort key of closeness to passing."""
        return self.scoring.passes(candidate), candidate.predicted, self.scoring.support(candidate)

    def _concession(self, flipped: list[Candidate]) -> Candidate | None:
        """The cheapest candidate of the highest lower level that any meets; if none does, the cheapest that meets what
        was asked, although it does not survive being written as SMILES. Where no candidate is to be believed, the
        smallest one that flips the class need not be sure as well: only the lowest level counts."""
        asked, *lower = self.demand.levels()
        for level in lower if self.believable else lower[-1:]:
            self.scoring.demand(level)
            best = self.scoring.cheapest(flipped, _TRIES_IN_THE_END)
            if best is not None:
                self.conceded = True
                return best
        self.scoring.demand(asked)
        return next(iter(self.scoring.passing(flipped)), None)

    def _confirmed(self, candidate: Candidate) -> Finding:
        """The answer after the very graph that is returned was classified once more, if that is still possible."""
        if self.scoring.spent:
            return Finding(candidate, Outcome.FLIPPED)
        again = self.scoring.confirm(candidate)
        passes = self.scoring.passes(again, slack=10.0)
        return Finding(again, Outcome.FLIPPED if passes else Outcome.NOT_CONFIDENT, True if passes else None)

    def _failure(self, closest: Candidate) -> Finding:
        """The closest candidate, with the reason why it is no answer."""
        if self.scoring.spent:
            return Finding(closest, Outcome.OUT_OF_CALLS)
        if closest.predicted:
            return Finding(closest, Outcome.NOT_CONFIDENT)
        return Finding(closest, Outcome.NO_MOVE_ALLOWED if self.scoring.calls == 1 else Outcome.OUT_OF_MOVES)

    def note(self, finding: Finding) -> str:
        """For a failure, or an answer that misses something that was asked, what it misses; else ""."""
        candidate, notes = finding.candidate, Notes(self.scoring, self.demand, self.neighborhood)
        if finding.outcome in _FAILURES:
            return notes.of_failure(candidate)
        strange = not self.believable or self.neighborhood.has_unknown_environments(candidate)
        return notes.of_concession(candidate, strange) if self.conceded or strange else ""
