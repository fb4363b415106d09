"""Table of stability: how often counterfactuals stay valid, and how similar edits are, when something else changes."""

from collections.abc import Mapping
from typing import Any

from ..paper.tables import NAMES
from ..tables import markdown_lines

CHANGES = {
    "seed": "another seed",
    "noise": "1–5 % of edges perturbed",
    "retrained": "classifier retrained with another seed",
}
"""Changes under which a method is asked again, in words."""


def stability_lines(content: Mapping[str, Any]) -> list[str]:
    """Markdown: for each method and each change, the share that stays valid and the similarity of edits."""
    header = ["data", "oracle", "method", "graphs"]
    header += [f"{words}: {what}" for words in CHANGES.values() for what in ("valid", "flips again", "same edits")]
    cells = []
    for name, oracles in content["stability"].items():
        for oracle, methods in oracles.items():
            for method, figures in methods.items():
                row = [NAMES.get(name, name), oracle, method, str(figures["n"])]
                for change in CHANGES:
                    found = figures.get(change, {})
                    row += [_cell(found.get(key)) for key in ("valid", "flips_again", "similarity")]
                cells.append(row)
    note = (
        "Of graphs that the method flips: valid, the same edits still flip (for the perturbed graph, or for the "
        "retrained classifier where it predicts the same class for the factual); flips again, the method finds a flip "
        "under the change; same edits, mean Jaccard similarity of the two lists of edits."
    )
    return [*markdown_lines(header, cells), "", note]


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
