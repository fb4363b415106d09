"""Taken: whatever a method returns is taken as it is, asked of the classifier again, and aligned by edit distance."""

import dataclasses
import time
from dataclasses import dataclass

from ...explain.counterfactual import Counterfactual, Outcome
from ...explain.method import AbstractExplainer, Question, verdict
from ...models.networks.classifier import AbstractClassifier
from ..foreign import nearest_alignment

DENIED = "the method claims a flip that the classifier denies"


@dataclass(frozen=True)
class Taken(AbstractExplainer):
    """Runs a method and looks at its answers anew: the outcome is the classifier's word, edits are the fewest known.

    Seconds of an answer are processor time, the mean of its batch: wall time would measure what else the machine does.

    Args:
        explainer: The method.
        ged_seconds: Time limit for the edit distance of a pair. Where the distance finds a nearer alignment than the
            method's own, the answer is aligned by it.
        method: Name in tables and files.
    """

    explainer: AbstractExplainer
    ged_seconds: float
    method: str

    @property
    def classifier(self) -> AbstractClassifier:
        """The model that is explained."""
        return self.explainer.classifier

    def explain_batch(self, question: Question) -> list[Counterfactual]:
        started = time.process_time()
        answers = self.explainer.explain_batch(question)
        seconds = (time.process_time() - started) / max(len(answers), 1)
        answers = [dataclasses.replace(answer, seconds=seconds) for answer in answers]
        return [self._look(question, k, answer) for k, answer in enumerate(answers)]

    def _look(self, question: Question, k: int, answer: Counterfactual) -> Counterfactual:
        # The method's own extras (claims about single changes, paths) belong to its own alignment.
        plain = dataclasses.replace(answer, method=self.method, path=None, needed_for=None, smaller=None)
        plain = dataclasses.replace(plain, importance=None, one_minimal=None, evidence=None)
        graph = answer.counterfactual
        if graph is None:
            outcome = Outcome.NOTHING_TO_OFFER if answer.flipped else answer.outcome
            return dataclasses.replace(plain, outcome=outcome, note=DENIED if answer.flipped else answer.note)
        graph = graph.pad(question.graph.num_slots)
        (outcome,), probability = verdict(self.classifier, graph, question.goals[k : k + 1])
        if not answer.flipped and outcome is Outcome.NOT_FLIPPED:
            outcome = answer.outcome  # the method knows better why
        note = DENIED if answer.flipped and outcome is not Outcome.FLIPPED else answer.note
        return dataclasses.replace(
            plain,
            counterfactual=nearest_alignment(answer.factual.pad(graph.num_slots), graph, self.ged_seconds),
            outcome=outcome,
            p_counterfactual=float(probability),
            note=note,
        )
