"""Pictures of graphs and explanations; changes are marked by shape and by color."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...describe.wording import sentences
from ...edits import edits_between
from ...explain.claims.importance import Importance
from ...graph import Graph
from .compose import Marks, compose
from .palette import LIGHT, Theme
from .png import to_png
from .scene import UNIT, Element, Lines, Mark, Scene, Text, between, box_around, glyph, halo, text_width
from .stage import Stage
from .svg import to_svg


@dataclass(frozen=True)
class Picture:
    """A drawing that can be written as SVG or PNG."""

    scene: Scene

    def svg(self, size: tuple[int, int] | None = None, standalone: bool = True, brief: bool = False) -> str:
        """The picture as SVG text; see `graphflip.report.draw.svg.to_svg`."""
        return to_svg(self.scene, size, standalone, brief)

    def png(self, scale: float = 2.0, theme: Theme = LIGHT) -> bytes:
        """The picture as the bytes of a PNG file, with `scale` pixels for each unit of the SVG."""
        return to_png(self.scene, scale, theme)


def draw_graph(
    graph: Graph, hydrogens: bool = False, numbers: bool = False, importance: Importance | None = None
) -> Picture:
    """Draw a graph.

    Args:
        graph: A single graph.
        hydrogens: Draws hydrogen nodes that only fill valences, too.
        numbers: Gives all nodes their numbers, which pages show on demand.
        importance: Colors nodes and edges by how much changes there move the prediction.
    """
    stage = Stage.of([graph], hydrogens=hydrogens, numbers=numbers)
    return Picture(compose(stage, [graph], [Marks()], [_alt(graph)], importance)[0])


def draw_pair(
    factual: Graph,
    counterfactual: Graph,
    hydrogens: bool = False,
    numbers: bool = False,
    importance: Importance | None = None,
) -> tuple[Picture, Picture]:
    """Draw two aligned graphs: removals are marked in the first, additions in the second, other changes in both.

    The first picture is that of the graph alone. A node has the same place in both, unless the second would be a tangle
    then, as when a ring is closed. Nodes that the explanation's sentences mention have their numbers beside them. Other
    arguments are those of `draw_graph`.
    """
    first, last = draw_steps(factual, counterfactual, (), hydrogens, numbers, importance)
    return first, last


def draw_steps(
    factual: Graph,
    counterfactual: Graph,
    way: Sequence[Graph],
    hydrogens: bool = False,
    numbers: bool = False,
    importance: Importance | None = None,
) -> list[Picture]:
    """Draw two graphs and the graphs on the way from one to the other, each with the changes so far.

    The first and the last picture are those of `draw_pair`.
    """
    graphs = [factual, *way, counterfactual]
    named = {i for sentence in sentences(factual, counterfactual) for i in sentence.named}
    stage = Stage.of([factual, counterfactual], named, hydrogens, way, numbers)
    edits = [edits_between(factual, graph) for graph in graphs]
    marks = [Marks.before(edits[-1]), *(Marks.after(done) for done in edits[1:])]
    return [Picture(scene) for scene in compose(stage, graphs, marks, [_alt(graph) for graph in graphs], importance)]


def draw_legend() -> Picture:
    """Draw the legend: each mark on a node and on an edge, with its name."""
    elements, x = [], 0.0
    marks: tuple[Mark, ...] = ("removed", "added", "changed")
    for mark in marks:
        a, b = (x + 0.7 * UNIT, 0.0), (x + 1.5 * UNIT, 0.0)
        line = (Lines(((a, b),), "band"), Lines(((a, b),)), glyph(between(a, b, 0.5), mark))
        name = Text((x + 1.8 * UNIT, 0.0), mark, "label", "start")
        elements.append(Element(mark, mark, (halo((x, 0.0), mark), *line, name), ((x, 0.0),)))
        x += 3.0 * UNIT + text_width(mark, "label")
    return Picture(Scene(tuple(elements), box_around(elements), "Legend: removed, added, changed"))


def _alt(graph: Graph) -> str:
    """Text of a picture for screen readers."""
    if graph.schema.chemistry is not None:
        from ...data.molecules.molecule import to_smiles

        smiles = to_smiles(graph)
        if smiles:
            return f"Molecule {smiles}"
    return repr(graph).removeprefix("Graph(").removesuffix(")")
