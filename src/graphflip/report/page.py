"""The report: results as one HTML file that loads nothing and can be read without its script."""

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
from .changes import changes_section, explanations_csv
from .draw.palette import page_style
from .draw.pictures import draw_legend
from .markdown import markdown_to_html
from .results import Results
from .rows import agrees, explanation_row, unread_row

_ASSETS = Path(__file__).parent / "assets"
_NUMBERS = {"probability": ("Probability", "most probable"), "value": ("Value", "highest value")}
"""Title of the column of numbers, and the name of its sort order from the highest down."""


def write_report(path: Path, results: Results) -> None:
    """Write the report of some results; the file is complete or not there at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, report_html(results).encode())
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror}). Give another file with --out.") from error


def report_html(results: Results) -> str:
    """The page as HTML. Its content security policy forbids loading anything and running any script but its own."""
    style = (_ASSETS / "report.css").read_text() + page_style()
    script = (_ASSETS / "report.js").read_text()
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(results.title)
    explanations = [one for part in results.sets for one in part.explanations]
    body = [_tables(results), _figures(results.figures), changes_section(explanations), _explanations(results)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#explanations">To the explanations</a>'
        f'<header><h1>{title}</h1><p class="summary">{escape(summary(results))}</p>{_about(results)}</header>'
        f"<main>{''.join(body)}</main><footer>Written by graphflip {__version__}.</footer>"
        f"<script>{script}</script></body></html>\n"
    )


def _about(results: Results) -> str:
    """Facts on the model, the question and the date, and a link to all explanations as CSV, which is in the page."""
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{_fact(name, said)}</dd></div>" for name, said in results.about)
    explanations = [one for part in results.sets for one in part.explanations]
    if not explanations:
        return f'<dl class="about">{facts}</dl>' if facts else ""
    table = base64.b64encode(explanations_csv(explanations).encode()).decode()
    link = f'<a class="csv" download="explanations.csv" href="data:text/csv;base64,{table}">Download as CSV</a>'
    return f'<dl class="about">{facts}</dl><p>{link}</p>' if facts else f"<p>{link}</p>"


def _fact(name: str, said: str) -> str:
    return f"<code>{escape(said)}</code>" if name == "Command" else escape(said)


def summary(results: Results) -> str:
    """Sum the results up in one paragraph: successes, sizes, agreement, and reasons of failures."""
    explanations = [explanation for part in results.sets for explanation in part.explanations]
    shown, total = sum(part.num_shown for part in results.sets), sum(part.total for part in results.sets)
    if not shown:
        return "No explanations are stored here."
    flipped = [explanation for explanation in explanations if explanation.flipped]
    cut = [f"Shown are {shown} of {total} explanations, the first of each file."] if total > shown else []
    if results.tables:
        return " ".join([f"Tables, figures and explanations of {len(results.sets)} runs.", *cut])
    goals = {"probability": "that the classifier assigns to the target class", "value": "with a value as asked for"}
    reached = goals.get(_unit(explanations), "that reaches the target")
    first = f"{len(flipped)} of {len(explanations)} searches found a graph {reached}."
    return " ".join([*cut, first, *_summary_of_flipped(flipped), *_summary_of_failures(results)])


def _summary_of_flipped(flipped: Sequence[Counterfactual]) -> list[str]:
    """Sentences about successful explanations: sizes, minimality, and evidence."""
    if not flipped:
        return []
    heavy = [len(heavy_edits(each.factual, each.edits)) for each in flipped]
    parts = [f"They are {fmean(heavy):.1f} edits away on average, {median(heavy):g} in the median."]
    num_minimal = sum(each.one_minimal is True for each in flipped)
    num_checked = sum(each.one_minimal is not None for each in flipped)
    if num_checked:
        whom = "all of them" if num_minimal == len(flipped) else f"{num_minimal} of {num_checked}"
        others = "; in the others some serve the confidence, or the agreement of other models"
        parts.append(f"In {whom} every change is needed for the target{others if num_minimal < num_checked else ''}.")
    agreed = [f"{judge} {fmean(votes):.0%}" for judge, votes in _votes(flipped).items()]
    if agreed:
        parts.append(f"Models that no search has consulted agree: {', '.join(agreed)}.")
    claims = {"environment": "made of surroundings that occur in the data", "plausible": "plausible to the autoencoder"}
    for name, claim in claims.items():
        checked = [getattr(each.evidence, name) for each in flipped if each.evidence]
        known = [holds for holds in checked if holds is not None]
        if known:
            parts.append(f"{fmean(known):.0%} are {claim}.")
    sound = [each.evidence.chemistry.sound for each in flipped if each.evidence and each.evidence.chemistry]
    if sound:
        claim = (
            "break no aromatic ring, bring no unknown ring system or unstable group, and are not much harder to make"
        )
        parts.append(f"{fmean(sound):.0%} {claim}.")
    return parts


def _votes(explanations: Sequence[Counterfactual]) -> dict[str, list[bool]]:
    """By judge, a list with True for each explanation that it agrees with and False for each other one."""
    votes: dict[str, list[bool]] = {}
    for explanation in explanations:
        for judge, p in explanation.evidence.judges.items() if explanation.evidence else ():
            votes.setdefault(judge, []).append(agrees(p, explanation.goal))
    return votes


def _summary_of_failures(results: Results) -> list[str]:
    """Sentences with the number of searches without success, and of inputs that could not be searched, by outcome."""
    parts = results.sets
    outcomes = Counter(each.outcome.value for part in parts for each in part.explanations if not each.flipped)
    unread = Counter(one.outcome for part in parts for one in part.unread)
    said = []
    for heading, counts in (("Not found", outcomes), ("Inputs without a search", unread)):
        reasons = [f"{name.replace('_', ' ')} {count}" for name, count in counts.most_common()]
        said += [f"{heading}: {', '.join(reasons)}."] if reasons else []
    return said


def _unit(explanations: Iterable[Counterfactual]) -> str:
    """The unit of the explanations' numbers: "probability", "value", or "both"."""
    units = {explanation.goal.unit for explanation in explanations}
    return "both" if len(units) > 1 else next(iter(units), "probability")


def _tables(results: Results) -> str:
    if not results.tables:
        return ""
    return f'<section aria-label="Tables"><h2>Tables</h2>{"".join(map(markdown_to_html, results.tables))}</section>'


def _figures(figures: Sequence[Path]) -> str:
    """Figures of a benchmark as <img> with data URLs, which run nothing and load nothing."""
    shown = []
    for path in figures:
        kind = "image/svg+xml" if path.suffix == ".svg" else "image/png"
        source = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        name = escape(path.stem.replace("-", " ").replace("_", " "))
        shown.append(f'<figure class="chart"><img src="{source}" alt="{name}"><figcaption>{name}</figcaption></figure>')
    return f'<section aria-label="Figures"><h2>Figures</h2>{"".join(shown)}</section>' if shown else ""


def _explanations(results: Results) -> str:
    """The table of explanations, with controls to filter and sort it."""
    rows, outcomes = _rows(results)
    if not rows:
        return ""
    unit = _unit(explanation for part in results.sets for explanation in part.explanations)
    title, first = _NUMBERS.get(unit, ("Number", "highest"))
    columns = ("id", "Input"), ("", "Pictures"), ("edits", "What changes"), ("p", title), ("judges", "Evidence")
    heads = "".join(
        f'<th role="columnheader" scope="col"{f" data-key={key}" if key else ""}>{text}</th>' for key, text in columns
    )
    return (
        '<section id="explanations" aria-labelledby="explained"><h2 id="explained">Explanations</h2>'
        f"{_legend(_has_molecules(results))}{_controls(results, outcomes, first)}"
        '<table class="table" role="table" aria-labelledby="explained"><thead role="rowgroup">'
        f'<tr role="row">{heads}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table></section>'
    )


def _rows(results: Results) -> tuple[list[str], Counter[str]]:
    """All rows of the table, and the number of rows with each outcome."""
    rows, outcomes = [], Counter()
    for part in results.sets:
        origin = part.name if len(results.sets) > 1 else ""
        for explanation in part.explanations:
            rows.append(explanation_row(explanation, len(rows), origin, results.remarks.get(explanation.id, "")))
            outcomes[explanation.outcome.value] += 1
        for unread in part.unread:
            rows.append(unread_row(unread, len(rows), origin))
            outcomes[unread.outcome] += 1
    return rows, outcomes


def _has_molecules(results: Results) -> bool:
    """True if some rows are of molecules, or nothing was read that could tell."""
    explanations = [one for part in results.sets for one in part.explanations]
    return not explanations or any(one.factual.schema.chemistry is not None for one in explanations)


def _legend(molecules: bool) -> str:
    svg = draw_legend().svg(standalone=False)
    where = "beside atoms" if molecules else "in nodes"
    return (
        f'<p class="legend">{svg}<span>Numbers {where} are those of the words.</span></p>'
        '<p class="legend colors"><span class="key toward">holds the prediction: changes here lead to the target</span>'
        '<span class="key away">changes here lead away from it</span>'
        "<span>small spots: estimated from the classifier's gradient</span></p>"
    )


def _controls(results: Results, outcomes: Counter[str], first: str) -> str:
    """The form to search, filter and sort; hidden until the script runs."""
    explanations = [one for part in results.sets for one in part.explanations]
    targets = dict.fromkeys(one.class_name(one.target) for one in explanations)
    judges = list(_votes(explanations))
    sets = results.sets if len(results.sets) > 1 else ()
    orders = ("order up", "as in the file"), ("edits up", "fewest edits"), ("p down", first)
    orders = *orders, ("judges down", "judges agree most"), ("id up", "name")
    counted = [(name, f"{name.replace('_', ' ')} ({count})") for name, count in outcomes.most_common()]
    selects = _select("outcome", "Outcome", [("", "all"), *counted])
    if sets:
        selects += _select("origin", "Origin", [("", "all"), *((part.name, part.name) for part in sets)])
    if len(targets) > 1:
        selects += _select("direction", "Direction", [("", "all"), *((name, f"to {name}") for name in targets)])
    if judges:
        votes = [("all", "all agree"), *((f"+{name}", f"{name} agrees") for name in judges)]
        votes += [(f"-{name}", f"{name} disagrees") for name in judges]
        selects += _select("judge", "Judges", [("", "any"), *votes])
    selects += _select("sort", "Sort by", orders, "sort")
    hint = "a name, nitro, C=O …" if _has_molecules(results) else "a name, add edge …"
    find = f'<label class="grow">Find<input name="find" type="search" placeholder="{hint}"></label>'
    matters = '<label class="matters"><input name="matters" type="checkbox"> Where it matters</label>'
    colored = matters if any(one.importance for one in explanations) else ""
    shown = f"{find}{selects}{colored}"
    return f'<form class="controls" role="search" hidden>{shown}<output aria-live="polite"></output></form>'


def _select(name: str, title: str, options: Sequence[tuple[str, str]], style: str = "") -> str:
    listed = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options)
    return f'<label class="{style}">{title}<select name="{name}">{listed}</select></label>'


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
