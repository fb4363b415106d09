"""The answers of a job as JSON lines, or as CSV that is safe to open in a spreadsheet."""

import csv
import json
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

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def export(folder: Path, to: Path) -> int:
    """Write the answers of a job to a .jsonl or .csv file; returns how many."""
    if to.suffix.lower() not in WRITERS:
        raise ConfigError(f"A file to export to must end in {' or '.join(WRITERS)}; got {to}.")
    return WRITERS[to.suffix.lower()](to, JobFolder(folder, read_manifest(folder)).answers())


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
    """All answers without their graphs. A text that a spreadsheet would take for a formula gets a leading quote."""
    names = [name for name in COLUMNS if name != "record"]
    count = 0
    with disk_errors(path.parent), whole_file(path, "w") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(names)
        for answer in answers:
            writer.writerow([_cell(answer[name]) for name in names])
            count += 1
    return count


WRITERS: dict[str, Callable[[Path, Iterable[Mapping[str, Any]]], int]] = {".jsonl": write_records, ".csv": write_csv}


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
