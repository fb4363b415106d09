"""Colors and line widths of pictures; the colors of Okabe and Ito, which color-blind people can tell apart."""

from typing import NamedTuple

from .scene import FONT, Mark


class Theme(NamedTuple):
    """Colors of lines and text, of numbers, of the background and of nodes, one for each mark, and two for importance.

    A place holds the prediction where changes lead `toward` the target; it speaks against it where they lead `away`.
    """

    ink: str
    faint: str
    ground: str
    node: str
    added: str
    removed: str
    changed: str
    toward: str
    away: str

    def of(self, mark: Mark) -> str:
        """The color of a mark; that of plain lines if there is none."""
        return getattr(self, mark) if mark else self.ink

    def variables(self) -> str:
        """The colors as CSS variables, for pages with two themes."""
        return "".join(f"--{name}:{color};" for name, color in self._asdict().items())


LIGHT = Theme("#1d1f21", "#666b71", "#ffffff", "#eef0f2", "#009e73", "#d55e00", "#0072b2", "#cc79a7", "#56b4e9")
DARK = Theme("#e8e6e3", "#a0a6ad", "#17191c", "#2b2f34", "#35c99b", "#ff9350", "#5ab4ee", "#e08cbc", "#4aa3d8")
BY_PAGE = Theme(*(f"var(--{name})" for name in Theme._fields))
"""Colors by CSS variables that the page sets."""

WIDTH = {"bond": 1.6, "band": 10.0, "glyph": 2.2, "halo": 1.6, "node": 1.2, "edging": 3.0, "toward": 11.0, "away": 11.0}
"""Widths of lines by style; the edging is the outline that separates notes from what is below them."""

DASHES = (3.0, 2.0)
"""Lengths of dashes and gaps in the halo of a removed node."""

FAINT = 0.22
"""Opacity of bands and of the inside of halos."""


def stylesheet(theme: Theme) -> str:
    """CSS of pictures; every rule is for elements inside class `gf`."""
    rules = {
        "": "font-family:system-ui,sans-serif",
        "text": f"text-anchor:middle;fill:{theme.ink}",
        "path": "stroke-linejoin:round",
        ".bond": f"fill:none;stroke:{theme.ink};stroke-width:{WIDTH['bond']};stroke-linecap:round",
        ".band": f"fill:none;stroke-width:{WIDTH['band']};stroke-opacity:{FAINT};stroke-linecap:round",
        ".glyph": f"fill:{theme.ground};stroke-width:{WIDTH['glyph']};stroke-linecap:round",
        ".halo": f"fill-opacity:{FAINT};stroke-width:{WIDTH['halo']}",
        ".node": f"fill:{theme.node};stroke:{theme.ink};stroke-width:{WIDTH['node']}",
        ".head": f"fill:{theme.ink}",
        ".spot": "fill:none;stroke-width:14;pointer-events:all",
        ".label": f"font-size:{FONT['label']}px",
        ".number": f"font-size:{FONT['number']}px;fill:{theme.faint}",
        ".quiet": f"font-size:{FONT['quiet']}px;fill:{theme.faint};visibility:hidden",
        "path.toward": f"fill:none;stroke:{theme.toward};stroke-width:{WIDTH['toward']};stroke-linecap:round",
        "path.away": f"fill:none;stroke:{theme.away};stroke-width:{WIDTH['away']};stroke-linecap:round",
        "circle.toward": f"fill:{theme.toward}",
        "circle.away": f"fill:{theme.away}",
        ".note": f"font-size:{FONT['note']}px;fill:{theme.faint};stroke:{theme.ground};stroke-width:{WIDTH['edging']};"
        "paint-order:stroke;stroke-linejoin:round",
        ".start": "text-anchor:start",
        ".end": "text-anchor:end",
        ".removed .halo": f"stroke-dasharray:{DASHES[0]} {DASHES[1]}",
    }
    for mark in ("added", "removed", "changed"):
        rules |= {f".{mark} .{style}": f"stroke:{theme.of(mark)}" for style in ("bond", "band", "glyph")}
        rules |= {f".{mark} .{style}": f"fill:{theme.of(mark)}" for style in ("arrow", "head", "note")}
        rules[f".{mark} .halo"] = rules.get(f".{mark} .halo", "") + f";fill:{theme.of(mark)};stroke:{theme.of(mark)}"
    return "".join(f".gf {selector}{{{rule.strip(';')}}}" for selector, rule in rules.items())


def page_style() -> str:
    """CSS of pictures on a page that is light or dark as the system is."""
    dark = f"@media (prefers-color-scheme:dark){{:root{{{DARK.variables()}}}}}"
    return f":root{{{LIGHT.variables()}}}{dark}{stylesheet(BY_PAGE)}"


def switchable_page_style() -> str:
    """CSS of pictures on a page whose theme can be switched by `data-theme` of its root."""
    scope = ".gf,.legend"
    dark = f":root:not([data-theme=light]) :is({scope}){{{DARK.variables()}}}"
    chosen = f":root[data-theme=dark] :is({scope}){{{DARK.variables()}}}"
    return f"{scope}{{{LIGHT.variables()}}}@media (prefers-color-scheme:dark){{{dark}}}{chosen}{stylesheet(BY_PAGE)}\n"
