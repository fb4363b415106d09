"""The report: results as one self-contained HTML file, no network, readable without its script."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean, median

from ..edits import heavy_edits
from ..errors import DataError
from ..explain.counterfactual import Counterfactual
from ..models.storage.files import write_atomically
from ..version import __version__
from .draw.palette import BY_PAGE, DARK, LIGHT, stylesheet
from .draw.pictures import draw_legend
from .markdown import markdown_to_html
from .results import Lot, Results
from .rows import agrees, explanation_row, unread_row

_ASSETS = Path(__file__).parent / "assets"
_NUMBERS = {"probability": ("Probability", "most probable"), "value": ("Value", "highest value")}
"""What the column of numbers is called, and what comes first when it is sorted downwards."""


def write_report(path: Path, results: Results) -> None:
    """Write the report of results, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, report_html(results).encode())
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}). Give another file with --out.") from error


def report_html(results: Results) -> str:
    """The whole page. A policy forbids it to load anything or to run any script but its own."""
    style = (_ASSETS / "report.css").read_text() + page_style()
    script = (_ASSETS / "report.js").read_text()
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(results.title)
    body = [_tables(results), _figures(results.figures), _explanations(results)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#explanations">To the explanations</a>'
        f'<header><h1>{title}</h1><p class="summary">{escape(summary(results))}</p></header>'
        f"<main>{''.join(body)}</main><footer>Written by graphflip {__version__}.</footer>"
        f"<script>{script}</script></body></html>\n"
    )


def page_style() -> str:
    """The style of pictures on a page with a light and a dark theme."""
    dark = f"@media (prefers-color-scheme:dark){{:root{{{DARK.variables()}}}}}"
    return f":root{{{LIGHT.variables()}}}{dark}{stylesheet(BY_PAGE)}"


def summary(results: Results) -> str:
    """What the results say, in one paragraph."""
    found = [one for lot in results.lots for one in lot.explanations]
    shown, total = (sum(getattr(lot, name) for lot in results.lots) for name in ("shown", "total"))
    if not shown:
        return "No explanations are stored here."
    flipped = [one for one in found if one.flipped]
    cut = [f"Shown are {shown} of {total} explanations, the first of each file."] if total > shown else []
    if results.tables:
        return " ".join([f"Tables, figures and explanations of {len(results.lots)} runs.", *cut])
    goals = {"probability": "that the classifier assigns to the target class", "value": "with a value as asked for"}
    first = f"{len(flipped)} of {shown} searches found a graph {goals.get(_unit(found), 'that reaches the target')}."
    return " ".join([*cut, first, *_of_the_flipped(flipped), *_of_the_others(results)])


def _of_the_flipped(flipped: Sequence[Counterfactual]) -> list[str]:
    if not flipped:
        return []
    heavy = [len(heavy_edits(one.factual, one.edits)) for one in flipped]
    parts = [f"They are {fmean(heavy):.1f} edits away on average, {median(heavy):g} in the median."]
    minimal = sum(one.one_minimal is True for one in flipped)
    if minimal:
        parts.append(f"For {_all(minimal, len(flipped))} it was checked that no edit can be undone.")
    votes: dict[str, list[bool]] = {}
    for one in flipped:
        for name, p in one.evidence.judges.items() if one.evidence else ():
            votes.setdefault(name, []).append(agrees(p, one.goal))
    agreed = [f"{name} {fmean(vote):.0%}" for name, vote in votes.items()]
    if agreed:
        parts.append(f"Models that no search has consulted agree: {', '.join(agreed)}.")
    claims = {"environment": "made of surroundings that occur in the data", "plausible": "plausible to the autoencoder"}
    for name, words in claims.items():
        known = [getattr(one.evidence, name) for one in flipped if one.evidence]
        told = [claim for claim in known if claim is not None]
        if told:
            parts.append(f"{fmean(told):.0%} are {words}.")
    return parts


def _of_the_others(results: Results) -> list[str]:
    outcomes = Counter(one.outcome.value for lot in results.lots for one in lot.explanations if not one.flipped)
    outcomes.update(one.outcome for lot in results.lots for one in lot.unread)
    reasons = [f"{name.replace('_', ' ')} {count}" for name, count in outcomes.most_common()]
    return [f"Not found: {', '.join(reasons)}."] if reasons else []


def _unit(found: Iterable[Counterfactual]) -> str:
    """What the numbers of explanations are: probabilities, values, or some of both."""
    units = {one.goal.unit for one in found}
    return "both" if len(units) > 1 else next(iter(units), "probability")


def _all(count: int, total: int) -> str:
    return "all of them" if count == total else f"{count} of them"


def _tables(results: Results) -> str:
    if not results.tables:
        return ""
    return f'<section aria-label="Tables"><h2>Tables</h2>{"".join(map(markdown_to_html, results.tables))}</section>'


def _figures(figures: Sequence[Path]) -> str:
    """Pictures as images, which run nothing and load nothing."""
    shown = []
    for path in figures:
        kind = "image/svg+xml" if path.suffix == ".svg" else "image/png"
        source = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        name = escape(path.stem.replace("-", " ").replace("_", " "))
        shown.append(f'<figure class="chart"><img src="{source}" alt="{name}"><figcaption>{name}</figcaption></figure>')
    return f'<section aria-label="Figures"><h2>Figures</h2>{"".join(shown)}</section>' if shown else ""


def _explanations(results: Results) -> str:
    several, rows, outcomes = len(results.lots) > 1, [], Counter()
    for lot in results.lots:
        name = lot.name if several else ""
        for one in lot.explanations:
            rows.append(explanation_row(one, len(rows), name, results.remarks.get(one.id, "")))
            outcomes[one.outcome.value] += 1
        for unread in lot.unread:
            rows.append(unread_row(unread, len(rows), name))
            outcomes[unread.outcome] += 1
    if not rows:
        return ""
    title, first = _NUMBERS.get(_unit(one for lot in results.lots for one in lot.explanations), ("Number", "highest"))
    columns = ("id", "Input"), ("", "Pictures"), ("edits", "What changes"), ("p", title), ("judges", "Evidence")
    heads = "".join(
        f'<th role="columnheader" scope="col"{f" data-key={key}" if key else ""}>{words}</th>' for key, words in columns
    )
    return (
        '<section id="explanations" aria-labelledby="explained"><h2 id="explained">Explanations</h2>'
        f"{_legend()}{_controls(outcomes, results.lots if several else (), first)}"
        '<table class="table" role="table" aria-labelledby="explained"><thead role="rowgroup">'
        f'<tr role="row">{heads}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table></section>'
    )


def _legend() -> str:
    svg = draw_legend().svg(standalone=False)
    return f'<p class="legend">{svg}<span>Numbers beside atoms are those of the words.</span></p>'


def _controls(outcomes: Counter[str], lots: Sequence[Lot], first: str) -> str:
    sorts = ("order up", "as in the file"), ("edits up", "fewest edits"), ("p down", first)
    sorts = *sorts, ("judges down", "judges agree most"), ("id up", "name")
    counted = [(name, f"{name.replace('_', ' ')} ({count})") for name, count in outcomes.most_common()]
    chosen = _select("outcome", "Outcome", [("", "all"), *counted])
    if lots:
        chosen += _select("lot", "Origin", [("", "all"), *((lot.name, lot.name) for lot in lots)])
    chosen += _select("sort", "Sort by", sorts, "sort")
    find = '<label class="grow">Find<input name="find" type="search" placeholder="a name, nitro, C=O …"></label>'
    return f'<form class="controls" role="search" hidden>{find}{chosen}<output aria-live="polite"></output></form>'


def _select(name: str, title: str, options: Sequence[tuple[str, str]], style: str = "") -> str:
    listed = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options)
    return f'<label class="{style}">{title}<select name="{name}">{listed}</select></label>'


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
