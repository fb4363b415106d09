"""Scenes as SVG, without scripts, with all texts escaped and colors by CSS classes."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from .palette import LIGHT, stylesheet
from .scene import FONT, REACH, Element, Form, Lines, Point, Scene, Shape, Text


def to_svg(scene: Scene, size: tuple[int, int] | None = None, standalone: bool = True, brief: bool = False) -> str:
    """A scene as SVG text. Each node and each edge is an element of class `atom-i` or `bond-i-j`.

    A `standalone` picture has its own style and a white background; others use the style of their page. A `brief`
    picture has such elements only for marked nodes and edges, and draws all other edges as one path, to save space.
    """
    left, top, width, height = (_short(value) for value in scene.box)
    shown = size or (round(scene.box[2]), round(scene.box[3]))
    ground = f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="{LIGHT.ground}"/>'
    own = f"<style>{stylesheet(LIGHT)}</style>{ground}" if standalone else ""
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    label = f' aria-label="{escape(scene.alt)}"' if scene.alt else ""
    body = _brief(scene) if brief else "".join(map(_element, scene.elements))
    return (
        f'<svg{space} class="gf" viewBox="{left} {top} {width} {height}" width="{shown[0]}" height="{shown[1]}" '
        f'role="img"{label}>{own}{body}</svg>'
    )


def _brief(scene: Scene) -> str:
    """Content of a brief picture: plain edges, marked elements, other shapes, and notes over all."""
    plain = [shape for element in scene.elements if not element.mark for shape in element.shapes]
    lines = "".join(_path(shape) for shape in plain if isinstance(shape, Lines) and shape.style == "bond")
    colored = [shape for shape in plain if shape.style in ("toward", "away")]
    below = "".join(map(_shape, colored))
    rest = "".join(
        _shape(shape) for shape in plain if not isinstance(shape, Lines) and shape.style not in _NOT_IN_BRIEF
    )
    elements = [element for element in scene.elements if element.mark]
    marked = "".join(_element(element, spots=False) for element in elements if element.spot)
    notes = "".join(_element(element, spots=False) for element in elements if not element.spot)
    stroke = f'<path class="bond" d="{lines}"/>' if lines else ""
    return below + stroke + marked + rest + notes


_NOT_IN_BRIEF = ("quiet", "toward", "away")


def _element(element: Element, spots: bool = True) -> str:
    shapes = "".join(_shape(shape) for shape in element.shapes) + (_spot(element.spot) if spots else "")
    return f'<g class="{f"{element.key} {element.mark}".strip()}">{shapes}</g>'


def _spot(points: Sequence[Point]) -> str:
    """The invisible shape that a pointer can hit."""
    if not points:
        return ""
    if len(points) > 1:
        return f'<path class="spot" d="{_path(Lines(tuple(pairwise(points))))}"/>'
    x, y = (_short(value) for value in points[0])
    return f'<circle class="spot" cx="{x}" cy="{y}" r="{_short(REACH)}"/>'


def _shape(shape: Form) -> str:
    if isinstance(shape, Lines):
        return f'<path class="{shape.style}"{_strength(shape, "stroke")} d="{_path(shape)}"/>'
    if isinstance(shape, Text):
        x, y = _short(shape.at[0]), _short(shape.at[1] + 0.36 * FONT[shape.style])
        classes = shape.style if shape.anchor == "middle" else f"{shape.style} {shape.anchor}"
        return f'<text class="{classes}" x="{x}" y="{y}">{escape(shape.text)}</text>'
    if shape.radius:
        x, y, r = (_short(value) for value in (*shape.points[0], shape.radius))
        return f'<circle class="{shape.style}"{_strength(shape, "fill")} cx="{x}" cy="{y}" r="{r}"/>'
    corners = "L".join(map(_pair, shape.points))
    return f'<path class="{shape.style}" d="M{corners}z"/>'


def _strength(shape: Lines | Shape, what: str) -> str:
    return "" if shape.strength == 1.0 else f' {what}-opacity="{shape.strength:.2f}"'


def _path(lines: Lines) -> str:
    """Path data of some lines; lines that join end to start are drawn as one."""
    parts, at = [], None
    for start, end in lines.segments:
        parts.append(f"L{_pair(end)}" if start == at else f"M{_pair(start)}L{_pair(end)}")
        at = end
    return "".join(parts)


def _pair(point: Point) -> str:
    return f"{_short(point[0])} {_short(point[1])}"


def _short(value: float) -> str:
    """A coordinate with one digit after the point, or none."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
