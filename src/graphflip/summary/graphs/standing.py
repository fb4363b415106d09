"""Graphs that stand for many inputs of a direction, for a summary."""

from collections.abc import Callable, Sequence

import numpy as np

from ...graph import Graph
from ..figures import SeenInput, Tried
from ..results.summary import RepresentativeGraph, Share
from ..studies import Study
from ..wording import graph_words
from .representatives import RepresentativeSearch

_INPUTS = 300
"""Inputs that representative graphs are looked for with and tried on."""

_LARGEST = 100
"""Nodes of the largest graph of a set for which alignments are quick enough."""


def standing_for(
    study: Study, direction: int, tried: Tried, read: Callable[[Sequence[SeenInput]], dict[int, Graph]]
) -> tuple[RepresentativeGraph, ...]:
    """Look for graphs of a direction's class that are near many of its inputs.

    Args:
        study: The study; its moves make the graphs, with surroundings that its settings allow.
        direction: Number of the direction.
        tried: Its inputs.
        read: Gives the graphs of some inputs, by place.

    Returns:
        At most as many as the settings say; none for changes of a value, and for graphs of more than 100 nodes.
    """
    goal, num, inputs = study.class_goal(direction), study.options.num_graphs, tried.inputs[:_INPUTS]
    if goal is None or not num or not inputs or study.explainer.kit.schema.max_nodes > _LARGEST:
        return ()
    graphs, held_out = read(inputs), tried.held_out[: len(inputs)]
    given = [graphs[one.place] for one in inputs]
    kit, applier = study.explainer.kit, study.trier.applier
    search = RepresentativeSearch(given, kit.classifier, goal, study.options.theta, study.moves, allows=applier.allows)
    found = search.search(2 * num, (~held_out).astype(float))
    chosen = found.choose(num, ~held_out).chosen
    return tuple(_described(found.graphs[c], found.near[c], held_out, [one.id for one in inputs]) for c in chosen)


def _described(graph: Graph, near: np.ndarray, held_out: np.ndarray, ids: Sequence[str]) -> RepresentativeGraph:
    own, other = (Share(int((near & part).sum()), int(part.sum())) for part in (~held_out, held_out))
    covers = tuple(sorted(ids[k] for k in np.flatnonzero(near).tolist()))
    return RepresentativeGraph(graph.trim(), graph_words(graph), own, other, covers)
