"""Figures of a subject: coverage of recourses and of counterfactual graphs, ours and those of baselines."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...explain.goals.goal import AbstractGoal
from ...explain.moves.apply import apply_differences
from ...explain.moves.sketch import Sketch
from ...graph import Graph
from ...summary.coverage import greedy_cover
from ...summary.figures import curve_of
from ...summary.graphs.walk import Visited, random_walk
from ...summary.proposals import from_answers
from ...summary.recourses import Recourse
from ...summary.studies import Study
from ...summary.transformations import Transformation, transformations_between
from .subject import SubjectTrials, SummarySubject

R = 100
"""Number of recourses, as in ComRecGC."""
GRAPHS = 10
"""Number of counterfactual graphs, as in GCFExplainer."""
BASELINE_INPUTS = 100
"""Inputs on which recourses of the baselines are tried."""


def recourse_figures(trial: SubjectTrials) -> dict[str, Any]:
    """Coverage of 100 and of 10 recourses on all inputs, and on test graphs of 10 that were chosen on the others."""
    tried, recourses = trial.tried, trial.study.recourses[0]
    flips = tried.flips[: tried.num_chosen_from]
    ranks = [one.rank for one in recourses[: tried.num_chosen_from]]
    every, train = greedy_cover(flips, R, ranks), greedy_cover(flips[:, ~tried.held_out], GRAPHS, ranks)
    first = list(train.chosen)
    chosen_on, held_out = (curve_of(flips[first][:, part]) for part in (~tried.held_out, tried.held_out))
    total = flips.shape[1]
    return {
        "inputs": total,
        "inputs_test": int(tried.held_out.sum()),
        "coverage": share_of(every.covered, R, total),
        "coverage_10": share_of(every.covered, GRAPHS, total),
        "bound_10": every.bounds[min(GRAPHS, len(every.bounds)) - 1] / total if every.bounds else 0.0,
        "num": len(every.chosen),
        "curve": [count / total for count in every.covered],
        "train_10": chosen_on[-1] if chosen_on else 0.0,
        "held_out": held_out[-1] if held_out else 0.0,
        "cost": _median_cost(tried.cost[: tried.num_chosen_from], flips, list(every.chosen)),
    }


def share_of(covered: Sequence[int], k: int, total: int) -> float:
    """Share of all inputs that the first k of a cover have."""
    return covered[min(k, len(covered)) - 1] / total if covered and total else 0.0


def _median_cost(cost: np.ndarray, flips: np.ndarray, chosen: list[int]) -> float | None:
    """Median over the covered inputs of the cost of the cheapest flip."""
    best = np.where(flips[chosen], cost[chosen], np.inf).min(0, initial=np.inf)
    return float(np.median(best[np.isfinite(best)])) if np.isfinite(best).any() else None


def baseline_recourses(subject: SummarySubject, trial: SubjectTrials, walked: Sequence[Visited]) -> dict[str, Any]:
    """Coverage of the most frequent changes of single answers, and of the most visited ones of the random walk."""
    study, graphs = trial.study, [graph for _, _, graph in subject.rows]
    counted: Counter[Transformation] = Counter()
    for one in walked:
        before = Sketch.of(graphs[one.start])
        after = Sketch.of(apply_differences(graphs[one.start], [one.difference]))
        counted.update(dict.fromkeys(transformations_between(before, after, study.moves), one.count))
    lists = {
        "answers": frequent(from_answers(trial.answers, study.moves)),
        "walk": frequent(counted),
    }
    rows = subject.rows[:: max(1, len(subject.rows) // BASELINE_INPUTS)]
    figures = {}
    for name, recourses in lists.items():
        own = study.with_recourses([recourses])
        flips = np.zeros((len(recourses), len(rows)), dtype=bool)
        for column, (_, _, graph) in enumerate(rows):
            for k, (flipped, _, _) in (own.results(graph)[0] or {}).items():
                flips[k, column] = flipped
        cover = greedy_cover(flips, R)
        figures[name] = {
            "inputs": len(rows),
            "coverage": share_of(cover.covered, R, len(rows)),
            "coverage_10": share_of(cover.covered, GRAPHS, len(rows)),
            "num": len(recourses),
        }
    return figures


def frequent(counted: Counter[Transformation]) -> list[Recourse]:
    """The transformations that occur most often."""
    ranked = sorted(counted, key=lambda change: (-counted[change], change.num_edits, change.key))
    return [Recourse(change) for change in ranked[:R]]


def walk(subject: SummarySubject, study: Study, steps: int) -> list[Visited]:
    """The random walk over the inputs of a subject."""
    classifier = subject.explainer.kit.classifier

    def goal(graph: Graph) -> AbstractGoal | None:
        return study.goal(0, classifier(graph)[0].tolist())

    return random_walk(study, [graph for _, _, graph in subject.rows], goal, steps, subject.options.seed)


def believed_figures(subject: SummarySubject, trial: SubjectTrials) -> dict[str, Any]:
    """Coverage on some inputs if flips count only where the surrogates agree, with recourses of the same shortlist."""
    options = replace(subject.options, believed=True)
    study = replace(trial.study, options=options)
    rows = subject.rows[:: max(1, len(subject.rows) // BASELINE_INPUTS)]
    flips = np.zeros((trial.tried.num_chosen_from, len(rows)), dtype=bool)
    for column, (_, _, graph) in enumerate(rows):
        for k, (flipped, _, _) in (study.results(graph)[0] or {}).items():
            if k < len(flips):
                flips[k, column] = flipped
    covered = greedy_cover(flips, R).covered
    shares = {f"coverage{name}": share_of(covered, k, len(rows)) for name, k in (("", R), ("_10", GRAPHS))}
    return {"inputs": len(rows), **shares}
