"""Files of the field: table.json, the same as Markdown and LaTeX, pictures, and one page."""

import json
from pathlib import Path
from typing import Any

from ...models.storage.files import write_atomically
from .oracles import ORACLES
from .page import page_of
from .papers import paper_lines, published_lines
from .pictures import draw_field
from .tables import (
    ability_lines,
    blocks_of,
    failure_lines,
    field_table,
    in_order,
    methods_of,
    oracle_lines,
    rank_lines,
    rankings,
    stability_lines,
    summary_lines,
)


def read_table(out: Path) -> dict[str, Any]:
    """The table of a folder; empty if it has none."""
    try:
        return dict(json.loads((out / "table.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_table(out: Path, content: dict[str, Any]) -> None:
    """Write table.json."""
    write_atomically(out / "table.json", (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def write_field(out: Path) -> Path:
    """Write all files from table.json, and add ranks to it.

    Args:
        out: Folder of the benchmark.

    Returns:
        `out`.
    """
    content = read_table(out)
    content["ranks"] = {
        figure: {
            "ranks": {name: round(rank, 4) for name, rank in found.ranks.items()},
            "blocks": found.blocks,
            "p_value": found.p_value,
            "critical_difference": found.critical_difference,
            "alike": [list(group) for group in found.alike()],
        }
        for figure, found in rankings(content).items()
    }
    write_table(out, content)
    markdown = markdown_of(content)
    write_atomically(out / "table.md", markdown.encode())
    write_atomically(out / "summary.md", ("\n".join(summary_lines(content)) + "\n").encode())
    write_atomically(out / "table.tex", field_table(content).to_latex().encode())
    write_atomically(out / "table.csv", field_table(content).to_csv().encode())
    pictures = draw_field(content)
    for name, picture in pictures.items():
        write_atomically(out / name, picture)
    write_atomically(out / "index.html", page_of(markdown, pictures).encode())
    return out


def markdown_of(content: dict[str, Any]) -> str:
    """The field as Markdown."""
    methods = methods_of(content)
    about = content.get("provenance", {})
    commands = dict.fromkeys(
        block[name]["command"]
        for oracles in blocks_of(content).values()
        for block in oracles.values()
        for name in in_order(block)
        if "command" in block[name]
    )
    versions = ", ".join(f"{name} {number}" for name, number in about.get("versions", {}).items())
    source = f"Edit distances had {about.get('ged_seconds', 0):g} s each. {versions}."
    parts = [
        ["## The field in one table", ""],
        [f"- **{name}**: {words}" for name, words in ORACLES.items()],
        ["", "### Oracles on their test parts", "", *oracle_lines(content), ""],
        ["### What each method can do", "", *ability_lines(methods), ""],
        [field_table(content).to_markdown(source)],
        ["### Ranks", "", *rank_lines(content)],
        ["### Stability", "", *stability_lines(content), ""] if "stability" in content else [],
        ["### Failures by reason", "", *failure_lines(content), ""],
        ["### Papers, and figures of theirs", "", *paper_lines(methods), "", *published_lines(content), ""],
        ["### Commands", "", *(f"- `{command}`" for command in commands), ""],
    ]
    return "\n".join(line for part in parts for line in part)
