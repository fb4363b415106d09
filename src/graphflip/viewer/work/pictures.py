"""Drawings for the viewer's page, and an SVG file to download."""

from collections.abc import Sequence
from typing import Any

from ...explain.claims.importance import Importance
from ...explain.counterfactual import Counterfactual
from ...graph import Graph
from ...report.draw.pictures import Picture, draw_graph, draw_pair
from ...report.draw.pictures import draw_steps as draw_all_steps
from ...report.draw.scene import beside as scenes_beside


def draw_input(graph: Graph, importance: Importance | None = None) -> str:
    """SVG of one graph, without marks, all nodes numbered, and colored where it matters."""
    return _for_page(draw_graph(graph, numbers=True, importance=importance))


def draw_small(graph: Graph) -> str:
    """SVG of one graph in brief, for a table."""
    return _brief(draw_graph(graph))[0]


def draw_explanation(found: Counterfactual, small: bool = False) -> dict[str, Any]:
    """SVG of both graphs of an explanation, the changes marked and all nodes numbered; with `small`, both in brief."""
    factual, counterfactual, importance = found.factual, found.counterfactual, found.importance
    if counterfactual is None:
        alone = draw_graph(factual, numbers=True, importance=importance)
        return {"factual": _for_page(alone), "counterfactual": None, "small": _brief(alone) if small else []}
    both = draw_pair(factual, counterfactual, numbers=True, importance=importance)
    brief = _brief(*draw_pair(factual, counterfactual)) if small else []
    return {"factual": _for_page(both[0]), "counterfactual": _for_page(both[1]), "small": brief}


def draw_steps(factual: Graph, counterfactual: Graph, steps: Sequence[Graph]) -> list[str]:
    """SVG of each step from the factual to the counterfactual, with the changes so far marked."""
    return [_for_page(picture) for picture in draw_all_steps(factual, counterfactual, steps)[1:-1]]


def beside(pictures: tuple[Picture, Picture]) -> Picture:
    """Two pictures of one size as one."""
    return Picture(scenes_beside(pictures[0].scene, pictures[1].scene))


def _for_page(picture: Picture) -> str:
    """SVG without a style of its own: the page has it."""
    return picture.svg(standalone=False)


def _brief(*pictures: Picture) -> list[str]:
    return [picture.svg(standalone=False, brief=True) for picture in pictures]
