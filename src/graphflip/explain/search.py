"""EditSearch: a beam search over valid moves of the graph itself, refined until no edit is left over."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ..errors import ConfigError, SchemaError
from ..graph import Graph
from ..models.classifier import AbstractClassifier
from .constraints import Constraints, counted_part
from .environments import EnvironmentCounts
from .explainer import AbstractExplainer, Counterfactual, Outcome, Question
from .moves import Moves
from .sketch import Difference, Sketch, drawn
from .undo import undone

_FAILURES = (Outcome.NOT_CONFIDENT, Outcome.OUT_OF_MOVES, Outcome.NO_MOVE_ALLOWED)

# Scores of batches of different shapes differ in the last digits: what passes must pass by more than that.
_MARGIN = 1e-5


@dataclass(frozen=True)
class Round:
    """How far a search has come: rounds done, rounds at most, graphs classified, the best probability of the target."""

    turn: int
    max_turns: int
    calls: int
    probability: float


@dataclass(frozen=True)
class EditSearch(AbstractExplainer):
    """Try every allowed move, keep the `beam` best graphs, go on from them; 1 is greedy search.

    A graph passes if the classifier and each of the `opinions` predict the target with at least this `confidence`. Of
    those that pass, the one with the fewest edits is taken (hydrogens not counted where they are nodes), and the search
    goes on while fewer are possible. Then edits are undone as long as the graph still passes: the answer is 1-minimal.

    Graphs are ranked by the log-probabilities of the target, each counted up to the confidence asked for, less `price`
    per edit. The opinions see the `shortlist` that the classifier ranks first. With `environments`, an edit must not
    create surroundings of a node that were seen fewer than `minimum` times. Nothing is random: all seeds give the same
    answer.
    """

    classifier: AbstractClassifier
    moves: Moves
    environments: EnvironmentCounts | None = None
    minimum: int = 5
    constraints: Constraints = field(default_factory=Constraints)
    confidence: float = 0.5
    opinions: tuple[AbstractClassifier, ...] = ()
    agreement: float = 0.5
    frontier: bool = False
    watch: Callable[["Round"], None] = lambda _: None
    beam: int = 8
    max_moves: int = 8
    price: float = 0.1
    shortlist: int = 64
    batch_size: int = 256
    method: str = "search"

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ConfigError(f"`confidence` must lie between 0 and 1; got {self.confidence}.")
        for name in ("beam", "max_moves", "shortlist", "batch_size", "minimum"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        schemas = [model.schema for model in (self.classifier, *self.opinions)]
        schemas += [self.environments.schema] if self.environments else []
        if any(schema != self.moves.schema for schema in schemas):
            raise SchemaError(
                "Classifier, opinions, moves and environments must have one schema; these differ. "
                "Mine and train them on one dataset."
            )

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [self._explain_one(question, k) for k in range(len(question.graph))]

    def _explain_one(self, question: Question, k: int) -> Counterfactual:
        started = time.perf_counter()
        search = _Search(self, question.graph[k], int(question.target[k]))
        logits = question.logits[k]
        if not bool(logits.isfinite().all()):
            found, outcome = search.root, Outcome.NOT_A_NUMBER
        elif int(logits.argmax()) == search.target:
            found, outcome = search.root, Outcome.ALREADY_THERE
        else:
            found, outcome = search.run()
        return question.answer(
            k,
            self.method,
            drawn(question.graph[k], [found.difference]),
            outcome,
            p_counterfactual=None if outcome is Outcome.NOT_A_NUMBER else found.probability,
            steps=search.turn,
            seconds=time.perf_counter() - started,
            probabilities=tuple(search.trace),
            classifier_calls=search.calls,
            note=search.what_stood_in_the_way(found) if outcome in _FAILURES else "",
        )


@dataclass(frozen=True)
class _Candidate:
    """A graph on the way: how it differs from the factual, bookkeeping left out in `counted`; what the models say."""

    sketch: Sketch
    difference: Difference
    counted: Difference
    probability: float = math.nan
    support: float = -math.inf
    predicted: bool = False
    passes: bool = False

    @property
    def cost(self) -> int:
        """Number of edits that count."""
        return self.counted.size

    @property
    def size(self) -> tuple[int, int]:
        """Edits that count, and all edits."""
        return self.cost, self.difference.size


class _Search:
    """The search for one graph."""

    def __init__(self, settings: EditSearch, graph: Graph, target: int):
        self.settings, self.target = settings, target
        self.factual = Sketch.of(graph)
        settings.constraints.check(self.factual, graph.schema)
        used = max(self.factual.nodes, default=0) + 1
        self.graph = Graph.trusted(
            graph.B[:, :used], graph.V[:, :used], graph.A[:, :used, :used], graph.E[:, :used, :used], graph.schema
        )
        self.calls, self.turn = 0, 0
        self.ruled_out: Counter[str] = Counter()
        self.trace: list[float] = []
        (self.root,) = self._score([self._candidate(self.factual)])

    def run(self) -> tuple[_Candidate, Outcome]:
        """What was found and how the search ended; what comes closest if nothing passes."""
        best, closest, front = None, self.root, [self.root]
        seen = {self.root.sketch.colors()}
        while front and self.turn < self.settings.max_moves:
            self.turn += 1
            tried = self._score(list(self._expand(front, best)))
            closest = max([closest, *tried], key=lambda one: (one.passes, one.support))
            best = min([one for one in [best, *tried] if one and one.passes], key=self._rank_found, default=None)
            self.trace.append(max((one.probability for one in tried), default=closest.probability))
            front = self._best(tried, seen, best)
        if best is not None:
            return self._confirm(self._refine(best))
        return closest, self._failure(closest)

    def _expand(self, front: list[_Candidate], best: _Candidate | None) -> Iterator[_Candidate]:
        """Every allowed graph one move away, once, that would be an improvement."""
        met: set[frozenset] = set()
        for state in front:
            for _, after in self.settings.moves.steps(state.sketch, self.factual):
                candidate = self._candidate(after)
                if best is not None and candidate.cost >= best.cost:
                    continue
                key = frozenset([*candidate.difference.nodes.items(), *candidate.difference.edges.items()])
                if key and key not in met:
                    met.add(key)
                    if self._is_allowed(candidate):
                        yield candidate

    def _candidate(self, after: Sketch) -> _Candidate:
        difference = Difference.between(self.factual, after)
        return _Candidate(after, difference, counted_part(difference, self.factual, after, self.graph.schema))

    def _is_allowed(self, one: _Candidate) -> bool:
        """Whether constraints and environments admit a graph; counts what rules it out if not."""
        settings = self.settings
        broken = settings.constraints.broken(one.difference, one.counted, self.graph.schema.directed)
        if broken is None and settings.environments is not None:
            unknown = settings.environments.unknown(self.factual, one.sketch, one.difference, settings.minimum)
            broken = "environments" if unknown else None
        if broken is not None:
            self.ruled_out[broken] += 1
        return broken is None

    def _score(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Ask the classifier about all of them, the opinions about those it ranks first."""
        if not candidates:
            return []
        self.calls += len(candidates)
        judged = self._judge(self.settings.classifier, candidates)
        first = [
            _with_votes(one, [vote], self.settings.confidence) for one, vote in zip(candidates, judged, strict=True)
        ]
        if not self.settings.opinions:
            return first
        order = sorted(range(len(first)), key=lambda k: self._rank(first[k]))[: self.settings.shortlist]
        chosen = [candidates[k] for k in order]
        others = [self._judge(model, chosen) for model in self.settings.opinions]
        return [
            _with_votes(candidates[k], [judged[k], *(votes[row] for votes in others)], self.settings.confidence)
            for row, k in enumerate(order)
        ]

    @torch.no_grad()
    def _judge(self, model: AbstractClassifier, candidates: Sequence[_Candidate]) -> list["_Vote"]:
        votes = []
        for start in range(0, len(candidates), self.settings.batch_size):
            chunk = candidates[start : start + self.settings.batch_size]
            logits = model(drawn(self.graph, [one.difference for one in chunk]))
            votes += _votes(logits, self.target)
        return votes

    def _rank(self, one: _Candidate) -> tuple[float, float, tuple[int, int]]:
        return self.settings.price * one.cost - one.support, -one.probability, one.size

    def _rank_found(self, one: _Candidate) -> tuple[tuple[int, int], float]:
        return one.size, -one.probability

    def _best(self, tried: list[_Candidate], seen: set, best: _Candidate | None) -> list[_Candidate]:
        """The `beam` first that are new and from which something better than `best` may be reached."""
        front: list[_Candidate] = []
        for one in sorted(tried, key=self._rank):
            if len(front) == self.settings.beam:
                break
            if one.support == -math.inf or (best is not None and one.cost + 1 >= best.cost):
                continue
            colors = one.sketch.colors()
            if colors not in seen:
                seen.add(colors)
                front.append(one)
        return front

    def _refine(self, found: _Candidate) -> _Candidate:
        """Undo what the flip does not need, until nothing can be undone."""
        while True:
            smaller = [self._candidate(sketch) for sketch in undone(self.settings.moves, self.factual, found.sketch)]
            smaller = [one for one in smaller if 0 < one.cost and one.size < found.size and self._is_allowed(one)]
            passing = [one for one in self._score(smaller) if one.passes]
            if not passing:
                return found
            found = min(passing, key=self._rank_found)

    def _confirm(self, found: _Candidate) -> tuple[_Candidate, Outcome]:
        """The last word: the very graph that is returned, in all its slots, classified once more."""
        models = (self.settings.classifier, *self.settings.opinions)
        graph = drawn(self.graph.pad(self.graph.schema.max_nodes), [found.difference])
        self.calls += 1
        with torch.no_grad():
            votes = [_votes(model(graph), self.target)[0] for model in models]
        found = _with_votes(found, votes, self.settings.confidence - _MARGIN)
        return found, Outcome.FLIPPED if found.passes else Outcome.NOT_CONFIDENT

    def _failure(self, closest: _Candidate) -> Outcome:
        if closest.predicted:
            return Outcome.NOT_CONFIDENT
        return Outcome.NO_MOVE_ALLOWED if self.calls == 1 else Outcome.OUT_OF_MOVES

    def what_stood_in_the_way(self, closest: _Candidate) -> str:
        """How far the search got, and how many moves each constraint ruled out."""
        got = f"The closest of {self.calls - 1} graphs has probability {closest.probability:.3f} of the target"
        got += f" ({closest.cost} edits, {self.turn} rounds of moves); {self.settings.confidence:g} was asked."
        reasons = [f"{count} by `{name}`" for name, count in self.ruled_out.most_common()]
        return f"{got} Moves ruled out: {', '.join(reasons)}." if reasons else got


@dataclass(frozen=True)
class _Vote:
    """What one model says of a graph."""

    log_prob: float
    predicted: bool


def _votes(logits: Tensor, target: int) -> list[_Vote]:
    finite = logits.isfinite().all(-1)
    log_prob = torch.where(finite, logits.log_softmax(-1)[:, target], -torch.inf)
    predicted = (logits.argmax(-1) == target) & finite
    return [_Vote(*vote) for vote in zip(log_prob.tolist(), predicted.tolist(), strict=True)]


def _with_votes(one: _Candidate, votes: Iterable[_Vote], confidence: float) -> _Candidate:
    """The classifier's vote comes first."""
    votes, enough = list(votes), math.log(min(confidence + _MARGIN, 1 - 1e-9))
    return replace(
        one,
        probability=math.exp(votes[0].log_prob),
        support=sum(min(vote.log_prob, enough) for vote in votes),
        predicted=votes[0].predicted,
        passes=all(vote.predicted and vote.log_prob >= enough for vote in votes),
    )
