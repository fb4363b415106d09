"""From graphs to scenes: what a painter draws, with what changes marked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...edits import Edit
from ...graph import Attributes, Graph
from .discs import Discs
from .notes import Number, place_notes
from .painter import AbstractPainter
from .routes import cut, middle
from .scene import REACH, Element, Lines, Mark, Scene, box_around, edge_key, glyph, halo, node_key
from .skeletal import Skeleton
from .stage import Stage


@dataclass(frozen=True)
class Marks:
    """What edits do to nodes and edges in one of two pictures; `numbers` are old and new values by name."""

    of: Mapping[str, Mark] = field(default_factory=dict)
    numbers: Mapping[str, tuple[Number, ...]] = field(default_factory=dict)

    @staticmethod
    def before(edits: Sequence[Edit]) -> "Marks":
        """Marks of the factual: what goes, and what changes."""
        return Marks(_marks(edit for edit in edits if not edit.op.startswith("add")))

    @staticmethod
    def after(edits: Sequence[Edit]) -> "Marks":
        """Marks of the counterfactual: what came, and what changed, with its numbers."""
        marks = _marks(edit for edit in edits if not edit.op.startswith("remove"))
        return Marks(marks, {_key(edit): _numbers(edit) for edit in edits if edit.op.startswith("set")})


def compose(stage: Stage, graphs: Sequence[Graph], marks: Sequence[Marks], words: Sequence[str]) -> list[Scene]:
    """A scene for each graph of a stage, all in the box of the first and the last; `words` are what a screen reader
    says of them."""
    painted = [_elements(stage, graph, its) for graph, its in zip(graphs, marks, strict=True)]
    box = box_around((*painted[0], *painted[-1]))
    return [Scene(elements, box, text) for elements, text in zip(painted, words, strict=True)]


def _elements(stage: Stage, graph: Graph, marks: Marks) -> tuple[Element, ...]:
    """Edges, nodes over them, and over all numbers that changed, in elements of their own."""
    chemistry = graph.schema.chemistry
    painter = Discs(stage, graph) if chemistry is None else Skeleton(stage, graph, chemistry, marks.of)
    nodes = [i for i, node in enumerate(graph.nodes()) if node is not None and i in stage.places]
    edges = [edge for edge in graph.edges() if edge[0] in stage.places and edge[1] in stage.places]
    drawn = [_edge(painter, i, j, attributes, marks) for i, j, attributes in edges]
    drawn += [_node(painter, stage, i, marks) for i in nodes]
    noted = [(one, marks.numbers[one.key]) for one in drawn if marks.numbers.get(one.key)]
    return (*drawn, *place_notes(drawn, noted))


def _node(painter: AbstractPainter, stage: Stage, i: int, marks: Marks) -> Element:
    at, key = stage.places[i], node_key(i)
    mark = marks.of.get(key, "")
    behind = [halo(at, mark, painter.reach)] if mark else []
    return Element(key, mark, (*behind, *painter.node(i)), (at,))


def _edge(painter: AbstractPainter, i: int, j: int, attributes: Attributes, marks: Marks) -> Element:
    route, key = painter.route(i, j), edge_key(i, j)
    mark = marks.of.get(key, "")
    behind = [Lines(tuple(pairwise(cut(route, REACH, REACH))), "band")] if mark else []
    over = [glyph(middle(cut(route, painter.room(i, j), painter.room(j, i))), mark)] if mark else []
    return Element(key, mark, (*behind, *painter.edge(i, j, attributes), *over), route)


def _key(edit: Edit) -> str:
    return node_key(edit.at[0]) if edit.is_node else edge_key(*edit.at)


def _marks(edits: Iterable[Edit]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {"add": "added", "remove": "removed", "set": "changed"}
    return {_key(edit): marks[edit.op.split("_")[0]] for edit in edits}


def _numbers(edit: Edit) -> tuple[Number, ...]:
    pairs = [(name, edit.before[name], new) for name, new in edit.after.items()]
    return tuple((name, float(old), float(new)) for name, old, new in pairs if not isinstance(new, str))
