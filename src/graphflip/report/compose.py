"""From graphs to scenes: molecules as chemists draw them, other graphs as discs and lines, what changes marked."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2

from ..edits import Edit
from ..explain.words import neighbors
from ..graph import Attributes, Graph
from ..schema import Categories, Schema
from .layout import Places, free_direction, place
from .scene import (
    REACH,
    UNIT,
    Element,
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
    polar,
    shifted,
    strokes,
    trimmed,
)
from .skeletal import atoms_of, bonds_of, open_side

_DISC = 0.3 * UNIT
"""Radius of the disc of a node that is no atom."""


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


@dataclass(frozen=True)
class Stage:
    """What pictures of aligned graphs share: the place of each slot, which nodes are hidden, which are numbered."""

    places: Places
    hidden: frozenset[int]
    near: Mapping[int, set[int]]
    numbered: frozenset[int]

    @classmethod
    def of(cls, graphs: Sequence[Graph], numbered: Collection[int] = (), hydrogens: bool = False) -> "Stage":
        """A stage for graphs of which the first is laid out by itself and the others around what they share with it."""
        hidden = frozenset() if hydrogens else _hidden_hydrogens(graphs)
        near: dict[int, set[int]] = {}
        for graph in graphs:
            for i, others in neighbors(graph).items():
                near.setdefault(i, set()).update(others - hidden)
        places = {i: (UNIT * x, UNIT * y) for i, (x, y) in place(graphs, hidden).items()}
        return cls(places, hidden, near, frozenset(numbered))

    def scenes(self, graphs: Sequence[Graph], marks: Sequence[Marks], words: Sequence[str]) -> list[Scene]:
        """A scene for each graph; all have the same box, so that nothing moves from one to the next."""
        painted = [self._elements(graph, its) for graph, its in zip(graphs, marks, strict=True)]
        box = box_around(element for elements in painted for element in elements)
        return [Scene(elements, box, text) for elements, text in zip(painted, words, strict=True)]

    def _elements(self, graph: Graph, marks: Marks) -> tuple[Element, ...]:
        painter = _Painter(self, graph, marks)
        edges = [painter.edge(i, j, a) for i, j, a in graph.edges() if i in self.places and j in self.places]
        nodes = [painter.node(i) for i, node in enumerate(graph.nodes()) if node is not None and i in self.places]
        return (*edges, *nodes)

    def around(self, i: int) -> list[Point]:
        """Where the neighbors of a node are, those of all graphs."""
        return [self.places[j] for j in sorted(self.near.get(i, ()))]


class _Painter:
    """Draws nodes and edges of one graph."""

    def __init__(self, stage: Stage, graph: Graph, marks: Marks) -> None:
        self.stage, self.graph, self.marks = stage, graph, marks
        self.attributes = graph.nodes()
        self.atoms = atoms_of(graph, stage.hidden)
        lettered = [i for i in self.atoms if self._has_letter(i)]
        self.bonds = bonds_of(graph, stage.places, lettered) if self.atoms else {}

    def node(self, i: int) -> Element:
        at, key = self.stage.places[i], node_key(i)
        mark = self.marks.of.get(key, "")
        shapes: list[Lines | Shape | Text] = [halo(at, mark, REACH if self.atoms else 1.3 * REACH)] if mark else []
        shapes += self._atom(i, mark) if self.atoms else self._disc(i)
        return Element(key, mark, (*shapes, *self._changes(key, at)), (at,))

    def edge(self, i: int, j: int, attributes: Attributes) -> Element:
        key, a, b = edge_key(i, j), self.stage.places[i], self.stage.places[j]
        mark, middle = self.marks.of.get(key, ""), between(a, b, 0.5)
        shapes: list[Lines | Shape | Text] = [Lines((trimmed(a, b, REACH, REACH),), "band")] if mark else []
        shapes += [self.bonds[i, j]] if self.bonds else self._line(i, j, attributes)
        shapes += [glyph(middle, mark)] if mark else []
        return Element(key, mark, (*shapes, *self._changes(key, middle)), (a, b))

    def _atom(self, i: int, mark: Mark) -> list[Text]:
        letters = self._letters(i) if self._has_letter(i) else []
        if i not in self.stage.numbered:
            return letters
        beside = self._beside(i, 0.64 * UNIT if mark or letters else 0.42 * UNIT)
        return [*letters, Text(beside, str(i), "number")]

    def _disc(self, i: int) -> list[Shape | Text]:
        """A node that is no atom: its type inside if that is short, else its number inside and its type beside."""
        at, kind = self.stage.places[i], _kind(self.attributes[i])
        disc, short = Shape((at,), "node", radius=_DISC), _has_short_types(self.graph.schema)
        texts = [Text(at, kind if short else str(i), "label")]
        if kind and (i in self.stage.numbered or not short):
            texts.append(Text(self._beside(i, 0.68 * UNIT), str(i) if short else kind, "number"))
        return [disc, *texts]

    def _line(self, i: int, j: int, attributes: Attributes) -> list[Lines | Shape | Text]:
        """An edge that is no bond: as many lines as the number of its type, with words where there are many types."""
        a, b = trimmed(self.stage.places[i], self.stage.places[j], _DISC, _DISC)
        if self.graph.schema.directed and bool(self.graph.A[0, j, i]):  # two that go both ways are side by side
            a, b = shifted(a, b, 0.1 * UNIT)
        column = next((column for column in self.graph.schema.edges if isinstance(column, Categories)), None)
        number = column.index(str(attributes[column.name])) + 1 if column else 1
        shapes: list[Lines | Shape | Text] = [Lines(strokes(a, b, number if number <= 3 else 1))]
        if column and len(column.values) > 3:
            shapes.append(Text(between(*shifted(a, b, 0.22 * UNIT), 0.35), str(attributes[column.name]), "note"))
        return [*shapes, _head(a, b)] if self.graph.schema.directed else shapes

    def _has_letter(self, i: int) -> bool:
        """Carbons have one where they are marked as changed, or where no bond shows that they are there."""
        mark, degree = self.marks.of.get(node_key(i), ""), len(self.stage.near.get(i, ()))
        return self.atoms[i].has_letter or degree == 0 or mark == "changed" or (mark != "" and degree == 1)

    def _letters(self, i: int) -> list[Text]:
        """Letters of an atom; a carbon that has bonds on all sides is shown without its hydrogens."""
        atom, around = self.atoms[i], self.stage.around(i)
        if atom.symbol == "C" and len(around) > 1:
            atom = atom._replace(hydrogens=0)
        return atom.letters(self.stage.places[i], open_side(atom.symbol, self.stage.places[i], around))

    def _beside(self, i: int, distance: float) -> Point:
        """A point beside a node, away from its edges and its letters."""
        at, around = self.stage.places[i], self.stage.around(i)
        if self.atoms and self._has_letter(i) and self.atoms[i].hydrogens:
            sides = {"right": (1, 0), "left": (-1, 0), "below": (0, 1), "above": (0, -1)}
            dx, dy = sides[open_side(self.atoms[i].symbol, at, around)]
            around.append((at[0] + dx, at[1] + dy))
        return polar(at, free_direction(at, around), distance)

    def _changes(self, key: str, at: Point) -> list[Shape | Text]:
        """A small arrow up or down for each number that changed, with what it was and what it is."""
        shapes: list[Shape | Text] = []
        for row, (name, old, new) in enumerate(self.marks.numbers.get(key, ())):
            x, y, s = at[0] + 0.5 * UNIT, at[1] - (0.5 + 0.36 * row) * UNIT, 3.0 if new < old else -3.0
            shapes.append(Shape(((x - 3, y - s), (x + 3, y - s), (x, y + s)), "arrow"))
            shapes.append(Text((x + 6, y), f"{name} {old:.3g} → {new:.3g}", "note", "start"))
        return shapes


def _key(edit: Edit) -> str:
    return node_key(edit.at[0]) if edit.is_node else edge_key(*edit.at)


def _marks(edits: Iterable[Edit]) -> dict[str, Mark]:
    marks: dict[str, Mark] = {"add": "added", "remove": "removed", "set": "changed"}
    return {_key(edit): marks[edit.op.split("_")[0]] for edit in edits}


def _numbers(edit: Edit) -> tuple[tuple[str, float, float], ...]:
    pairs = [(name, edit.before[name], new) for name, new in edit.after.items()]
    return tuple((name, float(old), float(new)) for name, old, new in pairs if not isinstance(new, str))


def _kind(attributes: Attributes | None) -> str:
    """The first category of a node."""
    return next((value for value in (attributes or {}).values() if isinstance(value, str)), "")


def _has_short_types(schema: Schema) -> bool:
    """Whether the first category of a node always fits into its disc."""
    column = next((column for column in schema.nodes if isinstance(column, Categories)), None)
    return column is not None and all(len(value) <= 2 for value in column.values)


def _head(a: Point, b: Point) -> Shape:
    angle = atan2(b[1] - a[1], b[0] - a[0])
    return Shape((b, polar(b, angle + 2.7, 0.24 * UNIT), polar(b, angle - 2.7, 0.24 * UNIT)), "head")


def _hidden_hydrogens(graphs: Sequence[Graph]) -> frozenset[int]:
    """Hydrogens that fill the valence of a heavier atom in every graph that has them."""
    found: set[int] = set()
    shown: set[int] = set()
    for graph in graphs:
        if graph.schema.chemistry is None:
            return frozenset()
        near, types = neighbors(graph), {i: node["type"] for i, node in enumerate(graph.nodes()) if node is not None}
        for i, kind in types.items():
            others = near.get(i, set())
            fills = kind == "H" and len(others) == 1 and all(types[j] != "H" for j in others)
            (found if fills else shown).add(i)
    return frozenset(found - shown)
