"""Figures of representative graphs: coverage and cost of ten counterfactual graphs, as GCFExplainer counts them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...explain.goals.classes import ClassGoal
from ...explain.moves.apply import apply_differences
from ...graph import Graph
from ...summary.graphs.representatives import Representatives, RepresentativeSearch
from ...summary.studies import Study
from .measure import GRAPHS, share_of, walk
from .subject import DESIRED, SummarySubject, Timer

ROUNDS = 12
"""Graphs that are looked for in each list, to choose ten from."""
COST_INPUTS = 100
"""Inputs from which the distance to the nearest chosen graph is measured."""
BASELINE_GRAPHS = 12
"""Graphs of each baseline to choose ten from."""
_WALK_STEPS = 200


def graph_figures(subject: SummarySubject) -> dict[str, Any]:
    """Coverage and cost of 10 counterfactual graphs: any graphs, molecules only, and those of baselines.

    The distance is that of the papers (kinds of bonds do not count); beside it stands the one in which they do.
    """
    timer, study = Timer(), Study.of(subject.explainer, DESIRED[subject.name], subject.options)
    inputs, goal = (
        [graph for _, _, graph in subject.rows],
        ClassGoal(study.explainer.kit.classes.index(DESIRED[subject.name])),
    )
    is_test = np.array([at % 2 == 1 for at, _, _ in subject.rows])
    free, bonds, valid = (
        RepresentativeSearch(inputs, study.explainer.kit.classifier, goal, subject.options.theta, *more)
        for more in ((None, False), (None, True), (study.moves, False))
    )
    weights = (~is_test).astype(float)
    found = free.search(ROUNDS, weights, subject.desired)
    timer.stop("graphs")
    figures = _figures(free, found, is_test)
    timer.stop("distances")
    figures["with_bonds"] = _figures(bonds, bonds.of(found.graphs), is_test)
    timer.stop("graphs, kinds of bonds counted")
    figures["valid"] = _figures(valid, valid.search(ROUNDS, weights, subject.desired), is_test)
    timer.stop("graphs, molecules only")
    for name, candidates in {"walk": _walked(subject, study, inputs), "answers": _answered(subject, inputs)}.items():
        figures[name] = _figures(free, free.of(candidates[:BASELINE_GRAPHS]), is_test)
        timer.stop(f"graphs of {name}")
    return {"graphs": figures, "minutes_graphs": timer.seconds["graphs"] / 60, "seconds_graphs": timer.rounded}


def _figures(search: RepresentativeSearch, found: Representatives, is_test: np.ndarray) -> dict[str, Any]:
    chosen, on_train = found.choose(GRAPHS), found.choose(GRAPHS, ~is_test)
    asked = range(0, len(is_test), max(1, len(is_test) // COST_INPUTS))
    costs = search.distances([found.graphs[c] for c in chosen.chosen], list(asked))
    near = found.near[list(on_train.chosen)][:, is_test]
    return {
        "inputs": len(is_test),
        "coverage": share_of(chosen.covered, GRAPHS, len(is_test)),
        "curve": [count / len(is_test) for count in chosen.covered],
        "cost": float(np.median(costs)),
        "cost_inputs": len(costs),
        "candidates": len(found.graphs),
        "train": share_of(on_train.covered, GRAPHS, int((~is_test).sum())),
        "held_out": float(near.any(0).mean()) if near.size else 0.0,
        "distance": "upper bounds by alignments: nearness is proved, true costs are not higher",
    }


def _walked(subject: SummarySubject, study: Study, inputs: Sequence[Graph]) -> list[Graph]:
    """The most visited counterfactuals of the random walk."""
    walked = walk(subject, study, _WALK_STEPS)[:BASELINE_GRAPHS]
    return [apply_differences(inputs[one.start], [one.difference]) for one in walked]


@torch.no_grad()
def _answered(subject: SummarySubject, inputs: Sequence[Graph]) -> list[Graph]:
    """Single answers for some inputs, evenly spread."""
    asked = list(inputs[:: max(1, len(inputs) // BASELINE_GRAPHS)])[:BASELINE_GRAPHS]
    answers = (several[0] for several in subject.explainer.explain_each(asked, DESIRED[subject.name]))
    return [one.counterfactual for one in answers if one.flipped and one.counterfactual is not None]
