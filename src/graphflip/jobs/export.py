"""The answers of a job as JSON lines, or as CSV that is safe to open in a spreadsheet."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError, GraphflipError, JobError
from ..explain.counterfactual import Counterfactual
from ..explain.kit import kit_schema
from ..explain.records import from_record
from ..models.storage.files import whole_file
from .folder import JobFolder, disk_errors, read_manifest
from .tables import COLUMNS

_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"\A(?=\s*{_SIGN}|[\t\r\n])|(?<=[;,|\t\r\n])(?! *[+-]?\d*\.\d+\s)(?=[^\S\t\r\n]*{_SIGN})")
"""Beginnings of formulas: of the cell, or after a mark at which a spreadsheet may split it; coordinates are none."""
_LONGEST_CELL = 32_000
"""Characters of a cell; spreadsheets have room for few more, and Python's csv reads no cell over 131,072."""


def export(folder: Path, to: Path) -> int:
    """Write the answers of a job to a .jsonl or .csv file; returns how many."""
    if to.suffix.lower() not in WRITERS:
        raise ConfigError(f"A file to export to must end in {' or '.join(WRITERS)}; got {to}.")
    manifest = read_manifest(folder)
    manifest.check_finished(folder)
    return WRITERS[to.suffix.lower()](to, JobFolder(folder, manifest).answers())


def explained(folder: Path) -> Iterator[Counterfactual]:
    """The explanations of a finished job; rows that have none are left out."""
    manifest = read_manifest(folder)
    schema = kit_schema(manifest.settings.model)
    for answer in JobFolder(folder, manifest).answers():
        if answer["record"] is not None:
            try:
                counterfactual = from_record(json.loads(answer["record"]), schema)
            except (ValueError, OverflowError, RecursionError, GraphflipError) as error:
                raise JobError(f"{folder}: the record of row {answer['row']} cannot be read; {error}") from error
            yield counterfactual


def write_records(path: Path, answers: Iterable[Mapping[str, Any]]) -> int:
    """Explanations in the format of docs/concepts/format.md; rows that have none (bad input) are left out."""
    count = 0
    with disk_errors(path.parent), whole_file(path, "w") as file:
        for answer in answers:
            if answer["record"] is not None:
                file.write(answer["record"] + "\n")
                count += 1
    return count


def write_csv(path: Path, answers: Iterable[Mapping[str, Any]]) -> int:
    """Write all answers without their graphs.

    Long texts are cut, and one that a spreadsheet would take for a formula gets a quote before it.
    """
    names = [name for name in COLUMNS if name != "record"]
    count = 0
    with disk_errors(path.parent), whole_file(path, "w") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(names)
        for answer in answers:
            writer.writerow([safe_cell(answer[name]) for name in names])
            count += 1
    return count


WRITERS: dict[str, Callable[[Path, Iterable[Mapping[str, Any]]], int]] = {".jsonl": write_records, ".csv": write_csv}


def safe_cell(value: Any) -> Any:
    """The value of a cell: long texts cut, and a quote before what a spreadsheet would take for a formula."""
    if not isinstance(value, str):
        return "" if value is None else value
    short = value if len(value) <= _LONGEST_CELL else f"{value[:_LONGEST_CELL]} …"
    return _FORMULA.sub("'", short)
