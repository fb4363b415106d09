"""Trials: transformations made at every site of a graph, and what the classifier says of the results."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from ..explain.goals.batches import mean_outputs
from ..explain.goals.goal import AbstractGoal
from ..explain.moves.apply import apply_differences
from ..explain.moves.difference import Difference
from ..explain.moves.sketch import Sketch
from ..graph import Graph
from ..models.networks.classifier import AbstractClassifier
from .applying import Applier
from .recourses import Recourse
from .sites import PatternIndex, Site

_BATCH = 256
_JUST_ENOUGH = math.log(0.5)


class RecourseTrial(NamedTuple):
    """The best that a transformation does to a graph.

    Args:
        applies: True if it can be made somewhere within the allowed cost.
        flipped: True if the result reaches the goal.
        score: Score of the best result; minus infinity if there is none.
        shown: Its probability of the goal, or its predicted value.
        cost: Edits over the number of nodes and edges of both graphs: an upper bound of the normalized edit distance.
        edits: Cost of the edits alone.
        times: Number of places at which it was made.
        site: The first of them.
        difference: What changed in all.
    """

    applies: bool = False
    flipped: bool = False
    score: float = -math.inf
    shown: float = math.nan
    cost: float = math.nan
    edits: float = math.nan
    times: int = 0
    site: Site = ()
    difference: Difference | None = None


NO_TRIAL = RecourseTrial()


@dataclass(frozen=True, eq=False)
class Trier:
    """Tries transformations on graphs.

    Args:
        classifier: The classifier that is summarized.
        applier: Makes the transformations.
        surrogates: Models whose mean must agree for a flip to count; none if the classifier's word is enough.
        theta: Largest cost of a result, as in `RecourseTrial`.
        times: Most places of one graph at which a transformation is made, one after another while that helps.
        most_sites: Most sites that are tried in a round.
    """

    classifier: AbstractClassifier
    applier: Applier
    surrogates: tuple[AbstractClassifier, ...] = ()
    theta: float = 0.1
    times: int = 3
    most_sites: int = 8

    @torch.no_grad()
    def try_all(
        self, graph: Graph, goal: AbstractGoal, score: float, recourses: Sequence[Recourse]
    ) -> list[RecourseTrial]:
        """Try every recourse on one graph.

        Args:
            graph: A batch of one hard graph.
            goal: What its prediction is to become.
            score: Score of the graph as it is.
            recourses: The recourses.

        Returns:
            The best trial of each; `NO_TRIAL` where it does not apply.
        """
        factual = Sketch.of(graph)
        best = [NO_TRIAL] * len(recourses)
        states: dict[int, Sketch] = dict.fromkeys(range(len(recourses)), factual)
        for turn in range(self.times):
            results = self._results(factual, states, recourses)
            trials = self._asked(graph, goal, results, turn + 1)
            states = {}
            for (k, _, after, _), trial in zip(results, trials, strict=True):
                if _is_better(trial, best[k]):
                    best[k] = trial
                    states[k] = after
            gone_on = {k for k in states if self._may_get_there(best[k], score, turn + 1)}
            states = {k: states[k] for k in gone_on}
            if not states:
                break
        return best

    def sites_of(
        self, graph: Graph, goal: AbstractGoal, recourse: Recourse
    ) -> tuple[PatternIndex, list[tuple[Site, RecourseTrial]]]:
        """Try a recourse once at each site of a graph.

        Args:
            graph: A batch of one hard graph.
            goal: What its prediction is to become.
            recourse: The recourse.

        Returns:
            The graph prepared for looking at sites, and the sites within the allowed cost with their trials.
        """
        factual = Sketch.of(graph)
        results = self._results(factual, {0: factual}, [recourse])
        with torch.no_grad():
            trials = self._asked(graph, goal, results, 1)
        sites = [(site, trial) for (_, site, _, _), trial in zip(results, trials, strict=True)]
        return PatternIndex(factual, self.applier.moves), sites

    def _may_get_there(self, trial: RecourseTrial, start: float, turn: int) -> bool:
        """True if as much progress at the remaining places as at those before would reach the goal."""
        gained = (trial.score - start) / turn
        left = self.times - turn
        return not trial.flipped and gained > 0 and left > 0 and trial.score + left * gained >= _JUST_ENOUGH

    def _results(
        self, factual: Sketch, states: dict[int, Sketch], recourses: Sequence[Recourse]
    ) -> list[tuple[int, Site, Sketch, Difference]]:
        """All graphs that the transformations lead to from their states, within the allowed cost."""
        indexes: dict[int, PatternIndex] = {}
        results = []
        for k, state in states.items():
            index = indexes.setdefault(id(state), PatternIndex(state, self.applier.moves))
            for site in index.sites(recourses[k].change, recourses[k].context, self.most_sites):
                after = self.applier.apply(recourses[k].change, site, state, factual)
                if after is not None:
                    difference = Difference.between(factual, after)
                    if 0 < self._cost(factual, after, difference) <= self.theta:
                        results.append((k, site, after, difference))
        return results

    def _cost(self, factual: Sketch, after: Sketch, difference: Difference) -> float:
        return difference.cost(self.applier.moves.schema) / (sum(factual.size) + sum(after.size))

    def _asked(
        self, graph: Graph, goal: AbstractGoal, results: list[tuple[int, Site, Sketch, Difference]], times: int
    ) -> list[RecourseTrial]:
        trials: list[RecourseTrial] = []
        schema, size = graph.schema, float(graph.num_nodes[0] + graph.num_edges[0])
        for start in range(0, len(results), _BATCH):
            part = results[start : start + _BATCH]
            changed = apply_differences(graph, [difference for *_, difference in part])
            outputs = self.classifier(changed)
            finite = outputs.isfinite().all(-1)
            score = torch.where(finite, goal.score(outputs), -torch.inf).tolist()
            reached, shown = self._agreed(goal, changed, goal.reached(outputs) & finite), goal.shown(outputs).tolist()
            for (_, site, after, difference), row in zip(part, zip(reached, score, shown, strict=True), strict=True):
                edits = difference.cost(schema)
                cost = edits / (size + sum(after.size))
                trials.append(
                    RecourseTrial(True, *row, cost=cost, edits=edits, times=times, site=site, difference=difference)
                )
        return trials

    def _agreed(self, goal: AbstractGoal, graphs: Graph, reached: Bool[Tensor, " b"]) -> list[bool]:
        """True for graphs that reach the goal by the classifier, and by the mean of the surrogates if there are any."""
        if self.surrogates and bool(reached.any()):
            at = reached.nonzero()[:, 0]
            outputs = torch.stack([model(graphs[at]) for model in self.surrogates])
            reached = reached.index_put((at,), goal.reached(mean_outputs(outputs)))
        return reached.tolist()


def _is_better(trial: RecourseTrial, other: RecourseTrial) -> bool:
    """True if a trial flips at lower cost, or comes closer."""
    if trial.flipped != other.flipped:
        return trial.flipped
    if trial.flipped:
        return (trial.edits, -trial.score) < (other.edits, -other.score)
    return trial.score > other.score
