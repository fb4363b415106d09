"""Drawings for the viewer's page, and an SVG file to download."""

from collections.abc import Sequence

from ..graph import Graph
from ..report.draw.pictures import Picture, draw_graph, draw_pair
from ..report.draw.pictures import draw_steps as draw_all_steps


def draw_input(graph: Graph) -> str:
    """SVG of one graph, without marks."""
    return _for_page(draw_graph(graph))


def draw_explanation(factual: Graph, counterfactual: Graph | None) -> dict[str, str | None]:
    """SVG of both graphs of an explanation with the changes marked, and one of both side by side as a file."""
    if counterfactual is None:
        alone = draw_graph(factual)
        return {"factual": _for_page(alone), "counterfactual": None, "file": alone.svg()}
    both = draw_pair(factual, counterfactual)
    return {"factual": _for_page(both[0]), "counterfactual": _for_page(both[1]), "file": _side_by_side(both)}


def draw_steps(factual: Graph, counterfactual: Graph, steps: Sequence[Graph]) -> list[str]:
    """SVG of each step from the factual to the counterfactual, with the changes so far marked."""
    return [_for_page(picture) for picture in draw_all_steps(factual, counterfactual, steps)[1:-1]]


def _for_page(picture: Picture) -> str:
    """SVG without a style of its own: the page has it."""
    return picture.svg(standalone=False)


def _side_by_side(pictures: tuple[Picture, Picture]) -> str:
    """Two pictures of one size as one SVG file."""
    _, _, width, height = (round(value) for value in pictures[0].scene.box)
    inner = [picture.svg((width, height)) for picture in pictures]
    right = inner[1].replace("<svg ", f'<svg x="{width}" ', 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {height}">{inner[0]}{right}</svg>'
