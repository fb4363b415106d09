"""The page "What it goes by": a summary of a model as one HTML file that loads nothing and runs nothing."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from ..describe.wording import sentences
from ..errors import DataError
from ..explain.counterfactual import Counterfactual
from ..models.storage.files import write_atomically
from ..summary.results.summary import (
    MOST_LISTED,
    CommonRecourse,
    DirectionSummary,
    ModelSummary,
    RepresentativeGraph,
)
from ..version import __version__
from .draw.palette import page_style
from .draw.pictures import draw_graph, draw_pair

_ASSETS = Path(__file__).parent / "assets"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 520, 240, 40, 28, 12
_CHOSEN, _HELD_OUT = "graphs that they were chosen on", "held-out graphs"
_BOUND = "the most that any choice could flip of those it is made on"


def write_summary(path: Path, summary: ModelSummary) -> None:
    """Write the page of a summary; the file is complete or not there at all.

    Args:
        path: File of the page.
        summary: The summary.

    Raises:
        DataError: If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, summary_html(summary).encode())
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}). Give another folder with --out.") from error


def summary_html(summary: ModelSummary) -> str:
    """Write a summary as HTML, whose content security policy forbids loading anything and running any script."""
    style = summary_style() + page_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = escape(title_of(summary))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>{summary_body(summary)}</body></html>\n"
    )


def summary_style() -> str:
    """Rules of the page without the colors of drawings."""
    return (_ASSETS / "report.css").read_text() + (_ASSETS / "summary.css").read_text()


def title_of(summary: ModelSummary) -> str:
    """Title of the page."""
    return f"What {summary.model} goes by"


def summary_body(summary: ModelSummary, link: Callable[[str], str] | None = None) -> str:
    """Write the content of the page.

    Args:
        summary: The summary.
        link: Gives the address at which a graph can be looked at, by its id; empty if there is none.
    """
    remarks = " ".join([f"Made from the graphs of {summary.data}.", *summary.remarks])
    parts = "".join(_direction(part, link or (lambda _: "")) for part in summary.directions)
    return (
        f'<header><h1>{escape(title_of(summary))}</h1><p class="summary">{escape(remarks)}</p></header>'
        f"<main>{parts}</main><footer>{escape(_settings(summary))} Written by graphflip {__version__}.</footer>"
    )


def _settings(summary: ModelSummary) -> str:
    options = summary.options
    believed = " and the surrogates agree on average" if options.get("believed") else ""
    return (
        f"A flip counts if the classifier predicts the target{believed}, at a cost of at most {options.get('theta')}: "
        "edits over the number of nodes and edges of both graphs, an upper bound of the normalized edit distance."
    )


def _direction(part: DirectionSummary, link: Callable[[str], str]) -> str:
    head = f"<h2>To {escape(part.target)}</h2>"
    lead = (
        f"<p>{_graphs_of(part.total)} {'is' if part.total == 1 else 'are'} predicted as something else. The changes "
        f"below were chosen on {part.chosen_on} of them, and tested on the others, which were held out.</p>"
    )
    little = "".join(f'<p class="little">There is little to say: {escape(reason)}</p>' for reason in part.reasons)
    recourses = "".join(_recourse(k, one, link) for k, one in enumerate(part.recourses, 1))
    left = "".join(f"<li>{escape(reason)}: {_graphs_of(count)}</li>" for reason, count in part.uncovered.items())
    uncovered = f"<h3>Held-out graphs that none of these changes flips</h3><ul>{left}</ul>" if left else ""
    content = f"{head}{lead}{little}{_curves(part)}{recourses}{uncovered}{_graphs(part, link)}"
    return f'<section class="direction">{content}</section>'


def _graphs(part: DirectionSummary, link: Callable[[str], str]) -> str:
    """Graphs of the target that are near many inputs."""
    if not part.graphs:
        return ""
    figures = "".join(_standing(one, link) for one in part.graphs)
    return f'<h3>Graphs of that class that are near many of these</h3><div class="graphs">{figures}</div>'


def _standing(one: RepresentativeGraph, link: Callable[[str], str]) -> str:
    said = f"{one.words}: near {one.near.count} of {one.near.total}; of held-out graphs {one.held_out}"
    listed = _ids("graphs it is near", one.covers, link)
    picture = draw_graph(one.graph).svg(standalone=False, brief=True)
    return f"<figure>{picture}<figcaption>{escape(said)}</figcaption>{listed}</figure>"


def _recourse(rank: int, one: CommonRecourse, link: Callable[[str], str]) -> str:
    where = f'<p class="where">{escape("; ".join(one.where))}</p>' if one.where else ""
    agreed = "".join(f"; {escape(name)} agrees on {share.value:.0%}" for name, share in one.judges.items())
    edits = f"{one.edits:.1f}".removesuffix(".0")
    figures = (
        f"Applies to {one.applies.count:,} of {one.applies.total:,} graphs, flips {one.flips.value:.0%} of them. "
        f"On held-out graphs: {one.held_out}{agreed}; {edits} {'edit' if edits == '1' else 'edits'} each."
    )
    share = (
        f"It adds {_graphs_of(one.gain)} that no change above flips; {one.overlap:.0%} of those that it flips are "
        "flipped by one above, too."
    )
    faint = f'<p class="faint">{escape(share)}</p>' if rank > 1 else ""
    return (
        f'<article class="recourse"><h3><span class="rank">{rank}</span>{escape(_capital(one.words))}</h3>{where}'
        f"<p>{escape(figures)}</p>{faint}"
        f"{_cases('Examples', one.examples, is_open=rank == 1)}{_cases('Where it fails', one.failures)}"
        f"{_ids('graphs it flips', one.covers, link)}</article>"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _graphs_of(count: int) -> str:
    return "1 graph" if count == 1 else f"{count:,} graphs"


def _cases(title: str, answers: Sequence[Counterfactual], is_open: bool = False) -> str:
    shown = "".join(_case(one) for one in answers if one.counterfactual is not None)
    opened = " open" if is_open else ""
    return f'<details{opened}><summary>{title}</summary><div class="cases">{shown}</div></details>' if shown else ""


def _case(answer: Counterfactual) -> str:
    """One graph before and after, with the change in words and what the classifier says of both."""
    after = answer.counterfactual
    if after is None:
        return ""
    pictures = draw_pair(answer.factual, after)
    captions = (
        f"{answer.p_factual:.2f}",
        "no answer" if answer.p_counterfactual is None else f"{answer.p_counterfactual:.2f}",
    )
    figures = "".join(
        f"<figure>{picture.svg(standalone=False, brief=True)}<figcaption>{caption}</figcaption></figure>"
        for picture, caption in zip(pictures, captions, strict=True)
    )
    said = "; ".join(one.text for one in sentences(answer.factual, after)[:4])
    return f'<div class="case"><div class="pair">{figures}</div><p>{escape(answer.id)}: {escape(said)}</p></div>'


def _ids(what: str, ids: Sequence[str], link: Callable[[str], str]) -> str:
    """Names of graphs, behind a click."""
    listed = "".join(f"<li>{_linked(one, link(one))}</li>" for one in ids[:MOST_LISTED])
    more = f"<p>and {len(ids) - MOST_LISTED} more</p>" if len(ids) > MOST_LISTED else ""
    return f'<details><summary>The {len(ids)} {what}</summary><ul class="ids">{listed}</ul>{more}</details>'


def _linked(name: str, address: str) -> str:
    return f'<a href="{escape(address)}">{escape(name)}</a>' if address else escape(name)


def _curves(part: DirectionSummary) -> str:
    """Share covered by the first k recourses, with its bound, on held-out graphs, and by baselines."""
    curves = {
        _CHOSEN: part.curve,
        _HELD_OUT: part.held_out_curve,
        **part.baselines,
        _BOUND: part.bound,
    }
    curves = {name: values for name, values in curves.items() if values}
    if not curves:
        return ""
    styles = {name: "c3" if name == _BOUND else f"c{min(k, 2)}" for k, name in enumerate(curves)}
    most = max(map(len, curves.values()))
    lines = "".join(
        f'<polyline class="{styles[name]}" points="{_points(values, most)}"/>' for name, values in curves.items()
    )
    ticks = "".join(
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{_y(share):.1f}" y2="{_y(share):.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    label = f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">number of changes, 1 to {most}</text>'
    keys = "".join(
        '<li><svg viewBox="0 0 20 6" aria-hidden="true">'
        f'<line class="{styles[name]}" x1="0" x2="20" y1="3" y2="3"/></svg>{escape(name)}: {values[-1]:.0%}</li>'
        for name, values in curves.items()
    )
    alt = escape("; ".join(f"{name} {values[-1]:.0%}" for name, values in curves.items()))
    return (
        f'<svg class="curve" role="img" aria-label="Share of graphs flipped: {alt}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'{ticks}{lines}{label}</svg><ul class="keys">{keys}</ul>'
    )


def _points(values: Sequence[float], most: int) -> str:
    step = (_WIDTH - _LEFT - 20) / max(1, most)
    return " ".join(f"{_LEFT + step * k:.1f},{_y(value):.1f}" for k, value in enumerate((0.0, *values)))


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)
