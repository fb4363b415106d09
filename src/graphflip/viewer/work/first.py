"""The first answer to a question: found in haste, shown until the search has ended."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...data.inputs import InputRow, source_text
from ...explain.counterfactual import Counterfactual, Outcome
from ...explain.edits.matches import keep_matches
from ...explain.edits.slopes.sensitivity import with_estimates
from ...explain.explainer import Explainer
from ...explain.method import ask, settled
from ...explain.moves.apply import apply_differences
from ...explain.query import Query

_HASTE: dict[str, Any] = {
    "realism": None,
    "surrogates": (),
    "content_with": (),
    "concede_to": None,
    "frontier": False,
    "beam": 1,
    "look": 16,
    "price": 0.02,
    "max_moves": 6,
    "max_calls": 600,
    "patience": 1,
    "exchanges": 1,
}
"""Settings of a search that takes the first change that it meets: greedy, asking nobody but the classifier."""


@dataclass(frozen=True)
class FirstAnswers:
    """Answers to show while the search goes on, as the page gets them."""

    answers: list[dict[str, Any]]


def first_answer(
    explainer: Explainer, row: InputRow, query: Query, watch: Callable[[None], None]
) -> Counterfactual | None:
    """A change that flips the classifier's answer and keeps what is to stay, found in haste; None if there is none.

    Nothing is claimed of its changes: what each is needed for is examined in the answer that follows.
    """
    sure_enough = explainer.search(query, prefer="minimal").confidence
    hasty = dataclasses.replace(explainer.search(query), confidence=sure_enough, watch=lambda _: watch(None), **_HASTE)
    graph = explainer.read(row, query.parent)
    search = keep_matches(hasty, graph, query.freeze_smarts)
    question = ask(explainer.kit.classifier, graph, explainer.request(query.target), [row.id], query.seed)
    if bool(question.already_there[0]) or not bool(question.logits.isfinite().all()):
        return None
    (found,) = search.start(question.graph, question.goals[0], question.logits).run()
    if found.outcome is not Outcome.FLIPPED:
        return None
    after = apply_differences(question.graph, [found.candidate.difference])
    shown = {"p_counterfactual": found.candidate.probability, "source": source_text(row)}
    answer = settled(
        question.answer(0, search.method, after, found.outcome, **shown), explainer.kit.classifier, question.logits[0]
    )
    return explainer.assess(*with_estimates([answer], explainer.kit.classifier))
