"""One explanation as a row of a report's table: pictures, edits in words, probabilities, verdicts."""

from collections.abc import Sequence
from html import escape
from math import isfinite
from statistics import fmean

import torch

from ..describe.sentences import sentences
from ..edits import heavy_edits
from ..explain.counterfactual import Counterfactual
from ..explain.evidence import Evidence
from ..explain.goals.goal import AbstractGoal
from ..explain.goals.values import ValueGoal
from .draw.pictures import Picture, draw_graph, draw_pair
from .results import Unread

_MOST_WORDS = 12


def explanation_row(found: Counterfactual, number: int, lot: str, remark: str = "") -> str:
    """The row of an explanation, found or not; `number` is its place in the report."""
    heavy = len(heavy_edits(found.factual, found.edits))
    data = {
        "outcome": found.outcome.value,
        "lot": lot,
        "id": found.id,
        "p": "" if found.p_counterfactual is None else f"{found.p_counterfactual:.4f}",
        "edits": str(heavy) if found.edits else "",
        "judges": _belief(found),
    }
    cells = [
        ("pictures", _pictures(found)),
        ("what", _words(found, heavy)),
        ("probability", _probability(found)),
        ("evidence", _evidence(found.evidence, found.goal)),
    ]
    return _row(number, data, _head(number, found.id, found.outcome.value, lot, remark), cells)


def unread_row(one: Unread, number: int, lot: str) -> str:
    """The row of an input that has no explanation at all."""
    data = {"outcome": one.outcome, "lot": lot, "id": one.id}
    cells = [("pictures", ""), ("what", escape(one.note)), ("probability", ""), ("evidence", "")]
    return _row(number, data, _head(number, one.id, one.outcome, lot, ""), cells)


def _row(number: int, data: dict[str, str], head: str, cells: Sequence[tuple[str, str]]) -> str:
    stored = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    shown = "".join(f'<td role="cell" class="{name}">{html}</td>' for name, html in cells)
    return f'<tr role="row" id="e{number}"{stored}><th role="rowheader" scope="row">{head}</th>{shown}</tr>'


def _head(number: int, name: str, outcome: str, lot: str, remark: str) -> str:
    more = "".join(f'<span class="lot">{escape(text)}</span>' for text in (lot, remark) if text)
    tag = f'<span class="tag {"yes" if outcome == "flipped" else "no"}">{escape(outcome.replace("_", " "))}</span>'
    return f'<span class="name"><a href="#e{number}">{escape(name)}</a></span>{more}{tag}'


def _pictures(found: Counterfactual) -> str:
    if found.counterfactual is None:
        return f'<div class="pair">{_figure(draw_graph(found.factual), "as it is")}</div>'
    before, after = draw_pair(found.factual, found.counterfactual)
    caption = "changed" if found.flipped else "closest attempt"
    return f'<div class="pair">{_figure(before, "as it is")}{_figure(after, caption)}</div>'


def _figure(picture: Picture, caption: str) -> str:
    words = picture.scene.words
    smiles = f": <code>{escape(words.removeprefix('Molecule '))}</code>" if words.startswith("Molecule ") else ""
    svg = picture.svg(standalone=False, brief=True)
    return f"<figure>{svg}<figcaption>{caption}{smiles}</figcaption></figure>"


def _words(found: Counterfactual, heavy: int) -> str:
    reasons = found.note, "" if found.flipped else found.outcome.advice
    told = "".join(f"<p>{escape(text)}</p>" for text in reasons if text)
    if found.counterfactual is None:
        return told
    said = sentences(found.factual, found.counterfactual)
    items = "".join(f'<li data-at="{_places(one.edits)}">{escape(one.text)}</li>' for one in said[:_MOST_WORDS])
    more = f"<li>and {len(said) - _MOST_WORDS} more</li>" if len(said) > _MOST_WORDS else ""
    total = len(found.edits)
    counted = f"{_count(heavy, 'edit')}" + (f", {total} with hydrogens" if total != heavy else "")
    minimal = "; none can be undone" if found.one_minimal else ""
    words = f'<ul class="words">{items}{more}</ul><p class="faint">{counted}{minimal}</p>'
    return words + told if found.flipped else told + words


def _places(edits: Sequence) -> str:
    return " ".join("-".join(map(str, edit.at)) for edit in edits)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _probability(found: Counterfactual) -> str:
    of = "of" if found.goal.unit == "probability" else "value, to be"
    name = found.class_name(found.target)
    target = f'<span class="faint">{of} {f"class {name}" if name.isdecimal() else escape(name)}</span>'
    form = ".2f" if found.goal.unit == "probability" else ".4g"
    after = "" if found.p_counterfactual is None else f" → <b>{found.p_counterfactual:{form}}</b>"
    before = "?" if found.p_factual != found.p_factual else f"{found.p_factual:{form}}"
    return f'<span class="number">{before}{after}</span> {target}{_curve(_way(found), found.goal)}'


def _way(found: Counterfactual) -> list[float]:
    """Probabilities from the factual's to the counterfactual's, where there is a way at all."""
    way = list(found.probabilities)
    if not way or found.p_counterfactual is None:
        return []
    start = [found.p_factual] if abs(way[0] - found.p_factual) > 1e-3 else []
    end = [found.p_counterfactual] if abs(way[-1] - found.p_counterfactual) > 1e-3 else []
    return [*start, *way, *end]


def _curve(way: Sequence[float], goal: AbstractGoal, width: int = 110, height: int = 34) -> str:
    """The probability of the target along the way, or values from the lowest to the highest; faint lines are at one
    half, or at the bounds of the range."""
    if len(way) < 2:
        return ""
    bounds = [bound for bound in (goal.low, goal.high) if isfinite(bound)] if isinstance(goal, ValueGoal) else [0.5]
    low, high = (0.0, 1.0) if goal.unit == "probability" else (min(*way, *bounds), max(*way, *bounds))
    step, span = width / (len(way) - 1), (high - low) or 1.0
    points = [f"{k * step:.0f} {height * (high - p) / span:.0f}" for k, p in enumerate(way)]
    lines = "".join(f"M0 {height * (high - bound) / span:.0f}H{width}" for bound in bounds)
    words = f"{goal.unit.capitalize()} along the way: {way[0]:.2f} to {way[-1]:.2f} in {len(points)} steps"
    x, y = points[-1].split()
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{words}"><path class="half" d="{lines}"/>'
        f'<path class="line" d="M{"L".join(points)}"/><circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    )


def _evidence(evidence: Evidence | None, goal: AbstractGoal) -> str:
    if evidence is None:
        return ""
    lines = [_line(agrees(p, goal), f"{name}: {p:.2f}", f"{name}: {p:.2f}") for name, p in evidence.judges.items()]
    for claim, yes, no in (
        (evidence.environment, "surroundings as in the data", "surroundings never seen"),
        (evidence.plausible, "plausible", "implausible"),
        (evidence.molecule, "", "not a molecule"),
        (evidence.radical_free, "valences filled", "valences left open"),
        (evidence.round_trip, "holds as SMILES", "lost when written as SMILES"),
    ):
        if claim is not None and (yes or not claim):
            lines.append(_line(claim, yes, no))
    return f'<ul class="facts">{"".join(lines)}</ul>'


def agrees(said: float, goal: AbstractGoal) -> bool:
    """Whether a judge that says this number, a probability of the goal or a value, has reached the goal."""
    return said > 0.5 if goal.unit == "probability" else bool(goal.reached(torch.tensor([said])))


def _belief(found: Counterfactual) -> str:
    """How far judges believe an explanation, to sort by: their mean probability, or how many of them agree."""
    said = list(found.evidence.judges.values()) if found.evidence is not None else []
    if found.goal.unit != "probability":
        said = [float(agrees(one, found.goal)) for one in said]
    return f"{fmean(said):.4f}" if said else ""


def _line(claim: bool, yes: str, no: str) -> str:
    sign, said = ("✓", "yes") if claim else ("✗", "no")
    text = escape(yes if claim else no)
    return f'<li><span class="{said}" aria-hidden="true">{sign}</span> {text}</li>'
