"""The first answer to a question that takes long: found in haste, shown until the search has ended."""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...data.inputs import InputRow, source_text
from ...explain.counterfactual import Counterfactual
from ...explain.edits.matches import keep_matches
from ...explain.explainer import Explainer
from ...explain.query import Query

_SECONDS = 0.15
"""Processor time of a search after which a first answer is wanted."""
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


class Clock:
    """Says once, when a search has taken a while, that a first answer is wanted."""

    def __init__(self) -> None:
        self._began, self._rang = time.process_time(), False

    def rings(self) -> bool:
        """True the first time that it is asked after that."""
        if self._rang or time.process_time() - self._began < _SECONDS:
            return False
        self._rang = True
        return True


def first_answer(
    explainer: Explainer, row: InputRow, query: Query, watch: Callable[[None], None]
) -> Counterfactual | None:
    """A change that flips the classifier's answer and keeps what is to stay, found in haste; None if there is none."""
    sure_enough = explainer.search(query, prefer="minimal").confidence
    hasty = dataclasses.replace(explainer.search(query), confidence=sure_enough, watch=lambda _: watch(None), **_HASTE)
    graph = explainer.read(row, query.parent)
    search = keep_matches(hasty, graph, query.freeze_smarts)
    (found,) = search.explain(graph, explainer.request(query.target), ids=[row.id], seed=query.seed)
    if not found.flipped:
        return None
    return explainer.assess(dataclasses.replace(found, source=source_text(row)))
