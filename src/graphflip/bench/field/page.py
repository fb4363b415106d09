"""One page with tables and pictures of the field; it opens without a server and fetches nothing."""

import html
import re
from collections.abc import Iterator, Mapping

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap; }
td:last-child { white-space: normal; }
th { border-bottom: 2px solid #888; }
svg { max-width: 100%; height: auto; }
code { background: #f3f3f3; padding: .1rem .3rem; }
@media (prefers-color-scheme: dark) {
  body { background: #fff; }
}
"""
_CAPTIONS = {
    "believed.svg": "Edits against the agreement of judges: up and to the left is better. The line joins methods that "
    "no other beats in both.",
    "seconds.svg": "Seconds against edits: down and to the left is better.",
}


def page_of(markdown: str, pictures: Mapping[str, bytes]) -> str:
    """Make the page from the Markdown of the tables and the pictures as SVG."""
    drawn = [
        f"<figure>{_inline(picture)}<figcaption>{html.escape(_CAPTIONS.get(name, name))}</figcaption></figure>"
        for name, picture in pictures.items()
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><title>The field in one table</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style></head><body>",
            "<h1>Counterfactuals of graphs: the field in one table</h1>",
            *drawn,
            *_blocks(markdown.splitlines()),
            "</body></html>",
            "",
        ]
    )


def _inline(picture: bytes) -> str:
    """An SVG without its declaration, to stand inside a page."""
    text = picture.decode()
    return text[text.index("<svg") :]


def _blocks(lines: list[str]) -> Iterator[str]:
    """HTML of the few kinds of Markdown that the tables use: headings, tables, lists and paragraphs."""
    at = 0
    while at < len(lines):
        line = lines[at]
        group = 1
        if line.startswith("|"):
            group = _run(lines, at, "|")
            yield _table(lines[at : at + group])
        elif line.startswith("- "):
            group = _run(lines, at, "- ")
            yield "<ul>" + "".join(f"<li>{_text(one[2:])}</li>" for one in lines[at : at + group]) + "</ul>"
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            yield f"<h{level}>{_text(line[level:].strip())}</h{level}>"
        elif line:
            yield f"<p>{_text(line)}</p>"
        at += group


def _run(lines: list[str], at: int, start: str) -> int:
    """Number of lines from here on that begin alike."""
    count = 0
    while at + count < len(lines) and lines[at + count].startswith(start):
        count += 1
    return count


def _table(lines: list[str]) -> str:
    rows = [[_text(cell.strip()) for cell in line.strip("|").split("|")] for line in lines]
    head = "".join(f'<th scope="col">{cell}</th>' for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[2:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: str) -> str:
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", text)
