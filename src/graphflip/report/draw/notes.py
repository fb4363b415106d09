"""Notes: numbers that changed, beside their node or edge, placed where they cover as little as possible."""

from collections.abc import Sequence
from math import pi

import numpy as np

from .routes import distance, middle
from .scene import FONT, REACH, UNIT, Box, Element, Form, Point, Shape, Text, polar, text_width

Number = tuple[str, float, float]
"""Name of a numeric attribute, its old and its new value."""

_ROW = 1.2 * FONT["note"]
_SIGN = 9.0
"""Width of the arrow before a text."""


def place_notes(drawn: Sequence[Element], noted: Sequence[tuple[Element, Sequence[Number]]]) -> list[Element]:
    """An element for each note: for each number an arrow up or down, its name, and its old and new value."""
    taken: list[Box] = [_around(element.spot[0]) for element in drawn if len(element.spot) == 1]
    edges = [element.spot for element in drawn if len(element.spot) > 1]
    placed = []
    for element, numbers in noted:
        texts = [f"{name} {_short(old)} → {_short(new)}" for name, old, new in numbers]
        size = _SIGN + max(text_width(text, "note") for text in texts), _ROW * len(texts)
        # Distance costs a little, but less than covering an edge.
        costs = {box: _covered(box, taken, edges) + 0.01 * UNIT * far for box, far in _choices(element, size)}
        box = min(costs, key=lambda choice: costs[choice])
        taken.append(box)
        placed.append(Element(element.key, element.mark, _forms(box, texts, numbers), ()))
    return placed


def _short(number: float) -> str:
    """At most three significant digits: 0.31, 12.5, 1.2e-05."""
    return f"{number:.3g}"


def _choices(element: Element, size: tuple[float, float]) -> list[tuple[Box, float]]:
    """Possible boxes of a note with their distance from its element; boxes beside it come first."""
    is_node = len(element.spot) == 1
    (x, y), near = (element.spot[0], 1.75 * REACH) if is_node else (middle(element.spot), 0.8 * REACH)
    (width, height), boxes = size, []
    for far in (near + k * 0.5 * UNIT for k in range(4)):
        for turn in (0, -1, 1, 4, -3, 3, -2, 2):
            dx, dy = (round(far * part, 3) for part in polar((0.0, 0.0), turn * pi / 4, 1.0))
            boxes.append(
                ((x + dx - width * _offset_share(dx), y + dy - height * _offset_share(dy), width, height), far)
            )
    return boxes


def _offset_share(step: float) -> float:
    """Share of a box's width (or height) to subtract if it lies at this side of its element: 0, a half, or 1."""
    return 0.5 if step == 0 else float(step < 0)


def _covered(box: Box, taken: Sequence[Box], edges: Sequence[Sequence[Point]]) -> float:
    """Cost of a box: the area of nodes and notes that it covers, plus a constant for each edge."""
    left, top, width, height = box
    centers = np.array([(left + s * width, top + height / 2) for s in (0.0, 0.25, 0.5, 0.75, 1.0)])
    crossed = sum(distance(tuple(edge), centers) < height / 2 + 2 for edge in edges)
    return sum(_overlap(box, other) for other in taken) + 0.2 * UNIT**2 * crossed


def _overlap(a: Box, b: Box) -> float:
    """Area that two boxes share."""
    sides = [min(a[k] + a[k + 2], b[k] + b[k + 2]) - max(a[k], b[k]) for k in (0, 1)]
    return max(0.0, sides[0]) * max(0.0, sides[1])


def _around(at: Point) -> Box:
    """The box of a node and its halo."""
    return at[0] - 1.2 * REACH, at[1] - 1.2 * REACH, 2.4 * REACH, 2.4 * REACH


def _forms(box: Box, texts: Sequence[str], numbers: Sequence[Number]) -> tuple[Form, ...]:
    """An arrow and a text for each number, in rows."""
    left, top, *_ = box
    forms: list[Form] = []
    for row, (text, (_, old, new)) in enumerate(zip(texts, numbers, strict=True)):
        x, y, s = left + 3, top + (row + 0.5) * _ROW, 3.0 if new < old else -3.0
        forms.append(Shape(((x - 3, y - s), (x + 3, y - s), (x, y + s)), "arrow"))
        forms.append(Text((x + 6, y), text, "note", "start"))
    return tuple(forms)
