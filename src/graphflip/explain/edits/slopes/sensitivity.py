"""Sensitivity: how much each node of a graph holds a prediction, by the gradient of the classifier."""

import dataclasses
from collections.abc import Sequence
from math import exp, log

from ....errors import BudgetSpent
from ....graph import Graph
from ....models.networks.classifier import AbstractClassifier
from ...claims.importance import Importance
from ...counterfactual import Counterfactual
from ...goals.goal import AbstractGoal
from .gradients import gradients

_LEAST = 1e-6
"""Probabilities are kept so far from 0 and 1."""


def with_estimates(answers: Sequence[Counterfactual], classifier: AbstractClassifier) -> list[Counterfactual]:
    """Add estimates of nodes at which nothing was tried to answers about one graph, if the classifier has gradients."""
    slopes: dict[str, dict[int, float]] = {}  # by target, as several answers may have several
    known = []
    for answer in answers:
        if str(answer.target) not in slopes:
            slopes[str(answer.target)] = node_slopes(classifier, answer.factual, answer.goal)
        found = estimate(slopes[str(answer.target)], answer.goal, answer.p_factual, answer.importance)
        known.append(dataclasses.replace(answer, importance=found))
    return known


def node_slopes(classifier: AbstractClassifier, graph: Graph, goal: AbstractGoal) -> dict[int, float]:
    """Rise of the target's log-odds, or of the score of a value, as each node loses its attributes, to first order.

    Empty if the classifier has no gradient, or may not be asked any more.
    """
    graph = graph.ample()
    try:
        found = gradients([classifier], graph, goal)
    except BudgetSpent:
        found = None
    if found is None:
        return {}
    slopes, V = found[0].nodes, graph.V[0].numpy()  # n 1+dv, n dv
    return {i: -float(slopes[i, 0] + slopes[i, 1:] @ V[i]) for i, node in enumerate(graph.nodes()) if node is not None}


def estimate(
    slopes: dict[int, float], goal: AbstractGoal, probability: float, tried: Importance | None = None
) -> Importance | None:
    """Effects that were tried, and by slopes those of all other nodes; None if there is nothing of either.

    Args:
        slopes: Slopes of `node_slopes`.
        goal: The target.
        probability: Its probability for the graph itself.
        tried: Effects of single changes. If there are any, estimates have their scale: of the nodes that have both, the
            effects are as large on average; and none is larger than the largest that was tried.
    """
    tried = Importance({}, {}) if tried is None else tried
    both = [i for i in slopes if i in tried.nodes]
    size = sum(abs(slopes[i]) for i in both)
    if size > 0:
        scale = sum(abs(tried.nodes[i]) for i in both) / size
        effects = {i: min(max(scale * slope, -tried.largest), tried.largest) for i, slope in slopes.items()}
    elif goal.unit == "probability":
        effects = {i: _rise(probability, slope) for i, slope in slopes.items()}
    else:
        effects = slopes
    left = {i: effect for i, effect in effects.items() if i not in tried.nodes}
    return dataclasses.replace(tried, estimated=left) if left or tried.nodes else None


def _rise(probability: float, slope: float) -> float:
    """Rise of a probability by so much on the scale of log-odds."""
    p = min(max(probability, _LEAST), 1.0 - _LEAST)
    return 1.0 / (1.0 + exp(-max(min(log(p / (1.0 - p)) + slope, 50.0), -50.0))) - p
