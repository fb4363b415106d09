"""BeamSearch: the search of EditSearch for one graph."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float
from torch import Tensor

from ..graph import Graph
from .candidates import Candidate, choose_different, choose_frontier
from .explainer import Outcome
from .goals import AbstractGoal
from .labels import STEPS, has_continuous
from .panel import Panel, first_score
from .shrink import shrunk
from .sketch import Difference, Sketch, drawn
from .undo import undone
from .walk import Saliency

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


class Stage(NamedTuple):
    """What a search tries: the largest group to add, whether branches of any size may go, the width of the beam, and
    whether environments must be known."""

    largest: int | None
    branches: bool
    beam: int
    known: bool = True


class BeamSearch:
    """The state of a search for one graph."""

    def __init__(self, settings: "EditSearch", graph: Graph, goal: AbstractGoal, logits: Float[Tensor, "1 c"]):
        self.settings, self.goal = settings, goal
        self.factual = Sketch.of(graph)
        self.size, self.limit = self.factual.size, math.inf
        settings.constraints.check(self.factual, graph.schema)
        used = max(self.factual.nodes, default=0) + 1
        self.graph = Graph.trusted(
            graph.B[:, :used], graph.V[:, :used], graph.A[:, :used, :used], graph.E[:, :used, :used], graph.schema
        )
        self.panel = Panel(settings, self.graph, goal)
        self.conceded = False
        known = settings.environments
        self._home = dict(known.created(self.factual, self.factual, self.factual.nodes)) if known else {}
        self.least = min((1.0, *STEPS)) if has_continuous(graph.schema) else 1.0  # what one more change costs at least
        self.turn = 0
        self.stage = next(self._stages())
        self.ruled_out: Counter[str] = Counter()
        self.trace: list[float] = []
        self.root = self.panel.start(self._candidate(self.factual), logits)
        self.likeliest = self.root

    def run(self, num: int = 1) -> list[Finding]:
        """Up to `num` answers, or the frontier; what comes closest if nothing passes."""
        frontier = self.settings.frontier
        slack = math.inf if frontier else _SLACK if num > 1 else 0.0
        flipped, best, closest = [], None, self.root
        for stage in self._stages():
            self.stage = stage
            met, nearest = self._hunt(slack)
            flipped, closest = flipped + met, max(closest, nearest, key=self._nearness)
            best = self._cheapest((one for one in met if self.panel.passes(one)), _TRIES_IN_THE_END)
            # What comes after all groups were tried is for finding any flip at all.
            if best or self.panel.spent or (flipped and stage.largest is None):
                break
        if frontier:
            answers = choose_frontier(flipped, self.settings.cost)
            return [self._confirmed(one, any_confidence=True) for one in answers] or [self._failed(closest)]
        best = best or self._second_best(flipped)
        if best is None:
            return [self._failed(closest)]
        best = self._refine(best)
        if num == 1:
            return [self._confirmed(best)]
        # Graphs that are the same in another order are one answer.
        passing = sorted((one for one in flipped if self.panel.passes(one)), key=self._rank_found)
        pool = _distinct(passing[: num * _POOL])
        refined = [self._refine(one) for one in choose_different([best, *pool], 2 * num, self.settings.cost)[1:]]
        refined = [one for one in refined if self._lasts(one)]
        return [self._confirmed(one) for one in choose_different(_distinct([best, *refined]), num, self.settings.cost)]

    def _second_best(self, flipped: list[Candidate]) -> Candidate | None:
        """The cheapest that meets what will do; of those that meet all but are lost as SMILES if there is none."""
        asked, *lower = self.settings.levels()
        for level in lower:
            self.panel.ask_for(*level)
            best = self._cheapest((one for one in flipped if self.panel.passes(one)), _TRIES_IN_THE_END)
            if best is not None:
                self.conceded = True
                return best
        self.panel.ask_for(*asked)
        return min((one for one in flipped if self.panel.passes(one)), key=self._rank_found, default=None)

    def _stages(self) -> Iterator[Stage]:
        """More and more, as long as nothing passes."""
        settings = self.settings
        if settings.moves.has_larger(settings.largest):
            yield Stage(settings.largest, False, settings.beam)
        yield Stage(None, False, settings.beam)
        yield Stage(None, True, 4 * settings.beam)
        if settings.environments is not None and settings.concede_to is not None:
            yield Stage(settings.largest, False, settings.beam, known=False)

    def _hunt(self, slack: float) -> tuple[list[Candidate], Candidate]:
        """All candidates met that are predicted as the target, and the one that comes closest to what is asked."""
        flipped: list[Candidate] = []
        limit, closest, front = math.inf, self.root, [self.root]
        seen = {self.root.sketch.colors()}
        for _ in range(self.settings.max_moves):
            if not front or self.panel.spent:
                break
            self.turn += 1
            tried = self.panel.score(self._proposed(list(self._expand(front, limit))))
            flipped += [one for one in tried if one.predicted]
            closest = max([closest, *tried], key=self._nearness)
            best = self._cheapest(one for one in tried if self.panel.passes(one))
            limit = limit if best is None else min(limit, self.settings.cost(best) + slack)
            likeliest = max(tried, key=first_score, default=closest)
            self.likeliest = max(self.likeliest, likeliest, key=first_score)
            self.trace.append(likeliest.probability)
            self.settings.watch(Round(self.turn, self.settings.max_moves, self.panel.calls, self.likeliest.probability))
            front = self._best(tried, seen, limit)
        return flipped, closest

    def _expand(self, front: list[Candidate], limit: float) -> Iterator[Candidate]:
        """Every allowed graph one move away, once, that costs less than the limit."""
        met: set[frozenset] = set()
        self.limit = limit
        for state in front:
            moves = self.settings.moves.steps(
                state.sketch, self.factual, self._admits, self.stage.largest, self.stage.branches
            )
            for _, after in moves:
                candidate = self._candidate(after, state.difference)
                if self.settings.cost(candidate) >= limit:
                    continue
                key = candidate.key()
                if key and key not in met:
                    met.add(key)
                    if self._is_allowed(candidate):
                        yield candidate

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

    def _candidate(self, after: Sketch, state: Difference | None = None) -> Candidate:
        return Candidate.of(self.factual, after, self.graph.schema, state)

    def _admits(self, state: Sketch, after: Sketch) -> bool:
        """Whether a move may cost less than the limit, and the environments that it created are known, or are those
        of the factual."""
        if self._costs_at_least(after) >= self.limit:
            return False
        known = self.settings.environments
        if known is None or not self.stage.known:
            return True
        for i, environment in known.created(state, after, after.touched):
            if known.counts.get(environment, 0) < self.settings.minimum and self._home.get(i) != environment:
                self.ruled_out["environments"] += 1
                return False
        return True

    def _costs_at_least(self, after: Sketch) -> float:
        """What must be paid for nodes and edges that are more or fewer than the factual's, wherever they are."""
        apart = sum(abs(now - was) for now, was in zip(after.size, self.size, strict=True))
        return min(1.0, self.settings.hydrogen_price) * apart

    def _is_allowed(self, one: Candidate) -> bool:
        """Whether constraints admit a graph; counts what rules it out if not."""
        broken = self.settings.constraints.broken(one.difference, one.counted, self.graph.schema.directed)
        if broken is not None:
            self.ruled_out[broken] += 1
        return broken is None

    def _nearness(self, one: Candidate) -> tuple[bool, bool, float]:
        return self.panel.passes(one), one.predicted, self.panel.support(one)

    def _expense(self, one: Candidate) -> tuple[float, int, float]:
        return self.settings.cost(one), one.heavy, one.travel

    def _rank_found(self, one: Candidate) -> tuple[tuple[float, int, float], float]:
        return self._expense(one), -one.belief

    def _best(self, tried: list[Candidate], seen: set, limit: float) -> list[Candidate]:
        """The first that are new and from which something below the limit may be reached."""
        front: list[Candidate] = []
        for one in sorted(tried, key=self.panel.rank):
            if len(front) == self.stage.beam:
                break
            if self.panel.support(one) == -math.inf or self.settings.cost(one) + self.least >= limit:
                continue
            colors = one.sketch.colors()
            if colors not in seen:
                seen.add(colors)
                front.append(one)
        return front

    def _refine(self, found: Candidate) -> Candidate:
        """Undo what the flip does not need, and exchange what can be had for less, until nothing can."""
        while not self.panel.spent:
            better = self._improved(found)
            if better is None:
                break
            found = better
        return found

    def _cheapest(self, passing: Iterable[Candidate], tries: int = _TRIES) -> Candidate | None:
        """The cheapest that survives being written down, looked for among the first."""
        return next(filter(self._lasts, sorted(passing, key=self._rank_found)[:tries]), None)

    def _lasts(self, one: Candidate) -> bool:
        """Whether a molecule still passes when it is written as SMILES and read back."""
        return self.panel.spent or self.graph.schema.chemistry is None or self.panel.lasts(one)

    def _improved(self, found: Candidate) -> Candidate | None:
        """The best that passes for less, one change taken back or exchanged; None if there is none."""
        smaller = self._undone(found)
        better = self._cheapest(one for one in self.panel.score(smaller) if self.panel.passes(one))
        return better or self._cheapest(self._exchanged(found, smaller))

    def _undone(self, found: Candidate) -> list[Candidate]:
        """The allowed graphs in which one change is taken back."""
        self.limit = math.inf
        smaller = [
            self._candidate(sketch)
            for sketch in chain(
                undone(self.settings.moves, self.factual, found.sketch),
                shrunk(self.factual, found.sketch, self.graph.schema),
            )
            if self._admits(found.sketch, sketch)
        ]
        known = {one.key(): one for one in smaller if one.heavy and self._expense(one) < self._expense(found)}
        return [one for one in known.values() if self._is_allowed(one)]

    def _exchanged(self, found: Candidate, smaller: list[Candidate]) -> list[Candidate]:
        """What passes for less once a change was taken back and another one made."""
        start = [one for one in smaller if self.settings.cost(one) + self.least < self.settings.cost(found)]
        return [
            one
            for one in self.panel.score(list(self._expand(start, self.settings.cost(found))))
            if self.panel.passes(one)
        ]

    def _confirmed(self, found: Candidate, any_confidence: bool = False) -> Finding:
        """The last word: the very graph that is returned, in all its slots, classified once more."""
        if self.panel.spent:  # it was classified once, and nobody may ask again
            return Finding(found, Outcome.FLIPPED)
        again = self.panel.judged(found, drawn(self.graph.pad(self.graph.schema.max_nodes), [found.difference]))
        if any_confidence:
            return Finding(again, Outcome.FLIPPED if again.predicted else Outcome.NOT_CONFIDENT)
        passes = self.panel.passes(again, slack=10.0)
        return Finding(again, Outcome.FLIPPED if passes else Outcome.NOT_CONFIDENT, True if passes else None)

    def _failed(self, closest: Candidate) -> Finding:
        if self.panel.spent:
            return Finding(closest, Outcome.OUT_OF_CALLS)
        if closest.predicted:
            return Finding(closest, Outcome.NOT_CONFIDENT)
        return Finding(closest, Outcome.NO_MOVE_ALLOWED if self.panel.calls == 1 else Outcome.OUT_OF_MOVES)

    @property
    def calls(self) -> int:
        """How many graphs the classifier was shown."""
        return self.panel.calls

    def falls_short(self, answer: Candidate) -> bool:
        """Whether an answer misses something that was asked."""
        return self.conceded or self._is_strange(answer)

    def _is_strange(self, one: Candidate) -> bool:
        """Whether edits created environments that must be known and are not."""
        known = self.settings.environments
        if known is None or self.stage.known:
            return False
        return bool(known.unknown(self.factual, one.sketch, one.difference, self.settings.minimum))

    def what_stood_in_the_way(self, closest: Candidate) -> str:
        """How far the search got, and how many moves each constraint ruled out."""
        settings, of = self.settings, " of the target" if self.goal.unit == "probability" else ""
        least = [f"{asked:g}" if of else self.goal.name() for asked in (settings.confidence, settings.agreement)]
        got = f"The closest of {self.panel.calls - 1} graphs has {self.goal.unit} {closest.probability:.3f}{of}"
        got += f" ({closest.heavy} edits, {self.turn} rounds of moves); {least[0]} was asked."
        if len(closest.votes) > 1:
            got += f" {len(settings.opinions)} opinions give it {closest.votes[1].shown:.3f} on average;"
            got += f" {least[1]} was asked."
        if self._is_strange(closest):
            got += " With surroundings that the data have, nothing was found."
        reasons = [f"{count} by `{name}`" for name, count in self.ruled_out.most_common()]
        return f"{got} Moves ruled out: {', '.join(reasons)}." if reasons else got


def _distinct(found: list[Candidate]) -> list[Candidate]:
    """The first of each lot that is one graph in different orders."""
    known: dict[tuple[int, ...], Candidate] = {}
    for one in found:
        known.setdefault(one.sketch.colors(), one)
    return list(known.values())
