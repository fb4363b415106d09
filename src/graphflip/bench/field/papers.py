"""Figures of papers beside ours: the same method on a set that both have, and what differs between the two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..paper.tables import NAMES
from ..tables import markdown_lines
from .methods import FieldMethod

WORDS = {"flip_ratio": "flip ratio", "nafr": "NAFR, GNN", "edge_sp": "EdgeSp", "molecule": "molecule", "ged": "GED"}
_SHARED = "The classifiers are two different GCNs; splits, judges and rules of what a molecule is differ, too. "


@dataclass(frozen=True)
class Published:
    """Figures that someone published of a method.

    Args:
        method: Name of the method in the table.
        data: Set of ours that is the same or the nearest.
        oracle: Oracle of ours that is nearest to the published one.
        source: Where they stand.
        figures: Published figures, by the name of ours.
        why: What differs, and what that does.
        toward: Name of the class for which flips are counted; empty counts all.
    """

    method: str
    data: str
    oracle: str
    source: str
    figures: Mapping[str, float]
    why: str
    toward: str = ""

    def ours(self, content: Mapping[str, Any]) -> dict[str, float] | None:
        """Our figures of the same names; None if the table does not have the row."""
        row = content.get(self.data, {}).get(self.oracle, {}).get(self.method)
        if row is None or "cannot" in row:
            return None
        found = {name: row.get(name) for name in self.figures}
        if self.toward:
            found["flip_ratio"] = row.get("flips_to", {}).get(self.toward)
        return {name: value for name, value in found.items() if value is not None}


_GDCE = "measured by GDCE-I, arXiv 2608.12083, GCN of accuracy .806"
PUBLISHED = (
    Published(
        "cf2",
        "mutagenicity",
        "gcn",
        _GDCE,
        {"flip_ratio": 0.622, "nafr": 0.510, "edge_sp": 0.396, "molecule": 0.508},
        _SHARED + "Cut bonds leave a graph in pieces, which our rule calls no molecule; ours cuts fewer.",
    ),
    Published(
        "xplore",
        "mutagenicity",
        "gcn",
        _GDCE,
        {"flip_ratio": 0.922, "nafr": 0.586, "edge_sp": 0.613, "molecule": 0.050},
        _SHARED + "Of all flips on the way ours keeps the one with the fewest changes.",
    ),
    Published(
        "cf_gnn",
        "tree_cycles",
        "kit",
        "its paper, tree-cycles, nodes of one large graph: fidelity .21, so .79 flip",
        {"flip_ratio": 0.79, "ged": 2.09},
        "Ours are whole graphs, and flips are of graphs with rings alone: no tree gets a ring by losing edges. One or "
        "two edges suffice by construction, one for each ring.",
        toward="tree",
    ),
)
"""What can be set beside our rows; the other papers have no figure of a set that is here."""


def paper_lines(methods: Sequence[FieldMethod]) -> list[str]:
    """Markdown: paper of each method, and a figure of it beside ours or the reason why there is none."""
    return [
        f"- `{method.name}`: {method.about.reference}. {method.about.reproduced}".rstrip()
        for method in methods
        if method.about.reproduced
    ]


def published_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: published figures beside ours, with what differs; no line if the table has none of the rows."""
    cells = []
    for one in PUBLISHED:
        ours = one.ours(content)
        if ours:
            pairs = [f"{WORDS[name]} {one.figures[name]:.2f} / {ours[name]:.2f}" for name in ours]
            where = f"{NAMES.get(one.data, one.data)}, {one.oracle}"
            cells.append([f"`{one.method}`", where, one.source, ", ".join(pairs), one.why])
    return markdown_lines(["method", "our row", "their figures", "theirs / ours", "why"], cells) if cells else []
