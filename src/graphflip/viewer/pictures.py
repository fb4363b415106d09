"""Pictures of the viewer: drawings whose elements have the classes that the page highlights."""

from collections.abc import Sequence

from ..edits import edits_between
from ..graph import Graph
from ..report.draw import draw_pair

_SIZE = (420, 340)


def element_class(at: tuple[int, ...]) -> str:
    """The class of what is drawn for a node `(i,)` or an edge `(i, j)`."""
    return f"atom-{at[0]}" if len(at) == 1 else f"bond-{min(at)}-{max(at)}"


def draw_one(graph: Graph) -> str:
    """A graph as it is."""
    return draw_pair(graph, graph, [], _SIZE)[0]


def draw_both(factual: Graph, counterfactual: Graph | None) -> dict[str, str | None]:
    """Both graphs of an explanation, with what changes marked."""
    if counterfactual is None:
        return {"factual": draw_one(factual), "counterfactual": None}
    before, after = draw_pair(factual, counterfactual, edits_between(factual, counterfactual), _SIZE)
    return {"factual": before, "counterfactual": after}


def draw_steps(factual: Graph, counterfactual: Graph, steps: Sequence[Graph]) -> list[str]:
    """Graphs on the way from one to the other, each with what has changed so far."""
    return [draw_pair(factual, graph, edits_between(factual, graph), _SIZE)[1] for graph in steps]
