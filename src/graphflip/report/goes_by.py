"""The page "What it goes by" as the viewer serves it: stored summaries, with links to the workbench."""

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from ..errors import ConfigError

if TYPE_CHECKING:
    from ..summary.results.summary import ModelSummary

ADDRESS = "/goes-by"
STYLE = "goes-by.css"


def style() -> bytes:
    """Rules of the page."""
    folder = Path(__file__).parent / "assets"
    return b"".join((folder / name).read_bytes() for name in ("report.css", "summary.css"))


def page(folders: Sequence[str], models: Mapping[str, str]) -> str:
    """Write the page for some summaries.

    Args:
        folders: Folders that `graphflip summarize` wrote.
        models: Kits of the viewer: for each title the name or folder; a summary must be of one of them.

    Returns:
        HTML whose files stand under /assets/.

    Raises:
        ConfigError: If a folder has no summary, or one of another kit.
    """
    body, title = _EMPTY, "What it goes by"
    if folders:  # a server without summaries does without torch
        from .summary_page import summary_body, title_of

        told = [_read(Path(folder), models) for folder in folders]
        body = "".join(summary_body(summary, _links(summary, name)) for summary, name in told)
        title = escape("; ".join(title_of(summary) for summary, _ in told))
    return _PAGE.replace("{title}", title).replace("{body}", body)


def _read(folder: Path, models: Mapping[str, str]) -> tuple["ModelSummary", str]:
    """A summary, and the kit of the viewer that it is of, as the page shows its name."""
    from ..explain.kit import load_kit
    from ..summary.results.stored import summary_from_json

    try:
        stored = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{folder}: there must be a summary.json, as `graphflip summarize --out {folder}` writes it; {error}."
        ) from error
    for title, model in models.items():
        kit = load_kit(model)
        if kit.name == stored.get("model"):
            return summary_from_json(stored, kit.schema), title
    raise ConfigError(
        f"{folder}: a summary must be of a kit that is served ({', '.join(models)}); it is of {stored.get('model')}. "
        "Add it with --model."
    )


def _links(summary: "ModelSummary", title: str) -> Callable[[str], str]:
    """Addresses of the workbench at which graphs of a summary can be looked at and explained."""

    def link(name: str) -> str:
        given = summary.inputs.get(name)
        if given is None:
            return ""
        field = {"smiles": given} if isinstance(given, str) else {"graph": json.dumps(given)}
        return f"/#{urlencode({'model': title, **field, 'name': name, 'look': ''}, quote_via=quote)}"

    return link


_EMPTY = (
    "<main><h1>What it goes by</h1><p>No summary is served. "
    "<code>graphflip summarize DATA --model KIT --out DIR</code> "
    "makes one; <code>graphflip serve --summary DIR</code> shows it here.</p></main>"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="/assets/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/drawing.css">
<link rel="stylesheet" href="/assets/goes-by.css">
</head>
<body>
<nav><a href="/">← Workbench</a></nav>
{body}
</body>
</html>
"""
