"""Turn graphs into scenes: nodes and edges as a painter draws them, with the changes marked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...edits import Edit
from ...explain.claims.importance import Importance
from ...graph import Graph
from ...schema import AttributeDict
from .discs import Discs
from .notes import Number, place_notes
from .painter import AbstractPainter
from .routes import cut, middle
from .scene import (
    REACH,
    Element,
    Form,
    Lines,
    Mark,
    Scene,
    Shape,
    Style,
    box_around,
    edge_key,
    glyph,
    halo,
    node_key,
    trimmed,
)
from .skeletal import Skeleton
from .stage import Stage


@dataclass(frozen=True)
class Marks:
    """Marks of the changed nodes and edges of one picture, by their keys; `numbers` are old and new values to note."""

    of: Mapping[str, Mark] = field(default_factory=dict)
    numbers: Mapping[str, tuple[Number, ...]] = field(default_factory=dict)

    @staticmethod
    def before(edits: Sequence[Edit]) -> "Marks":
        """Marks in the picture of the factual: removed and changed nodes and edges."""
        return Marks(_marks(edit for edit in edits if not edit.op.startswith("add")))

    @staticmethod
    def after(edits: Sequence[Edit]) -> "Marks":
        """Marks in the picture of the counterfactual: added and changed nodes and edges, with numbers that changed."""
        marks = _marks(edit for edit in edits if not edit.op.startswith("remove"))
        return Marks(marks, {_key(edit): _numbers(edit) for edit in edits if edit.op.startswith("set")})


def compose(
    stage: Stage,
    graphs: Sequence[Graph],
    marks: Sequence[Marks],
    alts: Sequence[str],
    importance: Importance | None = None,
) -> list[Scene]:
    """A scene for each graph of a stage, all in the box around the first and the last of them.

    `alts` are the texts for screen readers, one for each scene. The importance is shown in the first.
    """
    stages = [*([stage] * (len(graphs) - 1)), stage.last()] if len(graphs) > 1 else [stage]
    painted = [_elements(own, graph, marked) for own, graph, marked in zip(stages, graphs, marks, strict=True)]
    if importance is not None:
        painted[0] = (*_colored(stage, importance), *painted[0])
    box = box_around((*painted[0], *painted[-1]))
    return [Scene(elements, box, alt) for elements, alt in zip(painted, alts, strict=True)]


def _elements(stage: Stage, graph: Graph, marks: Marks) -> tuple[Element, ...]:
    """Elements of a picture in painting order: edges, nodes, and notes with the numbers that changed."""
    chemistry = graph.schema.chemistry
    painter = Discs(stage, graph) if chemistry is None else Skeleton(stage, graph, chemistry, marks.of)
    nodes = [i for i, node in enumerate(graph.nodes()) if node is not None and i in stage.places]
    edges = [edge for edge in graph.edges() if edge[0] in stage.places and edge[1] in stage.places]
    drawn = [_edge(painter, i, j, attributes, marks) for i, j, attributes in edges]
    drawn += [_node(painter, stage, i, marks) for i in nodes]
    noted = [(element, marks.numbers[element.key]) for element in drawn if marks.numbers.get(element.key)]
    return (*drawn, *place_notes(drawn, noted))


def _colored(stage: Stage, importance: Importance) -> list[Element]:
    """Colored spots below nodes and edges: the stronger, the more changes there move the prediction.

    Those of estimated effects are smaller.
    """
    largest = importance.largest or 1.0
    shapes: list[Form] = []
    for (i, j), effect in importance.edges.items():
        if i in stage.places and j in stage.places:
            line = trimmed(stage.places[i], stage.places[j], 0.3 * REACH, 0.3 * REACH)
            shapes.append(Lines((line,), _side(effect), _strength(effect / largest)))
    for i, effect in importance.nodes.items():
        if i in stage.places:
            shapes.append(Shape((stage.places[i],), _side(effect), REACH, _strength(effect / largest)))
    for i, effect in importance.estimated.items():
        if i in stage.places:
            shapes.append(Shape((stage.places[i],), _side(effect), _ESTIMATED, _strength(effect / largest)))
    return [Element("importance", "", tuple(shapes), ())]


_ESTIMATED = 0.6 * REACH
"""Radius of the spot of an estimated effect."""


def _side(effect: float) -> Style:
    return "toward" if effect > 0 else "away"


def _strength(share: float) -> float:
    """Opacity; small effects are hardly seen, and 1 is left to what is drawn without any."""
    return round(0.05 + 0.75 * min(abs(share), 1.0), 2)


def _node(painter: AbstractPainter, stage: Stage, i: int, marks: Marks) -> Element:
    at, key = stage.places[i], node_key(i)
    mark = marks.of.get(key, "")
    behind = [halo(at, mark, painter.reach)] if mark else []
    return Element(key, mark, (*behind, *painter.node(i)), (at,))


def _edge(painter: AbstractPainter, i: int, j: int, attributes: AttributeDict, marks: Marks) -> Element:
    route, key = painter.route(i, j), edge_key(i, j)
    mark = marks.of.get(key, "")
    behind = [Lines(tuple(pairwise(cut(route, REACH, REACH))), "band")] if mark else []
    over = [glyph(middle(cut(route, painter.room(i, j), painter.room(j, i))), mark)] if mark else []
    return Element(key, mark, (*behind, *painter.edge(i, j, attributes), *over), route)


def _key(edit: Edit) -> str:
    """The key of the node or edge that an edit changes."""
    return node_key(edit.at[0]) if edit.is_node else edge_key(*edit.at)


def _marks(edits: Iterable[Edit]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {"add": "added", "remove": "removed", "set": "changed"}
    return {_key(edit): marks[edit.op.split("_")[0]] for edit in edits}


def _numbers(edit: Edit) -> tuple[Number, ...]:
    """Numeric attributes that an edit sets, with their old and new values."""
    pairs = [(name, edit.before[name], new) for name, new in edit.after.items()]
    return tuple((name, float(old), float(new)) for name, old, new in pairs if not isinstance(new, str))
