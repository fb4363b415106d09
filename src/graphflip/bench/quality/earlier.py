"""Figures of earlier runs: what a folder's tables have and the present run has not measured is kept in them."""

import json
from pathlib import Path
from typing import Any


def with_earlier(results: dict[str, Any], path: Path, part: str, limit: int | None) -> dict[str, Any]:
    """Add the figures of an earlier table to those of a run, unless it was of other graphs.

    Counterfactuals of all seeds are too large to be kept for ever; their figures are not.

    Args:
        results: Figures of the run by dataset and method; they replace earlier ones.
        path: The file `table.json` of the folder, if there is one.
        part: Part of the data that was explained.
        limit: Number of graphs of each dataset, or None for all.

    Returns:
        Figures by dataset and method, datasets of the run first.
    """
    try:
        earlier = dict(json.loads(path.read_text(encoding="utf-8")))
        about = earlier.pop("provenance")
        same = (about["part"], about["limit"]) == (part, limit)
    except (OSError, ValueError, KeyError, TypeError):
        return results
    if not same:
        return results
    earlier = {
        name: {row: figures for row, figures in rows.items() if isinstance(figures, dict)}
        for name, rows in earlier.items()
    }
    return {name: earlier.get(name, {}) | results.get(name, {}) for name in dict.fromkeys([*results, *earlier])}


def with_earlier_lines(text: str, path: Path, results: dict[str, Any]) -> str:
    """Add lines of an earlier table for datasets and methods that `text` has none of, datasets as in `results`."""
    if not path.is_file():
        return text
    header, *lines = text.splitlines(keepends=True)
    first, *earlier = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if first != header:
        return text
    held = {tuple(line.split(",")[:2]) for line in lines}
    names = {(name, method) for name, methods in results.items() for method in methods}
    kept = [line for line in earlier if (key := tuple(line.split(",")[:2])) not in held and key in names]
    place = {name: k for k, name in enumerate(results)}
    return "".join([header, *sorted([*lines, *kept], key=lambda line: place[line.split(",")[0]])])
