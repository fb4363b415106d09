"""Explanations as one self-contained HTML page: no network, no script."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..edits import heavy_edits
from ..explain.explainer import Counterfactual
from ..explain.words import describe
from ..models.files import write_atomically
from .draw import draw_pair


@dataclass(frozen=True)
class Entry:
    """An explanation with what a reader should know about it: its title, names of classes, and what judges say."""

    title: str
    found: Counterfactual
    classes: tuple[str, ...]
    verdicts: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()


def write_page(path: Path, heading: str, summary: str, entries: Sequence[Entry]) -> None:
    """Write the page atomically."""
    body = "\n".join(_section(entry) for entry in entries)
    text = _PAGE.format(heading=html.escape(heading), summary=html.escape(summary), body=body)
    write_atomically(path, text.encode())


def _section(entry: Entry) -> str:
    found = entry.found
    target = html.escape(entry.classes[found.target])
    if found.counterfactual is None:
        pictures, words = "", []
    else:
        before, after = (picture.svg() for picture in draw_pair(found.factual, found.counterfactual))
        pictures = f"<figure>{before}<figcaption>as it is</figcaption></figure>"
        pictures += f"<figure>{after}<figcaption>{'changed' if found.flipped else 'last attempt'}</figcaption></figure>"
        words = describe(found)
    heavy = len(heavy_edits(found.factual, found.edits))
    after_text = "" if found.p_counterfactual is None else f" → <b>{found.p_counterfactual:.2f}</b>"
    lines = [
        f"probability of <b>{target}</b>: {found.p_factual:.2f}{after_text}",
        f"{len(found.edits)} edits, {heavy} of them not counting hydrogens",
        *(f"{html.escape(judge)} {p:.2f}" for judge, p in entry.verdicts),
        *(html.escape(note) for note in entry.notes),
        *([] if found.flipped else [html.escape(found.outcome.advice)]),
    ]
    items = "".join(f"<li>{line}</li>" for line in lines)
    listed = "".join(f"<li>{html.escape(word)}</li>" for word in words)
    edits = f"<details><summary>edits</summary><ol>{listed}</ol></details>" if words else ""
    state = "flipped" if found.flipped else "not found"
    return (
        f'<section><h2>{html.escape(entry.title)} <span class="{state.replace(" ", "-")}">{state}</span></h2>'
        f'<div class="pair">{pictures}</div><ul>{items}</ul>{edits}</section>'
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1b1b1b; background: #fdfdfc; }}
section {{ border-top: 1px solid #ccc; padding: 1rem 0; }}
h2 {{ font-size: 1.1rem; margin: 0 0 .5rem; }}
h2 span {{ font-weight: normal; font-size: .85rem; padding: .1rem .5rem; border-radius: 1rem; border: 1px solid; }}
.flipped {{ color: #00634a; }} .not-found {{ color: #8a3b00; }}
.pair {{ display: flex; flex-wrap: wrap; gap: 1rem; }}
figure {{ margin: 0; border: 1px solid #e2e2e2; border-radius: .5rem; background: #fff; }}
figcaption {{ text-align: center; color: #555; font-size: .85rem; padding-bottom: .3rem; }}
.legend b {{ padding: 0 .4rem; border-radius: .3rem; }}
.r {{ background: #d65f00; color: #fff; }} .a {{ background: #009e73; color: #fff; }} .c {{ background: #f0e442; }}
</style></head><body>
<h1>{heading}</h1>
<p>{summary}</p>
<p class="legend">Marked: <b class="r">removed</b> <b class="a">added</b> <b class="c">changed</b>.
Hydrogens are drawn only where an edit touches them.</p>
{body}
</body></html>
"""
