"""Convert the Markdown of benchmark tables to HTML: headings, tables, lists and paragraphs; the rest is plain text."""

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby


def markdown_to_html(markdown: str) -> str:
    """Convert Markdown to HTML. Headings of every level become <h3>."""
    return "".join(_block(kind, list(lines)) for kind, lines in groupby(markdown.splitlines(), _kind))


def _kind(line: str) -> str:
    """The kind of block that a line belongs to."""
    if line.startswith("#"):
        return "heading"
    if line.startswith("|"):
        return "table"
    if line.startswith("- "):
        return "item"
    return "numbered" if re.match(r"\d+\. ", line) else "text" if line.strip() else "blank"


def _block(kind: str, lines: list[str]) -> str:
    if kind == "heading":
        return "".join(f"<h3>{_inline(line.lstrip('# '))}</h3>" for line in lines)
    if kind == "table":
        return _table(lines)
    if kind == "item":
        return f"<ul>{_items(line[2:] for line in lines)}</ul>"
    if kind == "numbered":
        return f"<ol>{_items(line.partition('. ')[2] for line in lines)}</ol>"
    return f"<p>{_inline(' '.join(lines))}</p>" if kind == "text" else ""


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{_inline(text)}</li>" for text in texts)


def _table(lines: list[str]) -> str:
    header, *rows = [list(_cells(line)) for line in lines if not re.fullmatch(r"[|:\- ]+", line)]
    head = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(line: str) -> Iterator[str]:
    return (cell.strip() for cell in line.strip().strip("|").split("|"))


def _inline(text: str) -> str:
    """Escape a text, and convert `code` and **bold** in it."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
