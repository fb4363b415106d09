"""From graphs to scenes: what a painter draws, with what changes marked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..edits import Edit
from ..graph import Graph
from .discs import Discs
from .painter import AbstractPainter
from .scene import (
    REACH,
    UNIT,
    Element,
    Form,
    Lines,
    Mark,
    Point,
    Scene,
    Shape,
    Text,
    between,
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
    """What edits do to nodes and edges in one of two pictures; `numbers` are old and new values by name."""

    of: Mapping[str, Mark] = field(default_factory=dict)
    numbers: Mapping[str, tuple[tuple[str, float, float], ...]] = field(default_factory=dict)

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
    """A scene for each graph of a stage, all in one box; `words` are what a screen reader says of them."""
    painted = [_elements(stage, graph, its) for graph, its in zip(graphs, marks, strict=True)]
    box = box_around(element for elements in painted for element in elements)
    return [Scene(elements, box, text) for elements, text in zip(painted, words, strict=True)]


def _elements(stage: Stage, graph: Graph, marks: Marks) -> tuple[Element, ...]:
    chemistry = graph.schema.chemistry
    painter = Discs(stage, graph) if chemistry is None else Skeleton(stage, graph, chemistry, marks.of)
    nodes = [i for i, node in enumerate(graph.nodes()) if node is not None and i in stage.places]
    edges = [edge for edge in graph.edges() if edge[0] in stage.places and edge[1] in stage.places]
    drawn = [_edge(painter.edge(i, j, attributes), stage, (i, j), marks) for i, j, attributes in edges]
    return (*drawn, *(_node(painter, stage, i, marks) for i in nodes))


def _node(painter: AbstractPainter, stage: Stage, i: int, marks: Marks) -> Element:
    at, key = stage.places[i], node_key(i)
    mark = marks.of.get(key, "")
    behind = [halo(at, mark, painter.reach)] if mark else []
    return Element(key, mark, (*behind, *painter.node(i), *_changes(marks, key, at)), (at,))


def _edge(forms: Sequence[Form], stage: Stage, pair: tuple[int, int], marks: Marks) -> Element:
    (a, b), key = (stage.places[k] for k in pair), edge_key(*pair)
    mark, middle = marks.of.get(key, ""), between(a, b, 0.5)
    behind = [Lines((trimmed(a, b, REACH, REACH),), "band")] if mark else []
    over = [glyph(middle, mark)] if mark else []
    return Element(key, mark, (*behind, *forms, *over, *_changes(marks, key, middle)), (a, b))


def _changes(marks: Marks, key: str, at: Point) -> list[Form]:
    """A small arrow up or down for each number that changed, with what it was and what it is."""
    forms: list[Form] = []
    for row, (name, old, new) in enumerate(marks.numbers.get(key, ())):
        x, y, s = at[0] + 0.5 * UNIT, at[1] - (0.5 + 0.36 * row) * UNIT, 3.0 if new < old else -3.0
        forms.append(Shape(((x - 3, y - s), (x + 3, y - s), (x, y + s)), "arrow"))
        forms.append(Text((x + 6, y), f"{name} {old:.3g} → {new:.3g}", "note", "start"))
    return forms


def _key(edit: Edit) -> str:
    return node_key(edit.at[0]) if edit.is_node else edge_key(*edit.at)


def _marks(edits: Iterable[Edit]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {"add": "added", "remove": "removed", "set": "changed"}
    return {_key(edit): marks[edit.op.split("_")[0]] for edit in edits}


def _numbers(edit: Edit) -> tuple[tuple[str, float, float], ...]:
    pairs = [(name, edit.before[name], new) for name, new in edit.after.items()]
    return tuple((name, float(old), float(new)) for name, old, new in pairs if not isinstance(new, str))
