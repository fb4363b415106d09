"""Rows of a report's table: one explanation with pictures, edits in words, probabilities and evidence."""

from collections.abc import Sequence
from html import escape
from math import isfinite
from statistics import fmean

import torch

from ..describe.change import Sentence
from ..describe.claims import boundary_remarks, each_needed, needs, smaller_answer
from ..describe.text import edit_count
from ..describe.wording import sentences
from ..edits import Edit, heavy_edits
from ..explain.counterfactual import Counterfactual
from ..explain.evidence import Evidence, Nearest
from ..explain.goals.goal import AbstractGoal
from ..explain.goals.values import ValueGoal
from ..realism.change import Observation
from .draw.pictures import Picture, draw_graph, draw_pair
from .results import UnreadInput

_MAX_SENTENCES = 12


def explanation_row(counterfactual: Counterfactual, number: int, origin: str, remark: str = "") -> str:
    """HTML of the row of an explanation, successful or not; `number` is its place in the report."""
    num_heavy = len(heavy_edits(counterfactual.factual, counterfactual.edits))
    p = counterfactual.p_counterfactual
    data = {
        "outcome": counterfactual.outcome.value,
        "origin": origin,
        "id": counterfactual.id,
        "p": "" if p is None else f"{p:.4f}",
        "edits": str(num_heavy) if counterfactual.edits else "",
        "judges": _agreement(counterfactual),
        "direction": counterfactual.class_name(counterfactual.target),
        "votes": _votes(counterfactual),
    }
    cells = [
        ("pictures", _pictures(counterfactual)),
        ("what", _changes(counterfactual)),
        ("probability", _probability(counterfactual)),
        ("evidence", _evidence(counterfactual.evidence, counterfactual.goal)),
    ]
    return _row(number, data, _head(number, counterfactual.id, counterfactual.outcome.value, origin, remark), cells)


def unread_row(unread: UnreadInput, number: int, origin: str) -> str:
    """HTML of the row of an input that has no explanation at all."""
    data = {"outcome": unread.outcome, "origin": origin, "id": unread.id}
    cells = [("pictures", ""), ("what", escape(unread.note)), ("probability", ""), ("evidence", "")]
    return _row(number, data, _head(number, unread.id, unread.outcome, origin, ""), cells)


def agrees(predicted: float, goal: AbstractGoal) -> bool:
    """True if a judge that predicts this number, the goal's probability or a value, finds the goal reached."""
    return predicted > 0.5 if goal.unit == "probability" else bool(goal.reached(torch.tensor([predicted])))


def _row(number: int, data: dict[str, str], head: str, cells: Sequence[tuple[str, str]]) -> str:
    """HTML of a row; `data` are attributes to filter and sort by, `cells` are pairs of class and content."""
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    contents = "".join(f'<td role="cell" class="{name}">{html}</td>' for name, html in cells)
    return f'<tr role="row" id="e{number}"{attributes}><th role="rowheader" scope="row">{head}</th>{contents}</tr>'


def _head(number: int, name: str, outcome: str, origin: str, remark: str) -> str:
    """The first cell of a row: the name of the input, its origin, a remark and the outcome."""
    more = "".join(f'<span class="origin">{escape(text)}</span>' for text in (origin, remark) if text)
    tag = f'<span class="tag {"yes" if outcome == "flipped" else "no"}">{escape(outcome.replace("_", " "))}</span>'
    return f'<span class="name"><a href="#e{number}">{escape(name)}</a></span>{more}{tag}'


def _pictures(counterfactual: Counterfactual) -> str:
    """The drawing of the factual, and beside it that of the changed graph if there is one."""
    factual, changed = counterfactual.factual, counterfactual.counterfactual
    smiles = counterfactual.smiles
    if changed is None:
        alone = draw_graph(factual, importance=counterfactual.importance)
        return f'<div class="pair">{_figure(alone, "as it is", smiles.factual)}</div>'
    before, after = draw_pair(factual, changed, importance=counterfactual.importance)
    caption = "changed" if counterfactual.flipped else "closest attempt"
    figures = _figure(before, "as it is", smiles.factual), _figure(after, caption, smiles.counterfactual)
    return f'<div class="pair">{"".join(figures)}</div>'


def _figure(picture: Picture, caption: str, smiles: str | None) -> str:
    written = "" if smiles is None else f": <code>{escape(smiles)}</code>"
    svg = picture.svg(standalone=False, brief=True)
    return f"<figure>{svg}<figcaption>{caption}{written}</figcaption></figure>"


def _changes(counterfactual: Counterfactual) -> str:
    """The changes in words and their number; without success, the reasons come first."""
    advice = "" if counterfactual.flipped else counterfactual.outcome.advice
    reasons = counterfactual.note, *counterfactual.remarks, advice
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in reasons if text)
    if counterfactual.counterfactual is None:
        return paragraphs
    said = sentences(counterfactual.factual, counterfactual.counterfactual)
    together = each_needed(counterfactual, said)
    reasons = [""] * len(said) if together else needs(counterfactual, said)
    items = [_change(change, why) for change, why in zip(said[:_MAX_SENTENCES], reasons, strict=False)]
    items += [f"<li>and {len(said) - _MAX_SENTENCES} more</li>"] if len(said) > _MAX_SENTENCES else []
    count = f'<p class="faint">{edit_count(counterfactual)}{f"; {together}" if together else ""}</p>'
    smaller = smaller_answer(counterfactual, said)
    count += "" if smaller is None else f"<p>{escape(smaller.text)}</p>"
    changes = f'<ul class="words">{"".join(items)}</ul>{count}'
    return changes + paragraphs if counterfactual.flipped else paragraphs + changes


def _change(change: Sentence, why: str) -> str:
    reason = f' <span class="faint">{escape(why)}</span>' if why else ""
    return f'<li data-at="{_places(change.edits)}">{escape(change.text)}{reason}</li>'


def _places(edits: Sequence[Edit]) -> str:
    """Nodes and edges of some edits as the script looks them up in the drawings: "3 2-5"."""
    return " ".join("-".join(map(str, edit.at)) for edit in edits)


def _probability(counterfactual: Counterfactual) -> str:
    """The target's probability, or the value, before and after, with its curve along the path."""
    goal, p = counterfactual.goal, counterfactual.p_counterfactual
    of = "of" if goal.unit == "probability" else "value, to be"
    name = counterfactual.class_name(counterfactual.target)
    target = f'<span class="faint">{of} {f"class {name}" if name.isdecimal() else escape(name)}</span>'
    form = ".2f" if goal.unit == "probability" else ".4g"
    after = "" if p is None else f" → <b>{p:{form}}</b>"
    is_unknown = counterfactual.p_factual != counterfactual.p_factual  # NaN
    before = "?" if is_unknown else f"{counterfactual.p_factual:{form}}"
    remarks = "".join(f'<p class="faint">{escape(remark)}</p>' for remark in boundary_remarks(counterfactual))
    return f'<span class="number">{before}{after}</span> {target}{_curve(_path(counterfactual), goal)}{remarks}'


def _path(counterfactual: Counterfactual) -> list[float]:
    """Probabilities along the path, from the factual's to the counterfactual's; empty if there is no path."""
    path, end = list(counterfactual.probabilities), counterfactual.p_counterfactual
    if not path or end is None:
        return []
    before = [counterfactual.p_factual] if abs(path[0] - counterfactual.p_factual) > 1e-3 else []
    after = [end] if abs(path[-1] - end) > 1e-3 else []
    return [*before, *path, *after]


def _curve(path: Sequence[float], goal: AbstractGoal, width: int = 110, height: int = 34) -> str:
    """SVG of the target's probability along the path, from 0 to 1 with a faint line at one half.

    Values are drawn from the lowest to the highest, with faint lines at the bounds of the target.
    """
    if len(path) < 2:
        return ""
    bounds = [bound for bound in (goal.low, goal.high) if isfinite(bound)] if isinstance(goal, ValueGoal) else [0.5]
    low, high = (0.0, 1.0) if goal.unit == "probability" else (min(*path, *bounds), max(*path, *bounds))
    step, span = width / (len(path) - 1), (high - low) or 1.0
    points = [f"{k * step:.0f} {height * (high - p) / span:.0f}" for k, p in enumerate(path)]
    lines = "".join(f"M0 {height * (high - bound) / span:.0f}H{width}" for bound in bounds)
    alt = f"{goal.unit.capitalize()} along the way: {path[0]:.2f} to {path[-1]:.2f} in {len(points)} steps"
    x, y = points[-1].split()
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{alt}"><path class="half" d="{lines}"/>'
        f'<path class="line" d="M{"L".join(points)}"/><circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    )


def _evidence(evidence: Evidence | None, goal: AbstractGoal) -> str:
    """The judges' predictions and the checks of plausibility and chemistry, as a list of ✓ and ✗."""
    if evidence is None:
        return ""
    items = [_check(agrees(p, goal), f"{name}: {p:.2f}") for name, p in evidence.judges.items()]
    for holds, yes, no in (
        (evidence.environment, "surroundings as in the data", "surroundings never seen"),
        (evidence.plausible, "plausible", "implausible"),
        (evidence.molecule, "", "not a molecule"),
        (evidence.radical_free, "valences filled", "valences left open"),
        (evidence.round_trip, "holds as SMILES", "lost when written as SMILES"),
    ):
        if holds is not None and (yes or not holds):
            items.append(_check(holds, yes if holds else no))
    items += [_finding(one) for one in (evidence.chemistry.findings() if evidence.chemistry else ())]
    known = [("", evidence.nearest_factual), ("changed: ", evidence.nearest_counterfactual)]
    items += [_check(near.familiar, f"{start}{near.remark}") for start, near in known if near and near.remark]
    nearest = "".join(_nearest(start, near) for start, near in known if near)
    return f'<ul class="facts">{"".join(items)}</ul>{nearest}'


def _nearest(start: str, nearest: Nearest) -> str:
    """The training molecules that are nearest to a molecule, to be folded out."""
    items = [
        f"<li><code>{escape(one.smiles)}</code> {escape(one.label)} {one.similarity:.2f}</li>"
        for one in nearest.neighbors
    ]
    title = f"{start}nearest in training {nearest.similarity:.2f}"
    return f'<details class="nearest"><summary>{title}</summary><ul>{"".join(items)}</ul></details>'


def _finding(finding: Observation) -> str:
    """A measure of chemistry as a list item; one that speaks neither for nor against the change has no sign."""
    text = str(finding)
    return f"<li>{escape(text)}</li>" if finding.good is None else _check(finding.good, text)


def _check(holds: bool, text: str) -> str:
    """A list item with ✓ or ✗ before its text."""
    sign, name = ("✓", "yes") if holds else ("✗", "no")
    return f'<li><span class="{name}" aria-hidden="true">{sign}</span> {escape(text)}</li>'


def _votes(counterfactual: Counterfactual) -> str:
    """Names of the judges, each after + if it agrees and - if it does not, to filter by."""
    judges = counterfactual.evidence.judges if counterfactual.evidence is not None else {}
    return "|".join(f"{'+' if agrees(said, counterfactual.goal) else '-'}{name}" for name, said in judges.items())


def _agreement(counterfactual: Counterfactual) -> str:
    """Sort key of the evidence: the judges' mean probability of the target, or of values the share that agrees."""
    judges = counterfactual.evidence.judges if counterfactual.evidence is not None else {}
    numbers = list(judges.values())
    if counterfactual.goal.unit != "probability":
        numbers = [float(agrees(number, counterfactual.goal)) for number in numbers]
    return f"{fmean(numbers):.4f}" if numbers else ""
