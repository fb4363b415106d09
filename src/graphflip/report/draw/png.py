"""Scenes as PNG, drawn with matplotlib."""

from io import BytesIO
from typing import Any

from ...errors import require
from .palette import DASHES, FAINT, LIGHT, WIDTH, Theme
from .scene import FONT, Element, Form, Lines, Mark, Scene, Shape, Text


def to_png(scene: Scene, scale: float = 2.0, theme: Theme = LIGHT) -> bytes:
    """The bytes of a PNG file with `scale` pixels for each unit of the scene."""
    require("matplotlib", "plot", "PNG pictures")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    left, top, width, height = scene.box
    figure = Figure(figsize=(width / 72, height / 72), dpi=72 * scale, facecolor=theme.ground)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(left, left + width)
    axes.set_ylim(top + height, top)
    for order, element in enumerate(scene.elements):
        for shape in element.shapes:
            if shape.style != "quiet":
                _paint(axes, shape, element, theme, order)
    buffer = BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()


def _paint(axes, shape: Form, element: Element, theme: Theme, order: int) -> None:
    """Draw one shape of an element; higher orders lie above lower ones."""
    if isinstance(shape, Lines):
        color, alpha = theme.of(element.mark), FAINT if shape.style == "band" else shape.strength
        color = getattr(theme, shape.style) if shape.style in ("toward", "away") else color
        look = {"color": color, "alpha": alpha, "linewidth": WIDTH[shape.style], "solid_capstyle": "round"}
        for a, b in shape.segments:
            axes.plot(*zip(a, b, strict=True), zorder=order, **look)
    elif isinstance(shape, Text):
        from matplotlib.patheffects import withStroke

        place = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        inks = {"label": theme.ink, "number": theme.faint}
        color = inks.get(shape.style, theme.of(element.mark) if element.mark else theme.faint)
        look = {"color": color, "fontsize": FONT[shape.style], "ha": place, "va": "center_baseline"}
        text = axes.text(*shape.at, _plain(shape.text), zorder=order, **look)
        if shape.style == "note":
            text.set_path_effects([withStroke(linewidth=WIDTH["edging"], foreground=theme.ground)])
    else:
        from matplotlib.patches import Circle, Polygon

        look = _look(shape, element.mark, theme)
        patch = Circle(shape.points[0], shape.radius, **look) if shape.radius else Polygon(shape.points, **look)
        patch.set_zorder(order)
        axes.add_patch(patch)


def _look(shape: Shape, mark: Mark, theme: Theme) -> dict[str, Any]:
    """Colors and outline of a shape, as arguments of a matplotlib patch."""
    from matplotlib.colors import to_rgba

    color = theme.of(mark)
    if shape.style in ("toward", "away"):
        return {"facecolor": to_rgba(getattr(theme, shape.style), shape.strength), "linewidth": 0.0}
    if shape.style == "halo":
        dashes = {"linestyle": (0, DASHES)} if mark == "removed" else {}
        return {"facecolor": to_rgba(color, FAINT), "edgecolor": color, "linewidth": WIDTH["halo"]} | dashes
    if shape.style == "glyph":
        return {"facecolor": theme.ground, "edgecolor": color, "linewidth": WIDTH["glyph"]}
    if shape.style == "node":
        return {"facecolor": theme.node, "edgecolor": theme.ink, "linewidth": WIDTH["node"]}
    return {"facecolor": color, "linewidth": 0.0}


def _plain(text: str) -> str:
    """Escape a text so that matplotlib does not read it as a formula."""
    return text.replace("$", r"\$")
