"""Counterfactuals of other tools in the formats that people have: JSON lines, pairs of SMILES, two lists of graphs."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from ..data.inputs import read_graph
from ..edits import apply_edits, num_edits
from ..errors import DataError, GraphflipError
from ..explain.counterfactual import Counterfactual, Outcome
from ..explain.kit import Kit
from ..explain.method import ask, verdict
from ..explain.records import read_records
from ..ged.distance import graph_edit_distance
from ..graph import Graph

_BEFORE = ("factual", "original", "input", "smiles", "source")
_AFTER = ("counterfactual", "cf", "cf_smiles", "counterfactual_smiles", "output")
Pair = tuple[str, Any, Any, int | None, str]
"""Id, factual, counterfactual or None, target or None for the likeliest other class, and method."""


def answer_files(path: Path) -> list[Path]:
    """The file itself, or the files of a folder that can be scored, in order of their names.

    Raises:
        DataError: The folder has none.
    """
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in READERS)
    if not files:
        raise DataError(
            f"{path}: a folder to score must hold files that end in {', '.join(READERS)}; it has none of them."
        )
    return files


def read_answers(path: Path, kit: Kit, ged_seconds: float = 0.1) -> Iterator[Counterfactual]:
    """Read the counterfactuals of any tool.

    Files in the open format (.jsonl) are taken as they align nodes. Pairs of SMILES (.csv, .tsv) and two lists of PyG
    graphs (.pt) are aligned by edit distance, and the classifier of the kit says what flips.

    Args:
        path: File whose name ends in .jsonl, .csv, .tsv or .pt.
        kit: Schema and classifier.
        ged_seconds: Time limit for the alignment of a pair.

    Raises:
        DataError: The file or a factual cannot be read. A counterfactual that cannot be is an answer without a graph:
            that is the tool's failure.
    """
    if path.suffix not in READERS:
        raise DataError(f"{path}: files to score must end in {', '.join(READERS)}.")
    return READERS[path.suffix](path, kit, ged_seconds)


def nearest_alignment(factual: Graph, graph: Graph, seconds: float) -> Graph:
    """The graph with its nodes in the slots of the factual's, by the least edits known.

    Args:
        factual: Graph before, a batch of one.
        graph: Graph after, a batch of one with as many slots.
        seconds: Time limit for the edit distance.

    Returns:
        The graph as it is if no alignment is nearer than its own.
    """
    kept = torch.arange(factual.num_slots)
    distance = graph_edit_distance(factual, graph, alignment=kept, time_limit=seconds)
    if len(distance.edits) >= num_edits(factual, graph):
        return graph
    aligned = apply_edits(factual, distance.edits)
    return aligned if aligned.num_slots <= factual.num_slots else graph


def _open_format(path: Path, kit: Kit, ged_seconds: float) -> Iterator[Counterfactual]:
    return read_records(path, kit.schema)


def _smiles_pairs(path: Path, kit: Kit, ged_seconds: float) -> Iterator[Counterfactual]:
    return _answers(_table_rows(path), path, kit, ged_seconds)


def _table_rows(path: Path) -> Iterator[Pair]:
    mark = "\t" if path.suffix == ".tsv" else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter=mark)
            names = {str(name).strip().lower(): name for name in rows.fieldnames or ()}
            before, after = (_column(path, names, known) for known in (_BEFORE, _AFTER))
            for number, row in enumerate(rows):
                target = (row.get(names.get("target", ""), "") or "").strip()
                if target and not target.isdigit():
                    raise DataError(
                        f"{path}, row {number + 1}: `target` must be the number of a class; got {target!r}."
                    )
                yield (
                    row.get(names.get("id", ""), "") or str(number),
                    (row[before] or "").strip(),
                    (row[after] or "").strip() or None,
                    int(target) if target else None,
                    row.get(names.get("method", ""), "") or path.stem,
                )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a table ({error}). Save it as CSV in UTF-8.") from error


def _column(path: Path, names: dict[str, Any], known: tuple[str, ...]) -> Any:
    for name in known:
        if name in names:
            return names[name]
    raise DataError(
        f"{path}: the header must name a column {' or '.join(known)}; got {', '.join(map(str, names)) or 'none'}."
    )


def _pyg_lists(path: Path, kit: Kit, ged_seconds: float) -> Iterator[Counterfactual]:
    from ..data.pyg.file import read_pyg_pairs

    rows = ((str(k), before, after, None, path.stem) for k, (before, after) in enumerate(read_pyg_pairs(path)))
    return _answers(rows, path, kit, ged_seconds)


def _answers(rows: Iterator[Pair], path: Path, kit: Kit, ged_seconds: float) -> Iterator[Counterfactual]:
    n = kit.schema.max_nodes
    for name, before, after, target, method in rows:
        try:
            factual = read_graph(before, kit.schema).pad(n)
            question = ask(kit.classifier, factual, target, [name], 0)
        except GraphflipError as error:
            raise DataError(f"{path}, pair {name}: the factual cannot be read. {error}") from error
        graph, note = None, "no counterfactual"
        if after is not None:
            try:
                graph = nearest_alignment(factual, read_graph(after, kit.schema).pad(n), ged_seconds)
            except GraphflipError as error:
                note = f"cannot be read: {error}"
        if graph is None:
            yield question.answer(0, method, None, Outcome.NOTHING_TO_OFFER, p_counterfactual=None, note=note)
        else:
            (outcome,), probability = verdict(kit.classifier, graph, question.goals)
            yield question.answer(0, method, graph, outcome, p_counterfactual=float(probability))


READERS: dict[str, Callable[[Path, Kit, float], Iterator[Counterfactual]]] = {
    ".jsonl": _open_format,
    ".csv": _smiles_pairs,
    ".tsv": _smiles_pairs,
    ".pt": _pyg_lists,
}
"""Readers by the ending of a file's name."""
