"""Pictures of the viewer: drawings for the page, and a file to keep."""

from collections.abc import Sequence

from ..graph import Graph
from ..report.draw.pictures import Picture, draw_graph, draw_pair
from ..report.draw.pictures import draw_steps as draw_all_steps


def draw_one(graph: Graph) -> str:
    """A graph as it is."""
    return _shown(draw_graph(graph))


def draw_both(factual: Graph, counterfactual: Graph | None) -> dict[str, str | None]:
    """Both graphs of an explanation, with what changes marked, and a file with both."""
    if counterfactual is None:
        alone = draw_graph(factual)
        return {"factual": _shown(alone), "counterfactual": None, "file": alone.svg()}
    both = draw_pair(factual, counterfactual)
    return {"factual": _shown(both[0]), "counterfactual": _shown(both[1]), "file": _side_by_side(both)}


def draw_steps(factual: Graph, counterfactual: Graph, steps: Sequence[Graph]) -> list[str]:
    """Graphs on the way from one to the other, each with what has changed so far."""
    return [_shown(picture) for picture in draw_all_steps(factual, counterfactual, steps)[1:-1]]


def _shown(picture: Picture) -> str:
    """For the page, which has the style."""
    return picture.svg(standalone=False)


def _side_by_side(pictures: tuple[Picture, Picture]) -> str:
    """Two pictures, which have one size, as one SVG file."""
    _, _, width, height = (round(value) for value in pictures[0].scene.box)
    inner = [picture.svg((width, height)) for picture in pictures]
    right = inner[1].replace("<svg ", f'<svg x="{width}" ', 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {height}">{inner[0]}{right}</svg>'
