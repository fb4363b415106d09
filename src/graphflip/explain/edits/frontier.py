"""The frontier of answers: none of them beats another in edits, belief and realism at once."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch

from ...graph import Graph
from ..counterfactual import Counterfactual
from ..goals.batches import mean_outputs
from ..moves.sketch import Sketch
from .beam import Round
from .candidates import Candidate, undominated, votes_for
from .search import EditSearch


def watched(searches: Sequence[EditSearch], watch: Callable[[Round], None]) -> list[EditSearch]:
    """Searches that follow each other and tell a watcher of their progress as if they were one."""

    def part(k: int, progress: Round) -> None:
        most = progress.max_turns
        watch(dataclasses.replace(progress, turn=k * most + progress.turn, max_turns=len(searches) * most))

    return [dataclasses.replace(search, watch=partial(part, k)) for k, search in enumerate(searches)]


def explain_frontier(
    search: EditSearch, ends: Sequence[EditSearch], graph: Graph, **asked: Any
) -> list[Counterfactual]:
    """Answers from the smallest change to the most believable one.

    Args:
        search: Search in between, whose frontier is taken.
        ends: Searches for the smallest change and for the most believable one.
        graph: A single graph.
        **asked: Target, id and seed, as in `EditSearch.explain`.

    Returns:
        Answers of all searches that none of the others beats.
    """
    answers = dataclasses.replace(search, frontier=True).explain(graph, **asked)
    return frontier_of([*answers, *(end.explain(graph, **asked)[0] for end in ends)], search)


@torch.no_grad()
def frontier_of(answers: Iterable[Counterfactual], search: EditSearch) -> list[Counterfactual]:
    """Choose the answers that no other beats, fewest edits first.

    Args:
        answers: Answers to one question, by any search; those that do not flip are left out if any does.
        search: Search whose models say how far answers are believed, and whose realism says how strange they are.

    Returns:
        Answers of which none has fewer edits, more belief and less strangeness than another; the first one if none
        flips.
    """
    answers = list(answers)
    judged = [(_judged(answer, search), answer) for answer in answers if answer.flipped]
    kept = undominated(candidate for candidate, _ in judged)
    return [answer for candidate in kept for each, answer in judged if each is candidate] or answers[:1]


def _judged(answer: Counterfactual, search: EditSearch) -> Candidate:
    """An answer as a candidate, with the votes of the models and its strangeness."""
    assert answer.counterfactual is not None
    slots = max(answer.factual.num_slots, answer.counterfactual.num_slots)
    factual, after = (graph.pad(slots) for graph in (answer.factual, answer.counterfactual))
    before = Sketch.of(factual)
    candidate = Candidate.of(before, Sketch.of(after), factual.schema)
    models = [(search.classifier,), *([search.surrogates] if search.surrogates else [])]
    outputs = [mean_outputs(torch.stack([model(after) for model in part])) for part in models]
    candidate = candidate.with_votes(votes_for(output, answer.goal)[0] for output in outputs)
    strangeness = 0.0 if search.realism is None else search.realism.beside(before).price(candidate)
    return dataclasses.replace(candidate, strangeness=strangeness)
