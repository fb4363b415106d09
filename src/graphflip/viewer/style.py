"""The style of drawings on the page."""

from ..report.palette import BY_PAGE, DARK, LIGHT, stylesheet


def page_style() -> str:
    """Drawings in the page's light and its dark theme, as CSS."""
    scope = ".gf,.legend"
    dark = f":root:not([data-theme=light]) :is({scope}){{{DARK.variables()}}}"
    chosen = f":root[data-theme=dark] :is({scope}){{{DARK.variables()}}}"
    return f"{scope}{{{LIGHT.variables()}}}@media (prefers-color-scheme:dark){{{dark}}}{chosen}{stylesheet(BY_PAGE)}\n"
