"""Examiner: takes back every change of an answer by itself, to see what the change is needed for."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ...describe.change import Sentence
from ...describe.wording import sentences
from ...edits import Edit, edits_between, heavy_edits
from ...errors import BudgetSpent
from ...graph import Graph
from ...models.networks.classifier import AbstractClassifier
from ..constraints import Constraints
from ..counterfactual import Counterfactual
from ..goals.batches import mean_outputs
from ..goals.classes import AnyOther
from ..goals.goal import AbstractGoal
from ..goals.stored import target_of
from ..moves.apply import apply_differences
from ..moves.atoms.counting import counted_part
from ..moves.difference import Difference
from ..moves.moves import Moves
from ..moves.restrictions import Restrictions
from ..moves.revert import apply_possible, revert_all, reverted
from ..moves.sketch import Sketch
from .boundary import lead
from .needs import Loss, Need, Smaller
from .validity import Validity, survives_round_trip

# Graphs are classified in batches of other shapes than in the search: a level is met up to rounding errors.
_ROUNDING = 1e-4


Said = tuple[bool, float, float]
"""Whether the classifier predicts the target, its score and the number to show."""

Known = Callable[[Difference], Said | None]
"""Gives what the classifier has said of a graph in the search, by its difference from the factual."""


def without(factual: Graph, said: Sequence[Sentence], numbers: Collection[int], moves: Moves) -> Graph:
    """The graph that is left when some of the changes of an answer are taken back.

    Args:
        factual: The graph before.
        said: All changes of the answer, in words with their edits.
        numbers: Numbers of those to take back, from 0.
        moves: Moves of the schema. Hydrogens are filled in anew, and what needs a change that is gone goes with it.
    """
    kept = [edit for number, sentence in enumerate(said) if number not in numbers for edit in sentence.edits]
    return apply_possible(factual, kept, moves)


@dataclass(frozen=True, eq=False)
class Examiner:
    """Finds out what each change of an answer is needed for, and the smallest answer that keeps the class.

    Each change that is told in words is taken back by itself, and so is each finer one that a search may revert. Those
    that the search has not classified are, in one batch; one more follows for each step to a smaller answer.

    Args:
        classifier: The classifier that is explained.
        moves: Moves of its schema.
        surrogates: Models that had to agree on average; may be empty.
        levels: Pairs of confidence and agreement, the one that was asked first, then those that were accepted instead.
            The first that an answer meets is the one that it must keep.
        constraints: Parts of a graph that must stay as they are.
        max_calls: Graphs that the classifier may be shown in all; None for any number.
        class_alone: True if nothing but the class and the confidence was asked: then a smaller answer that has both,
            also when it is read back from SMILES, takes the place of the answer.
    """

    classifier: AbstractClassifier
    moves: Moves
    surrogates: Sequence[AbstractClassifier] = ()
    levels: Sequence[tuple[float, float]] = ((0.0, 0.0),)
    constraints: Constraints = field(default_factory=Constraints)
    max_calls: int | None = None
    class_alone: bool = False

    def examine(self, answers: Sequence[Counterfactual], known: Known = lambda _: None) -> list[Counterfactual]:
        """Add the claims to the answers of one search, whose calls of the classifier they share.

        Graphs that are `known` are not shown to the classifier again.
        Answers that do not flip are returned as they are; of those for which the classifier may not be asked any more,
        nothing is claimed. The number of calls becomes that of the search and of all examinations.
        """
        calls = max((answer.classifier_calls for answer in answers), default=0)
        examined: list[Counterfactual] = []
        for answer in answers:
            while answer.flipped and answer.edits:
                left = math.inf if self.max_calls is None else float(self.max_calls - calls)
                examination = _Examination(self, answer, left, known)
                answer, again = examination.result()
                calls += examination.used
                if again is None or any(again.edits == other.edits for other in examined):
                    break
                answer = again
            examined.append(answer)
        return [replace(answer, classifier_calls=calls) for answer in examined]


class _Trial(NamedTuple):
    """A graph that lacks some changes of an answer.

    Args:
        edits: Edits that lead to it from the factual.
        graph: The graph, padded to all slots of the schema.
        size: Number of edits, without and with those of hydrogens and charges.
    """

    edits: tuple[Edit, ...]
    graph: Graph
    size: tuple[int, int]


class _Judged(NamedTuple):
    """A trial, whether the classifier still predicts the target, its score and the number to show."""

    trial: _Trial
    reached: bool
    score: float
    shown: float


class _Examination:
    """Examination of one answer; `left` counts the graphs that the classifier may still be shown."""

    def __init__(self, examiner: Examiner, answer: Counterfactual, left: float, known: Known):
        self.by, self.answer, self.left, self.used, self.known = examiner, answer, left, 0, known
        slots = answer.factual.schema.max_nodes
        assert answer.counterfactual is not None
        self.factual, after = answer.factual.pad(slots), answer.counterfactual.pad(slots)
        self.before = Sketch.of(self.factual)
        self.whole = self._trial(after)
        self.least = Validity.of(after).weaker(Validity.of(self.factual))
        self.goal: AbstractGoal = answer.goal
        self.smaller: _Judged | None = None

    @torch.no_grad()
    def result(self) -> tuple[Counterfactual, Counterfactual | None]:
        """The answer with its claims, and a smaller one that is to be examined in its place, if there is any."""
        answer = self.answer
        try:
            answer = self._claims()
            return answer, self._in_its_place()
        except BudgetSpent:
            return answer, None

    def _claims(self) -> Counterfactual:
        said = sentences(self.factual, self.whole.graph)
        told = [self._without(said, number) for number in range(len(said))]
        trials = list({trial.edits: trial for trial in (*told, *self._finer(self.whole))}.values())
        outputs = self._asked([self.whole])
        if isinstance(self.goal, AnyOther):
            self.goal = self.goal.settled(outputs[0])
        (whole,) = self._judged([self.whole], outputs)
        judged = self._judge(trials)
        by_edits = {one.trial.edits: one for one in judged}
        losses = [self._loss(whole, by_edits[trial.edits]) for trial in told]
        self.smaller = smaller = self._smallest(judged)
        return replace(
            self.answer,
            needed_for=tuple(Need(loss, one.edits) for loss, one in zip(losses, said, strict=True)),
            one_minimal=smaller is None and not any(loss.keeps_class for loss in losses),
            smaller=None if smaller is None else Smaller(smaller.trial.edits, smaller.shown),
            lead_counterfactual=lead(outputs[0]),
        )

    def _in_its_place(self) -> Counterfactual | None:
        """The answer with the smaller graph instead, if that has all that was asked; None if it has not."""
        found = self.smaller
        if found is None or not self.by.class_alone or found.score < self.goal.enough(self.by.levels[0][0]):
            return None
        graph = found.trial.graph
        if graph.schema.chemistry is not None:
            self._reserve(1)
            survives = survives_round_trip(self.by.classifier, graph, target_of(self.goal))
            self.used, self.left = self.used + 1, self.left - 1
            if not survives:
                return None
        return replace(self.answer, counterfactual=graph, p_counterfactual=found.shown)

    def _loss(self, whole: _Judged, rest: _Judged) -> Loss:
        """The first thing that is lost when the whole answer becomes the rest."""
        if not rest.reached:
            return Loss.CLASS
        if not self._is_allowed(rest.trial):
            return Loss.VALIDITY
        graphs = Graph.cat([whole.trial.graph, rest.trial.graph])
        agreed = [0.0, 0.0]
        if self.by.surrogates:
            outputs = torch.stack([model(graphs) for model in self.by.surrogates])
            agreed = self.goal.score(mean_outputs(outputs)).tolist()
        for level in self.by.levels:
            confidence, agreement = (self.goal.enough(least) - _ROUNDING for least in level)
            if whole.score >= confidence and agreed[0] >= agreement:
                if rest.score < confidence:
                    return Loss.CONFIDENCE
                return Loss.AGREEMENT if agreed[1] < agreement else Loss.NOTHING
        return Loss.NOTHING

    def _smallest(self, judged: Sequence[_Judged]) -> _Judged | None:
        """The smallest allowed graph that is still predicted as the target, found greedily; None if there is none."""
        first = self._smallest_of(judged, self.whole.size)
        return None if first is None else revert_all(first, self._still_smaller)

    def _still_smaller(self, found: _Judged) -> _Judged | None:
        said = sentences(self.factual, found.trial.graph)
        told = (self._without(said, number) for number in range(len(said)))
        trials = {trial.edits: trial for trial in (*told, *self._finer(found.trial)) if trial.size < found.trial.size}
        try:
            tried = self._judge(list(trials.values()))
        except BudgetSpent:
            return None
        return self._smallest_of(tried, found.trial.size)

    def _smallest_of(self, judged: Iterable[_Judged], below: tuple[int, int]) -> _Judged | None:
        reached = [one for one in judged if one.reached and one.trial.edits and one.trial.size < below]
        reached.sort(key=lambda one: (one.trial.size, -one.score))
        return next((one for one in reached if self._is_allowed(one.trial)), None)

    def _without(self, said: Sequence[Sentence], number: int) -> _Trial:
        return self._trial(without(self.factual, said, {number}, self.by.moves))

    def _finer(self, trial: _Trial) -> list[_Trial]:
        """The graphs in which one change of a trial is reverted as a search does it, if that makes them smaller."""
        sketches = reverted(self.by.moves, self.before, Sketch.of(trial.graph))
        differences = [Difference.between(self.before, sketch) for sketch in sketches]
        graphs = apply_differences(self.factual, differences) if differences else ()
        return [fewer for graph in graphs if _is_smaller((fewer := self._trial(graph)).size, trial.size)]

    def _trial(self, graph: Graph) -> _Trial:
        graph = graph.pad(self.factual.num_slots)
        edits = edits_between(self.factual, graph)
        return _Trial(tuple(edits), graph, (len(heavy_edits(self.factual, edits)), len(edits)))

    def _asked(self, trials: Sequence[_Trial]) -> Float[Tensor, "b c"]:
        """The classifier's outputs for some graphs; raises BudgetSpent if it may not be shown so many."""
        self._reserve(len(trials))
        outputs = self.by.classifier(Graph.cat([trial.graph for trial in trials]))
        self.used, self.left = self.used + len(trials), self.left - len(trials)
        return outputs

    def _judge(self, trials: Sequence[_Trial]) -> list[_Judged]:
        """Graphs with the word of the classifier, which is asked about those of which it has said nothing before."""
        said = [self.known(Difference.between(self.before, Sketch.of(trial.graph))) for trial in trials]
        unheard = [trial for trial, before in zip(trials, said, strict=True) if before is None]
        fresh = iter(self._judged(unheard, self._asked(unheard)) if unheard else ())
        return [next(fresh) if one is None else _Judged(trial, *one) for trial, one in zip(trials, said, strict=True)]

    def _reserve(self, calls: int) -> None:
        if calls > self.left:
            raise BudgetSpent(f"{calls} more graphs must be classified; {self.left:g} may be. Allow more calls.")

    def _judged(self, trials: Sequence[_Trial], outputs: Float[Tensor, "b c"]) -> list[_Judged]:
        finite = outputs.isfinite().all(-1)
        said = (self.goal.reached(outputs) & finite).tolist(), self.goal.score(outputs).tolist()
        return [_Judged(*one) for one in zip(trials, *said, self.goal.shown(outputs).tolist(), strict=True)]

    def _is_allowed(self, trial: _Trial) -> bool:
        """True if a graph is as valid as the answer or the factual, and breaks no constraint."""
        if not float(trial.graph.B.sum()) or not Validity.of(trial.graph).reaches(self.least):
            return False
        after = Sketch.of(trial.graph)
        difference = Difference.between(self.before, after)
        counted = counted_part(difference, self.before, after, self.factual.schema)
        return self._restrictions.broken(difference, counted) is None

    @cached_property
    def _restrictions(self) -> Restrictions:
        return Restrictions.of(self.by.constraints, self.before, self.factual.schema)


def _is_smaller(size: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if no number of edits is larger, hydrogens and charges counted or not, and one is smaller."""
    return size != other and all(here <= there for here, there in zip(size, other, strict=True))
