"""Figures: what the recourses of a shortlist did to all graphs, and the chosen ones with examples."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float

from ..edits import heavy_edits
from ..errors import DataError
from ..explain.counterfactual import Counterfactual, Outcome
from ..explain.goals.goal import AbstractGoal
from ..explain.method import verdict
from ..explain.moves.apply import apply_differences
from ..graph import Graph
from .recourses import Recourse
from .results.summary import CommonRecourse, Share
from .studies import Seen, Study, Tries
from .wording import context_words, recourse_words

_EXAMPLES = 3
_JUDGED = 100
_NEAR = 0.35


class SeenInput(NamedTuple):
    """A graph of the input as later steps need it: its place, its id, and what the models say of it."""

    place: int
    id: str
    seen: Seen


class Shortlist(NamedTuple):
    """Recourses to try on all graphs; the first `num_chosen_from` are to choose from, the others are a baseline.

    `flipping` is the share of all single moves of the sample that flip a graph.
    """

    recourses: tuple[Recourse, ...]
    num_chosen_from: int
    flipping: float = 0.0


@dataclass(frozen=True, eq=False)
class Tried:
    """Results of the recourses of one direction on all of its graphs.

    Args:
        inputs: The graphs, in an order that depends on them alone.
        num_chosen_from: Recourses to choose from; the others are a baseline.
        held_out: True for graphs that recourses are not chosen on.
        applies: True where a recourse applies.
        flips: True where it flips.
        shown: Probability of the goal, or predicted value, of the best result.
        cost: Its normalized cost.
        column: For each place of an input, its column.
        flipping: Share of all single moves of a sample that flip.
    """

    inputs: Sequence[SeenInput]
    num_chosen_from: int
    held_out: Bool[np.ndarray, " n"]
    applies: Bool[np.ndarray, "r n"]
    flips: Bool[np.ndarray, "r n"]
    shown: Float[np.ndarray, "r n"]
    cost: Float[np.ndarray, "r n"]
    column: dict[int, int]
    flipping: float = 0.0

    @classmethod
    def empty(cls, shortlist: Shortlist, inputs: Sequence[SeenInput], held_out: Sequence[bool]) -> "Tried":
        """Make room for the results."""
        shape = len(shortlist.recourses), len(inputs)
        return cls(
            inputs,
            shortlist.num_chosen_from,
            np.array(held_out, dtype=bool),
            np.zeros(shape, dtype=bool),
            np.zeros(shape, dtype=bool),
            np.full(shape, np.nan, dtype=np.float32),
            np.full(shape, np.nan, dtype=np.float32),
            {one.place: column for column, one in enumerate(inputs)},
            shortlist.flipping,
        )

    def add(self, place: int, results: Tries) -> None:
        """Note the results of one graph."""
        if results is None or place not in self.column:
            return
        at = self.column[place]
        for k, (flipped, shown, cost) in results.items():
            self.applies[k, at], self.flips[k, at], self.shown[k, at], self.cost[k, at] = True, flipped, shown, cost


def curve_of(flips: Bool[np.ndarray, "k n"]) -> tuple[float, ...]:
    """Share of graphs that the first 1, 2, ... recourses flip."""
    if not flips.shape[1]:
        return (0.0,) * len(flips)
    return tuple(float(share) for share in np.logical_or.accumulate(flips, 0).mean(1)) if len(flips) else ()


def why_uncovered(tried: Tried, chosen: Sequence[int]) -> dict[str, int]:
    """Count the held-out graphs that no chosen recourse flips, by reason."""
    rows = list(chosen)
    left = tried.held_out & ~tried.flips[rows].any(0)
    nowhere = left & ~tried.applies[rows].any(0)
    best = np.nanmax(np.nan_to_num(tried.shown[rows], nan=-np.inf), 0, initial=-np.inf)
    near = left & ~nowhere & (best >= _NEAR) & (best <= 1)
    counts = {
        "no place for any change within the cost": int(nowhere.sum()),
        "brought near the target (probability 0.35 or more)": int(near.sum()),
        "hardly moved by any change": int((left & ~nowhere & ~near).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}


def described(
    study: Study,
    direction: int,
    tried: Tried,
    chosen: Sequence[int],
    read: Callable[[Sequence[SeenInput]], dict[int, Graph]],
) -> tuple[CommonRecourse, ...]:
    """Give the chosen recourses their figures, words and examples.

    Args:
        study: The study with its recourses.
        direction: Number of the direction.
        tried: Results of all recourses of the direction.
        chosen: Numbers of the chosen ones, in order.
        read: Gives the graphs of some inputs, by place.
    """
    shown = {k: _shown(tried, k) for k in chosen}
    graphs = read([tried.inputs[column] for flips, fails in shown.values() for column in (*flips, *fails)])
    before = np.zeros(len(tried.inputs), dtype=bool)
    figures = []
    for k in chosen:
        flips = tried.flips[k]
        overlap = float((flips & before).sum() / max(1, flips.sum()))
        gain = int((flips & ~before & ~tried.held_out).sum())
        answers = [
            [_answer(study, direction, tried.inputs[c], graphs[tried.inputs[c].place], k) for c in columns]
            for columns in shown[k]
        ]
        figures.append(_figures(study, direction, tried, k, answers, gain, overlap))
        before |= flips
    return tuple(figures)


def _shown(tried: Tried, k: int) -> tuple[list[int], list[int]]:
    """Columns of some flips, cheapest first and held-out ones before others, and of some failures."""
    flips = np.flatnonzero(tried.flips[k])
    fails = np.flatnonzero(tried.applies[k] & ~tried.flips[k])
    first = sorted(flips, key=lambda c: (not tried.held_out[c], tried.cost[k, c], c))
    worst = sorted(fails, key=lambda c: (not tried.held_out[c], c))
    return [int(c) for c in first[:_JUDGED]], [int(c) for c in worst[:_EXAMPLES]]


def _figures(
    study: Study, direction: int, tried: Tried, k: int, answers: list[list[Counterfactual]], gain: int, overlap: float
) -> CommonRecourse:
    recourse = study.recourses[direction][k]
    applies, flips, out = tried.applies[k], tried.flips[k], tried.held_out
    flipped, failed = answers
    once = [one for one in (*flipped, *failed) if one.counterfactual is not None]
    words = recourse_words(once[0].factual, once[0].counterfactual) if once and once[0].counterfactual else ""
    return CommonRecourse(
        recourse,
        min((_words(one) for one in flipped), key=lambda text: (len(text), text), default=words),
        context_words(recourse),
        Share(int(applies.sum()), len(applies)),
        Share(int(flips.sum()), int(applies.sum())),
        Share(int((flips & out).sum()), int((applies & out).sum())),
        _judges(study, flipped),
        fmean(len(heavy_edits(one.factual, one.edits)) for one in flipped) if flipped else 0.0,
        float(np.nanmean(tried.cost[k][flips])) if flips.any() else 0.0,
        gain,
        overlap,
        tuple(sorted(tried.inputs[int(c)].id for c in np.flatnonzero(flips))),
        tuple(study.explainer.assess(one) for one in flipped[:_EXAMPLES]),
        tuple(failed),
    )


def _words(answer: Counterfactual) -> str:
    return "" if answer.counterfactual is None else recourse_words(answer.factual, answer.counterfactual)


@torch.no_grad()
def _judges(study: Study, flipped: Sequence[Counterfactual]) -> dict[str, Share]:
    """For each judge, the flips that it agrees with."""
    agreed: Counter[str] = Counter()
    for one in flipped:
        for name, judge in study.explainer.kit.judges.items():
            agreed[name] += bool(one.goal.reached(judge(one.counterfactual))[0]) if one.counterfactual else False
    return {name: Share(agreed[name], len(flipped)) for name in study.explainer.kit.judges}


def _answer(study: Study, direction: int, one: SeenInput, graph: Graph, k: int) -> Counterfactual:
    """The result of a recourse on a graph as an answer, after asking the classifier again."""
    goal = study.goal(direction, one.seen.outputs)
    recourse = study.recourses[direction][k]
    if goal is None:
        raise DataError(f"{one.id}: its prediction must not be the target already; it is. Summarize again.")
    outputs = torch.tensor(one.seen.outputs)
    (trial,) = study.trier.try_all(graph, goal, float(goal.score(outputs)), [recourse])
    if trial.difference is None:
        return Counterfactual(
            one.id, "recourse", goal, graph, None, float(goal.shown(outputs)), None, Outcome.NOT_FLIPPED
        )
    return _asked_again(
        study, one.id, graph, goal, apply_differences(graph, [trial.difference]), float(goal.shown(outputs))
    )


def _asked_again(
    study: Study, name: str, graph: Graph, goal: AbstractGoal, after: Graph, p_factual: float
) -> Counterfactual:
    kit = study.explainer.kit
    (outcome,), shown = verdict(kit.classifier, after.ample(), [goal])
    return Counterfactual(name, "recourse", goal, graph, after, p_factual, float(shown), outcome, classes=kit.classes)
