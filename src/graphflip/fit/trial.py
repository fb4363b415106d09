"""Trial of a kit: explain a few test graphs, for a limited time."""

import time

from ..data.dataset import GraphDataset
from ..edits import heavy_edits
from ..explain.counterfactual import Counterfactual
from ..explain.edits.beam import Round
from ..explain.explainer import Explainer
from ..explain.goals.values import Shift
from ..graph import Graph
from ..models.training.evaluate import spread_of
from .readiness import Trial

_TRIED = 12


def try_explaining(explainer: Explainer, test: GraphDataset, seconds: float = 25.0) -> Trial:
    """Explain the first test graphs, as many as the time allows; one that is not done then is left out.

    For models that predict a value, the target is to raise or lower it, in turn, by half a standard deviation.
    """
    started, flipped, edits = time.process_time(), [], []
    for k in range(min(_TRIED, len(test))):
        target = None if test.classes else Shift(spread_of(test.labels) * (0.5 if k % 2 else -0.5))
        counterfactual = _explained(explainer, test.graphs([k]), target, until=started + seconds)
        if counterfactual is None and flipped:  # only the last one was cut short
            break
        flipped.append(counterfactual is not None and counterfactual.flipped)
        if counterfactual is not None and counterfactual.flipped:
            edits.append(len(heavy_edits(counterfactual.factual, counterfactual.edits)))
        if time.process_time() > started + seconds:
            break
    return Trial(
        graphs=len(flipped),
        flipped=sum(flipped) / len(flipped),
        mean_edits=sum(edits) / len(edits) if edits else None,
        seconds=(time.process_time() - started) / len(flipped),
    )


class _TimeIsUp(Exception):
    """The time for the trial is over."""


def _explained(explainer: Explainer, graph: Graph, target: Shift | None, until: float) -> Counterfactual | None:
    """Explain a graph; None if the search was stopped at the time `until`."""

    def watch(_: Round) -> None:
        if time.process_time() > until:
            raise _TimeIsUp

    try:
        return explainer.explain(graph, target, watch=watch)
    except _TimeIsUp:
        return None
