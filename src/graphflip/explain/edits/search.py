"""EditSearch: a beam search over valid moves of the graph itself, refined until no edit is left over."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from ...errors import ConfigError, SchemaError
from ...models.networks.classifier import AbstractClassifier
from ..constraints import Constraints
from ..counterfactual import Counterfactual, Outcome
from ..latent.saliency import SaliencyWalk
from ..method import AbstractExplainer, Question
from ..moves.apply import apply_differences
from ..moves.environments import EnvironmentCounts
from ..moves.moves import Moves
from .beam import BeamSearch, Finding, Round
from .candidates import Candidate

_FAILURES = (Outcome.NOT_CONFIDENT, Outcome.OUT_OF_MOVES, Outcome.NO_MOVE_ALLOWED, Outcome.OUT_OF_CALLS)


@dataclass(frozen=True)
class EditSearch(AbstractExplainer):
    """Try every allowed move, keep the `beam` best graphs, go on from them; 1 is greedy search.

    A graph passes if the classifier predicts the target with at least this `confidence` and the `surrogates` give it at
    least the probability `agreement` on average; where values are predicted, if the classifier's and the surrogates'
    mean are in the range that is asked for. Of those that pass, the one with the lowest cost is taken, and the search
    goes on while a lower one is possible. Then edits are undone, or exchanged for cheaper ones, as long as the graph
    still passes: the answer is 1-minimal. An edit costs 1; where hydrogens are nodes, adding or removing one with its
    bond, two edits, costs `hydrogen_price` each. Groups of more than `largest` nodes are tried when smaller ones do not
    lead to a graph that passes.

    Graphs are ranked by their scores for the target (log-probabilities, or distances from a range of values), each
    counted up to what is asked, on average, less `price` times their cost. The surrogates see the `shortlist` that the
    classifier ranks first. With `environments`, an edit must not create surroundings of a node that were seen fewer
    than `minimum` times. Molecules must still pass when they are written as SMILES and read back, where one that does
    can be found. With a `walk`, the classifier sees of each round only the `proposals` that the walk through the latent
    space asks for most; `max_calls` is how many graphs it is shown in all. Nothing is random: all seeds give the same
    answer. With `frontier`, every answer is a list from the smallest change to the most believable one.

    With `concede_to`, where nothing passes, a graph that the classifier predicts as the target with at least this
    confidence is an answer too: the surrogates going along as in `content_with`, pairs of confidence and agreement, or
    half as far if any does; and where there is none, one with unknown environments. Its note says what it misses.
    """

    classifier: AbstractClassifier
    moves: Moves
    environments: EnvironmentCounts | None = None
    minimum: int = 5
    constraints: Constraints = field(default_factory=Constraints)
    confidence: float = 0.5
    surrogates: tuple[AbstractClassifier, ...] = ()
    agreement: float = 0.5
    concede_to: float | None = None
    content_with: tuple[tuple[float, float], ...] = ()
    walk: SaliencyWalk | None = None
    proposals: int = 64
    frontier: bool = False
    watch: Callable[[Round], None] = lambda _: None
    beam: int = 4
    max_moves: int = 8
    max_calls: int | None = None
    largest: int = 2
    price: float = 0.2
    hydrogen_price: float = 0.5
    shortlist: int = 64
    batch_size: int = 256
    method: str = "search"

    def __post_init__(self) -> None:
        for name in ("confidence", "agreement"):
            if not 0 < getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must lie between 0 and 1; got {getattr(self, name)}.")
        for name in ("beam", "max_moves", "largest", "proposals", "shortlist", "batch_size", "minimum"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {getattr(self, name)}.")
        schemas = [model.schema for model in (self.classifier, *self.surrogates)]
        schemas += [self.environments.schema] if self.environments else []
        if any(schema != self.moves.schema for schema in schemas):
            raise SchemaError(
                "Classifier, surrogates, moves and environments must have one schema; these differ. "
                "Mine and train them on one dataset."
            )

    def levels(self) -> list[tuple[float, float]]:
        """Confidence and agreement that are asked, and those that will do where nothing has them, each after what lies
        half-way down to it."""
        asked = self.confidence, self.agreement
        if self.concede_to is None:
            return [asked]
        least = min(self.concede_to, self.confidence)
        stops = [asked, *((max(confidence, least), agreement) for confidence, agreement in self.content_with)]
        levels = []
        for (high, most), (low, fewer) in pairwise([*stops, (least, min(0.5, stops[-1][1]))]):
            levels += [(high, most), ((high + low) / 2, (most + fewer) / 2)]
        return list(dict.fromkeys([*levels, (least, 0.0)]))

    def cost(self, one: Candidate) -> float:
        """Edits, those of bookkeeping at their price, those of continuous attributes by their size."""
        return one.weight + self.hydrogen_price * (one.size - one.heavy)

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        return [several[0] for several in self.explain_several(question, 1)]

    def explain_several(self, question: Question, num: int) -> list[list[Counterfactual]]:
        """For each graph up to `num` answers that differ, the first the same as alone; or its frontier."""
        if num < 1:
            raise ConfigError(f"`num` must be at least 1; got {num}.")
        return [self._explain_one(question, k, num) for k in range(len(question.graph))]

    def _explain_one(self, question: Question, k: int, num: int) -> list[Counterfactual]:
        started = time.perf_counter()
        search = BeamSearch(self, question.graph[k], question.goals[k], question.logits[k : k + 1])
        if not bool(question.logits[k].isfinite().all()):
            findings = [Finding(search.root, Outcome.NOT_A_NUMBER)]
        elif bool(question.already_there[k]):
            findings = [Finding(search.root, Outcome.ALREADY_THERE)]
        else:
            findings = search.run(num)
        seconds = (time.perf_counter() - started) / len(findings)
        return [
            question.answer(
                k,
                self.method,
                apply_differences(question.graph[k], [found.candidate.difference]),
                found.outcome,
                p_counterfactual=None if found.outcome is Outcome.NOT_A_NUMBER else found.candidate.probability,
                steps=search.turn,
                seconds=seconds,
                probabilities=tuple(search.trace),
                classifier_calls=search.calls,
                one_minimal=found.one_minimal,
                note=search.what_stood_in_the_way(found.candidate)
                if found.outcome in _FAILURES or search.falls_short(found.candidate)
                else "",
            )
            for found in findings
        ]
