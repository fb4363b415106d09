"""Scenes: lines, shapes and texts of a picture, before they become SVG or PNG."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import cos, hypot, sin
from typing import Literal

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Mark = Literal["", "added", "removed", "changed"]
Anchor = Literal["start", "middle", "end"]
Style = Literal[
    "bond", "band", "glyph", "halo", "node", "head", "label", "number", "quiet", "note", "arrow", "toward", "away"
]

UNIT = 30.0
"""Length of an edge in the units of a scene, which are pixels at the original size."""

FONT = {"label": 14.0, "number": 8.5, "quiet": 8.5, "note": 9.5}
"""Font sizes by style."""

REACH = 0.36 * UNIT
"""Radius of the halo around a marked node."""

_SQUARE, _DIAMOND = 0.9, 1.25
"""Half the side of a square halo and half the diagonal of a diamond, in units of the reach."""


@dataclass(frozen=True)
class Lines:
    """Straight lines between pairs of points; `strength` is the opacity of what shows importance."""

    segments: tuple[tuple[Point, Point], ...]
    style: Style = "bond"
    strength: float = 1.0


@dataclass(frozen=True)
class Shape:
    """A closed polygon, or a circle if it has one point and a radius; `strength` as in `Lines`."""

    points: tuple[Point, ...]
    style: Style
    radius: float = 0.0
    strength: float = 1.0


@dataclass(frozen=True)
class Text:
    """Text at a point: vertically centered, and horizontally with its start, middle or end there."""

    at: Point
    text: str
    style: Style
    anchor: Anchor = "middle"


Form = Lines | Shape | Text


@dataclass(frozen=True)
class Element:
    """All shapes of one node or edge, or of a note to it; `key` is the same in every picture: "atom-3", "bond-2-5".

    `spot` is the place that a pointer can hit: the middle of a node or the points of an edge; notes have none.
    """

    key: str
    mark: Mark
    shapes: tuple[Form, ...]
    spot: tuple[Point, ...]


@dataclass(frozen=True)
class Scene:
    """Elements in painting order within a box (left, top, width, height); `alt` is the text for screen readers."""

    elements: tuple[Element, ...]
    box: Box
    alt: str = ""


def beside(left: Scene, right: Scene) -> Scene:
    """Two scenes as one, side by side."""
    shift = left.box[0] + left.box[2] - right.box[0]
    down = left.box[1] - right.box[1]
    moved = tuple(_moved(element, shift, down) for element in right.elements)
    box = *left.box[:2], left.box[2] + right.box[2], max(left.box[3], right.box[3])
    return Scene((*left.elements, *moved), box, f"{left.alt} → {right.alt}")


def _moved(element: Element, dx: float, dy: float) -> Element:
    def at(point: Point) -> Point:
        return point[0] + dx, point[1] + dy

    def form(shape: Form) -> Form:
        if isinstance(shape, Lines):
            return replace(shape, segments=tuple((at(a), at(b)) for a, b in shape.segments))
        if isinstance(shape, Text):
            return replace(shape, at=at(shape.at))
        return replace(shape, points=tuple(map(at, shape.points)))

    return replace(element, shapes=tuple(map(form, element.shapes)), spot=tuple(map(at, element.spot)))


def halo(at: Point, mark: Mark, reach: float = REACH) -> Shape:
    """The shape around a marked node: a circle if added, a square if removed, a diamond if changed."""
    (x, y), r = at, reach
    if mark == "added":
        return Shape((at,), "halo", radius=r)
    if mark == "removed":
        s = _SQUARE * r
        return Shape(((x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)), "halo")
    s = _DIAMOND * r
    return Shape(((x, y - s), (x + s, y), (x, y + s), (x - s, y)), "halo")


def halo_radius(mark: Mark, angle: float, reach: float = REACH) -> float:
    """Distance from the middle of a halo to its outline in this direction."""
    across, down = abs(cos(angle)), abs(sin(angle))
    if mark == "removed":
        return _SQUARE * reach / max(across, down)
    return reach if mark == "added" else _DIAMOND * reach / (across + down)


def glyph(at: Point, mark: Mark) -> Lines | Shape:
    """The sign on the middle of a marked edge: a plus if added, a cross if removed, a diamond if changed."""
    (x, y), r = at, 0.14 * UNIT
    if mark == "added":
        return Lines((((x - r, y), (x + r, y)), ((x, y - r), (x, y + r))), "glyph")
    if mark == "removed":
        return Lines((((x - r, y - r), (x + r, y + r)), ((x - r, y + r), (x + r, y - r))), "glyph")
    s = 1.2 * r
    return Shape(((x, y - s), (x + s, y), (x, y + s), (x - s, y)), "glyph")


def text_width(text: str, style: Style) -> float:
    """Approximate width of a text."""
    return FONT[style] * sum(0.72 if letter.isupper() else 0.9 if letter == "→" else 0.56 for letter in text)


def node_key(i: int) -> str:
    """Key of a node's element."""
    return f"atom-{i}"


def edge_key(i: int, j: int) -> str:
    """Key of an edge's element."""
    return f"bond-{i}-{j}"


def between(a: Point, b: Point, share: float) -> Point:
    """The point at this share of the way from one point to another."""
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def trimmed(a: Point, b: Point, from_a: float, from_b: float) -> tuple[Point, Point]:
    """A line without its ends of these lengths; at least a tenth of it is kept."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    scale = min(1.0, 0.9 * length / max(from_a + from_b, 1e-9))
    return between(a, b, scale * from_a / length), between(a, b, 1 - scale * from_b / length)


def shifted(a: Point, b: Point, distance: float) -> tuple[Point, Point]:
    """A line moved sideways: to the right as seen along it, with y pointing down."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    dx, dy = -(b[1] - a[1]) / length * distance, (b[0] - a[0]) / length * distance
    return (a[0] + dx, a[1] + dy), (b[0] + dx, b[1] + dy)


def polar(center: Point, angle: float, distance: float) -> Point:
    """The point at this distance and angle from another."""
    return center[0] + distance * cos(angle), center[1] + distance * sin(angle)


def strokes(a: Point, b: Point, order: int, inside: Sequence[Point] = ()) -> tuple[tuple[Point, Point], ...]:
    """The parallel lines of a bond; with points `inside` a ring, the second line is shorter and on their side."""
    gap = 0.16 * UNIT
    if order == 1:
        return ((a, b),)
    if order == 3:
        return (a, b), shifted(a, b, gap), shifted(a, b, -gap)
    if not inside:
        return shifted(a, b, gap / 2), shifted(a, b, -gap / 2)
    x, y = (sum(values) / len(inside) for values in zip(*inside, strict=True))
    is_right = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0
    shorter = 0.14 * hypot(b[0] - a[0], b[1] - a[1])
    return (a, b), shifted(*trimmed(a, b, shorter, shorter), gap if is_right else -gap)


def box_around(elements: Iterable[Element]) -> Box:
    """The smallest box around all elements, with a margin."""
    points = [
        point
        for element in elements
        for point in (*element.spot, *(end for shape in element.shapes for end in _ends(shape)))
    ]
    xs, ys = zip(*points, strict=True) if points else ([0.0], [0.0])
    margin = 0.5 * UNIT
    return min(xs) - margin, min(ys) - margin, max(xs) - min(xs) + 2 * margin, max(ys) - min(ys) + 2 * margin


def _ends(shape: Form) -> list[Point]:
    """Points that a shape must have inside its box."""
    if isinstance(shape, Lines):
        return [point for segment in shape.segments for point in segment]
    if isinstance(shape, Shape):
        return list(shape.points)
    width, (x, y) = text_width(shape.text, shape.style), shape.at
    left = {"start": x, "middle": x - width / 2, "end": x - width}[shape.anchor]
    return [(left, y), (left + width, y)]
