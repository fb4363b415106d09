"""Proposals: transformations that are worth trying, read off single answers and off single moves."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import torch

from ..explain.counterfactual import Counterfactual
from ..explain.goals.goal import AbstractGoal
from ..explain.moves.apply import apply_differences
from ..explain.moves.difference import Difference
from ..explain.moves.moves import Moves
from ..explain.moves.sketch import Sketch
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .transformations import Transformation, transformations_between

_BATCH = 512


def from_answers(answers: Iterable[Counterfactual], moves: Moves) -> Counter[Transformation]:
    """Count the transformations in single answers: those of single places, and those of whole answers.

    Args:
        answers: Answers of an explainer; those without a flip are left out.
        moves: Moves of the schema.

    Returns:
        Number of answers in which each transformation occurs.
    """
    found: Counter[Transformation] = Counter()
    for answer in answers:
        if answer.flipped and answer.counterfactual is not None:
            n = max(answer.factual.num_slots, answer.counterfactual.num_slots)
            before, after = (Sketch.of(graph.pad(n)) for graph in (answer.factual, answer.counterfactual))
            found.update(transformations_between(before, after, moves))
    return found


class Proposed(NamedTuple):
    """Transformations worth trying, and the share of all single moves that flip the graph."""

    changes: list[Transformation]
    flipping: float


@torch.no_grad()
def from_moves(
    graph: Graph, goal: AbstractGoal, score: float, classifier: AbstractClassifier, moves: Moves, most: int = 40
) -> Proposed:
    """List the transformations of the single moves of a graph that bring the goal nearest.

    Args:
        graph: A batch of one hard graph.
        goal: What its prediction is to become.
        score: Score of the graph as it is.
        classifier: The classifier that is summarized.
        moves: Moves of the schema.
        most: Largest number of moves that are read.

    Returns:
        Transformations of moves that flip, best first, then of those that come nearest to it; and the share that flip.
    """
    factual = Sketch.of(graph)
    steps: dict[tuple, Difference] = {}
    after_of: dict[tuple, Sketch] = {}
    for _, after in moves.steps(factual, factual):
        key = after.colors(2)
        if key not in steps:
            steps[key], after_of[key] = Difference.between(factual, after), after
    keys = [key for key in steps if steps[key].size]
    ranked: list[tuple[bool, float, int]] = []
    for start in range(0, len(keys), _BATCH):
        part = keys[start : start + _BATCH]
        outputs = classifier(apply_differences(graph, [steps[key] for key in part]))
        scores, reached = goal.score(outputs).nan_to_num(-1e9).tolist(), goal.reached(outputs).tolist()
        ranked += [(not yes, -value, start + k) for k, (yes, value) in enumerate(zip(reached, scores, strict=True))]
    better = [row for row in sorted(ranked) if -row[1] > score][:most]
    found = [transformations_between(factual, after_of[keys[k]], moves) for *_, k in better]
    flipping = sum(not other for other, *_ in ranked) / max(1, len(ranked))
    return Proposed(list(dict.fromkeys(one for several in found for one in several[:1])), flipping)
