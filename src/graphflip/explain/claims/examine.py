"""Examiner: takes back every change of an answer by itself, to see what the change is needed for."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ...describe.change import Sentence, Side
from ...describe.wording import sentences_for
from ...edits import Edit
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
from ..moves.difference import Difference
from ..moves.moves import Moves
from ..moves.restrictions import Restrictions
from ..moves.revert import apply_possible, make_possible, revert_all, reverted
from ..moves.sketch import Sketch
from .boundary import lead
from .needs import Loss, Need, Smaller
from .remainders import Remainder
from .validity import Validity, survives_round_trip

# Graphs are classified in batches of other shapes than in the search: a level is met up to rounding errors.
_ROUNDING = 1e-4

# Pairs of slots of all graphs that the classifier is asked about at a time.
_MOST_PAIRS = 2**21


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
    return apply_possible(factual, _kept(said, numbers), moves)


def _kept(said: Sequence[Sentence], numbers: Collection[int]) -> list[Edit]:
    """Edits of all changes but those of these numbers."""
    return [edit for number, sentence in enumerate(said) if number not in numbers for edit in sentence.edits]


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


class _Judged(NamedTuple):
    """A trial, whether the classifier still predicts the target, its score and the number to show."""

    trial: Remainder
    reached: bool
    score: float
    shown: float


class _Examination:
    """Examination of one answer; `left` counts the graphs that the classifier may still be shown."""

    def __init__(self, examiner: Examiner, answer: Counterfactual, left: float, known: Known):
        self.by, self.answer, self.left, self.used, self.known = examiner, answer, left, 0, known
        factual, after = answer.factual, answer.counterfactual
        assert after is not None
        slots = factual.schema.ample_slots(max(factual.num_slots, after.num_slots))
        self.factual, self.after = factual.pad(slots), after.pad(slots)
        self.before, self.told_before = Sketch.of(self.factual), Side(self.factual)
        self.whole = Remainder(self.factual, self.before, Sketch.of(self.after))
        self.least = Validity.of(self.after).weaker(Validity.of(self.factual))
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
        said = sentences_for(self.told_before, self.after, self.whole.edits)
        told = [self._without(said, number) for number in range(len(said))]
        trials = list({trial.edits: trial for trial in (*told, *self._finer(self.whole))}.values())
        outputs = self._asked([self.whole])
        if isinstance(self.goal, AnyOther):
            self.goal = self.goal.settled(outputs[0])
        (whole,) = self._judged([self.whole], outputs)
        judged = self._judge(trials)
        by_edits = {one.trial.edits: one for one in judged}
        losses = self._losses(whole, [by_edits[trial.edits] for trial in told])
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

    def _losses(self, whole: _Judged, rests: Sequence[_Judged]) -> list[Loss]:
        """For each rest of the answer, the first thing that is lost when the whole becomes it."""
        sound = [rest.reached and self._is_allowed(rest.trial) for rest in rests]
        asked = [rest.trial for rest, is_sound in zip(rests, sound, strict=True) if is_sound]
        agreed, *each_agreed = self._agreed([whole.trial, *asked]) if asked else [0.0]
        agreements = iter(each_agreed)
        return [
            self._loss((whole.score, agreed), (rest.score, next(agreements)))
            if is_sound
            else (Loss.VALIDITY if rest.reached else Loss.CLASS)
            for rest, is_sound in zip(rests, sound, strict=True)
        ]

    def _loss(self, whole: tuple[float, float], rest: tuple[float, float]) -> Loss:
        """The loss between scores by the classifier and by the surrogates: the answer's, and those of its rest."""
        for level in self.by.levels:
            confidence, agreement = (self.goal.enough(least) - _ROUNDING for least in level)
            if whole[0] >= confidence and whole[1] >= agreement:
                if rest[0] < confidence:
                    return Loss.CONFIDENCE
                return Loss.AGREEMENT if rest[1] < agreement else Loss.NOTHING
        return Loss.NOTHING

    def _agreed(self, trials: Sequence[Remainder]) -> list[float]:
        """Scores of some graphs by the mean of the surrogates; 0 for each if there are none."""
        if not self.by.surrogates:
            return [0.0] * len(trials)
        outputs = torch.stack([self._outputs(model, trials) for model in self.by.surrogates])
        return self.goal.score(mean_outputs(outputs)).tolist()

    def _smallest(self, judged: Sequence[_Judged]) -> _Judged | None:
        """The smallest allowed graph that is still predicted as the target, found greedily; None if there is none."""
        first = self._smallest_of(judged, self.whole.size)
        return None if first is None else revert_all(first, self._still_smaller)

    def _still_smaller(self, found: _Judged) -> _Judged | None:
        said = sentences_for(self.told_before, found.trial.graph, found.trial.edits)
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

    def _without(self, said: Sequence[Sentence], number: int) -> Remainder:
        return Remainder(self.factual, self.before, make_possible(self.before, _kept(said, {number}), self.by.moves))

    def _finer(self, trial: Remainder) -> list[Remainder]:
        """The graphs in which one change of a trial is reverted as a search does it, if that makes them smaller."""
        sketches = reverted(self.by.moves, self.before, trial.ordered)
        finer = (Remainder(self.factual, self.before, sketch) for sketch in sketches)
        return [fewer for fewer in finer if fewer.is_smaller(trial)]

    def _asked(self, trials: Sequence[Remainder]) -> Float[Tensor, "b c"]:
        """The classifier's outputs for some graphs; raises BudgetSpent if it may not be shown so many."""
        self._reserve(len(trials))
        outputs = self._outputs(self.by.classifier, trials)
        self.used, self.left = self.used + len(trials), self.left - len(trials)
        return outputs

    def _outputs(self, model: AbstractClassifier, trials: Sequence[Remainder]) -> Float[Tensor, "b c"]:
        at_once = max(_MOST_PAIRS // self.factual.num_slots**2, 1)
        differences = [trial.difference for trial in trials]
        batches = (differences[at : at + at_once] for at in range(0, len(trials), at_once))
        return torch.cat([model(apply_differences(self.factual, batch)) for batch in batches])

    def _judge(self, trials: Sequence[Remainder]) -> list[_Judged]:
        """Graphs with the word of the classifier, which is asked about those of which it has said nothing before."""
        said = [self.known(trial.difference) for trial in trials]
        unheard = [trial for trial, before in zip(trials, said, strict=True) if before is None]
        fresh = iter(self._judged(unheard, self._asked(unheard)) if unheard else ())
        return [next(fresh) if one is None else _Judged(trial, *one) for trial, one in zip(trials, said, strict=True)]

    def _reserve(self, calls: int) -> None:
        if calls > self.left:
            raise BudgetSpent(f"{calls} more graphs must be classified; {self.left:g} may be. Allow more calls.")

    def _judged(self, trials: Sequence[Remainder], outputs: Float[Tensor, "b c"]) -> list[_Judged]:
        finite = outputs.isfinite().all(-1)
        said = (self.goal.reached(outputs) & finite).tolist(), self.goal.score(outputs).tolist()
        return [_Judged(*one) for one in zip(trials, *said, self.goal.shown(outputs).tolist(), strict=True)]

    def _is_allowed(self, trial: Remainder) -> bool:
        """True if a graph is as valid as the answer or the factual, and breaks no constraint."""
        if not trial.after.nodes or self._restrictions.broken(trial.difference, trial.counted) is not None:
            return False
        return trial.validity.reaches(self.least)

    @cached_property
    def _restrictions(self) -> Restrictions:
        return Restrictions.of(self.by.constraints, self.before, self.factual.schema)
