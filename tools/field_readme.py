"""Put the field's tables into README.md: the figures of results/field/table.json, and results/field/summary.md.

Usage: python tools/field_readme.py   (after `graphflip bench field`; sentences about the tables are yours to check)
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
README, FIELD = ROOT / "README.md", ROOT / "results" / "field"
# The first table of the README is of this set and oracle.
DATA, ORACLE = "mutagenicity", "gcn"


def main() -> None:
    rows = json.loads((FIELD / "table.json").read_text(encoding="utf-8"))[DATA][ORACLE]
    text = README.read_text(encoding="utf-8")
    told = re.compile(r"^\| (`(\w+)`: .*?) \| .* \|$", re.MULTILINE)
    missing = rows.keys() - {"graphs", "oracle"} - {name for _, name in told.findall(text)}
    if missing:
        raise SystemExit(f"README.md must have a row for each method; none for {', '.join(sorted(missing))}. Add it.")
    text = told.sub(lambda row: f"| {row[1]} | {' | '.join(cells(rows[row[2]]))} |", text)
    summary = re.compile(r"^\| method \| \w+, \w+ \(\d+\) \|.*?\n(?=\n)", re.MULTILINE | re.DOTALL)
    text, count = summary.subn(lambda _: (FIELD / "summary.md").read_text(encoding="utf-8"), text)
    if count != 1:
        raise SystemExit(f"README.md must have one table of all sets, `| method | SET, ORACLE (…) |`; found {count}.")
    README.write_text(text, encoding="utf-8")


def cells(row: dict[str, Any]) -> list[str]:
    """Flips, believed by both judges, edit distance, molecules, seconds, calls, graphs."""
    calls = f"{row['calls']:.0f}" if row.get("calls") else "–"
    judges, distance = f"{row['nafr']:.2f} / {row['nafr_other']:.2f}", f"{row['ged']:.1f} ({row['proved']:.2f})"
    return [
        f"{row['flip_ratio']:.2f}", judges, distance, f"{row['molecule']:.2f}", f"{row['seconds']:.2f}", calls,
        str(row["n"]),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
