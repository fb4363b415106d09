"""The summary of a report: groups that go and groups that come most often, and a table of all explanations as CSV."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from ..describe.wording import describe
from ..edits import heavy_edits
from ..explain.counterfactual import Counterfactual
from ..jobs.export import safe_cell
from .rows import agrees

_MOST = 8
_SENTENCES = tuple(
    re.compile(pattern)
    for pattern in (
        r"^replace (?:the )?(?P<gone>.+?)(?: fused)? at .+? by (?P<came>.+?) on \S+",
        r"^replace (?P<gone>.+?) on .+? by an? (?P<came>.+?) (?:fused|joined) to ",
        r"^replace (?:the )?(?P<gone>.+?) on \S+ by (?P<came>.+)$",
        r"^add (?P<came>.+?) to \S+",
        r"^remove (?P<gone>.+?) from \S+",
        r"^change (?P<gone>[A-Z][a-z]?)\d+ to (?P<came>[A-Z][a-z]?\b)",
        r"^take away (?:the )?(?P<gone>.+?)(?: fused)? at ",
        r"^(?:fuse|join) (?:an? )?(?P<came>.+?) to ",
        r"^exchange (?:the )?(?P<gone>.+?) of .+? for an? (?P<came>.+?)(?: with .+)?$",
        r"^close an? (?P<came>.+?) over ",
        r"^open (?:the )?(?P<gone>.+?) of ",
    )
)
_SATURATED = {"hydrogenate the ring": ("aromatic ring", ""), "make the ring": ("", "aromatic ring")}
"""Sentences about rings of which no group goes or comes, by how they begin."""
_NUMBERS = re.compile(r"(?<=[A-Za-z])\d+\b")


class Exchanged(NamedTuple):
    """Numbers of explanations in which a group goes, and in which one comes, by name."""

    gone: Counter[str]
    came: Counter[str]


def exchanged(explanations: Iterable[Counterfactual]) -> Exchanged:
    """Count the groups that go and come in explanations that succeeded; each group counts once in each of them."""
    gone, came = Counter(), Counter()
    for explanation in explanations:
        if explanation.flipped:
            found = [_groups(text) for text in describe(explanation)]
            gone.update({group for group, _ in found if group})
            came.update({group for _, group in found if group})
    return Exchanged(gone, came)


def _groups(text: str) -> tuple[str, str]:
    """Groups that a sentence says go and come; empty if there is none."""
    for begin, groups in _SATURATED.items():
        if text.startswith(begin):
            return groups
    for pattern in _SENTENCES:
        if match := pattern.match(text):
            named = match.groupdict()
            gone, came = (_NUMBERS.sub("", named.get(key) or "") for key in ("gone", "came"))
            return gone, "" if came == "hydrogen" else came
    return "", ""


def changes_section(explanations: Sequence[Counterfactual]) -> str:
    """HTML of what changes most often, for each target by itself; empty if nothing does."""
    targets = dict.fromkeys(one.class_name(one.target) for one in explanations if one.flipped)
    parts = []
    for target in targets:
        own = [one for one in explanations if one.flipped and one.class_name(one.target) == target]
        counted = exchanged(own)
        if counted.gone or counted.came:
            parts.append(
                f'<div class="often"><h3>To {escape(target)} ({len(own)})</h3><div class="twice">'
                f"{_ranking('Groups gone', counted.gone, len(own))}"
                f"{_ranking('Groups added', counted.came, len(own))}</div></div>"
            )
    title = '<h2 id="often">What changes most often</h2>'
    return (
        f'<section aria-labelledby="often">{title}<div class="oftens">{"".join(parts)}</div></section>' if parts else ""
    )


def _ranking(title: str, counted: Counter[str], total: int) -> str:
    items = "".join(
        f'<li><span class="number">{count}</span> {escape(name)}'
        f'<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * count / total:.0f}" height="4"/></svg></li>'
        for name, count in counted.most_common(_MOST)
    )
    return f"<div><h4>{title}</h4><ul>{items or '<li>none</li>'}</ul></div>"


def explanations_csv(explanations: Sequence[Counterfactual]) -> str:
    """A row for each explanation, without graphs; cells are safe to open in a spreadsheet."""
    judges = list(dict.fromkeys(name for one in explanations for name in (one.evidence.judges if one.evidence else ())))
    names = ["id", "outcome", "target", "p_factual", "p_counterfactual", "smiles_factual", "smiles_counterfactual"]
    names += ["edits", "changes", "similarity", *(f"{name} agrees" for name in judges), "note"]
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(names)
    for one in explanations:
        chemistry, votes = (one.evidence.chemistry, one.evidence.judges) if one.evidence else (None, {})
        row = [one.id, one.outcome.value, one.class_name(one.target), one.p_factual, one.p_counterfactual]
        row += [one.smiles.factual, one.smiles.counterfactual, len(heavy_edits(one.factual, one.edits))]
        row += ["; ".join(describe(one)), chemistry.similarity if chemistry else None]
        row += [agrees(votes[name], one.goal) if name in votes else None for name in judges]
        writer.writerow([safe_cell(value) for value in [*row, one.note]])
    return file.getvalue()
