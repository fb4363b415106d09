"""Ceilings: what no list of recourses or graphs can be expected to pass, measured on the same inputs."""

from typing import Any

import numpy as np

from ...explain.goals.classes import ClassGoal
from ...explain.moves.difference import Difference
from ...explain.moves.sketch import Sketch
from ...summary.graphs.representatives import RepresentativeSearch
from .measure import GRAPHS, share_of
from .subject import DESIRED, SummarySubject

ANSWERED = 60
"""Test inputs for which the smallest change is looked for."""
COMPARED = 600
"""Inputs that are compared with real graphs of the wanted class."""


def ceiling_figures(subject: SummarySubject) -> dict[str, Any]:
    """Shares of inputs that a change of their own flips within theta, and that are near any real graph of the class."""
    return {"ceilings": {"single_answers": _single_answers(subject), "real_graphs": _real_graphs(subject)}}


def _single_answers(subject: SummarySubject) -> dict[str, Any]:
    """Share of test inputs whose smallest valid change that was found costs at most theta.

    A recourse has to suit many graphs; `minimal` answers suit one each.
    """
    tests = [graph for at, _, graph in subject.rows if at % 2 == 1]
    asked = tests[:: max(1, len(tests) // ANSWERED)][:ANSWERED]
    schema, costs = subject.explainer.kit.schema, []
    for graph, (best, *_) in zip(
        asked, subject.explainer.explain_each(asked, DESIRED[subject.name], prefer="minimal"), strict=True
    ):
        if not best.flipped or best.counterfactual is None:
            costs.append(np.inf)
            continue
        before, after = Sketch.of(graph), Sketch.of(best.counterfactual)
        costs.append(Difference.between(before, after).cost(schema) / (sum(before.size) + sum(after.size)))
    within = np.array(costs) <= subject.options.theta
    return {"inputs": len(asked), "coverage": float(within.mean()), "cost": float(np.median(costs))}


def _real_graphs(subject: SummarySubject) -> dict[str, Any]:
    """Share of inputs near one of all train graphs of the wanted class, and near one of the best ten of them."""
    inputs = [graph for _, _, graph in subject.rows]
    inputs = inputs[:: max(1, len(inputs) // COMPARED)]
    kit = subject.explainer.kit
    goal = ClassGoal(kit.classes.index(DESIRED[subject.name]))
    search = RepresentativeSearch(inputs, kit.classifier, goal, subject.options.theta, kinds=False)
    real = search.among(subject.desired)
    return {
        "inputs": len(inputs),
        "graphs": len(subject.desired),
        "coverage": float(real.near.any(0).mean()),
        "coverage_10": share_of(real.choose(GRAPHS).covered, GRAPHS, len(inputs)),
    }
