"""Tables of SMILES, read line by line: a line that cannot be read is a bad row and hides no other line."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import DataError

_SMILES_NAMES = ("smiles", "canonical_smiles", "smi", "molecule", "mol", "structure")
_LABEL_NAMES = ("label", "y", "class", "target", "activity", "active", "mutagen", "outcome")
_ID_NAMES = (
    *("id", "name", "mol_id", "compound", "identifier", "cid", "compound_name", "molecule_name", "compound_id"),
    *("molecule_id", "title"),
)
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LONGEST = 1_000_000
_TOO_LONG = "\ufffd(a line of more than a million characters)"
_BROKEN = "\ufffd(a line with an unclosed quote, or with a cell that is too long)"


class SmilesRow(NamedTuple):
    """Molecule of a file; `row` is its line, counted from 1."""

    row: int
    id: str
    smiles: str
    label: str | None


def read_smiles(
    path: Path | str, smiles_column: str | None = None, label_column: str | None = None, tolerant: bool = False
) -> Iterator[SmilesRow]:
    """Read rows of a .csv or .tsv file with a header, or of a .smi file (SMILES, name, label; no header), one by one.

    Each line is a row. One with a quote that is not closed in it, and so each part of a cell with a line break, is
    given with a text that is no SMILES, and reading goes on with the next line. With `tolerant`, so are bytes that are
    not UTF-8; else they are an error.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace" if tolerant else "strict") as file:
            if path.suffix.lower() in _DELIMITERS:
                yield from _read_table(path, file, smiles_column, label_column)
            elif path.suffix.lower() == ".smi":
                yield from _read_lines(path, file)
            else:
                raise DataError(f"{path}: a file of molecules must end in .csv, .tsv or .smi. Rename or convert it.")
    except OSError as error:
        raise DataError(f"{path}: the file must be readable; {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: the file must be a table in UTF-8; {error}. Save it as CSV in UTF-8.") from error


def count_rows(path: Path) -> int:
    """Count the rows that a table must give, by its lines alone: those that are not blank, without the header."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        lines = bounded_lines(file)
        first = next(lines, "")
        is_table = path.suffix.lower() in _DELIMITERS
        has_header = is_table or _is_header(first.split())
        return sum(not _is_blank(line) for line in lines) + (not has_header and not _is_blank(first))


def bounded_lines(file) -> Iterator[str]:
    """Lines of a text file; a line of more than a million characters is replaced by a mark."""
    while line := file.readline(_LONGEST):
        if len(line) < _LONGEST or line.endswith("\n"):
            yield line
            continue
        while len(line) == _LONGEST and not line.endswith("\n"):
            line = file.readline(_LONGEST)
        yield f"{_TOO_LONG}\n"


def _read_table(path: Path, file, smiles_column: str | None, label_column: str | None) -> Iterator[SmilesRow]:
    lines = bounded_lines(file)
    first = next(lines, "")
    mark = _delimiter(path, first)
    header = [name.strip() for name in _cells(first, mark) or ()]
    smiles_at = _column(path, header, smiles_column, _SMILES_NAMES)
    if smiles_at is None:
        raise DataError(
            f"{path}: the header must name a column of SMILES ({', '.join(_SMILES_NAMES)}); got "
            f"{', '.join(header) or 'an empty file'}. Add a header, or rename a column (in Python: `smiles_column`)."
        )
    label_at = _column(path, header, label_column, _LABEL_NAMES)
    id_at = _column(path, header, None, _ID_NAMES)
    for number, line in enumerate(lines, start=2):
        if _is_blank(line):
            continue
        cells, unnamed = _cells(line, mark), f"{path.stem}/{number}"
        if cells is None:
            yield SmilesRow(number, unnamed, _BROKEN, None)
            continue
        padded = cells + [""] * (len(header) - len(cells))
        name = padded[id_at].strip() if id_at is not None else ""
        label = padded[label_at].strip() if label_at is not None else None
        yield SmilesRow(number, name or unnamed, padded[smiles_at].strip(), label)


def _cells(line: str, mark: str) -> list[str] | None:
    """Cells of one line; None if its quotes are not in pairs, or if csv cannot read it."""
    if line.startswith(_TOO_LONG) or line.count('"') % 2:
        return None
    try:
        return next(csv.reader([line], delimiter=mark, strict=True), [])
    except csv.Error:
        return None


def _is_blank(line: str) -> bool:
    return not line.strip(' \t\r\n,;"')


def _delimiter(path: Path, header: str) -> str:
    """Mark between columns: that of the file's ending, unless the header lacks it and has another."""
    usual = _DELIMITERS[path.suffix.lower()]
    return next((mark for mark in (usual, *";\t,") if mark in header), usual)


def _column(path: Path, header: list[str], name: str | None, guesses: Sequence[str]) -> int | None:
    if name is not None:
        if name not in header:
            raise DataError(f"{path}: the header must have the column `{name}`; got {', '.join(header)}.")
        return header.index(name)
    plain = [re.sub(r"[\s_-]+", "_", column.strip().lower()) for column in header]
    return next((plain.index(guess) for guess in guesses if guess in plain), None)


def _read_lines(path: Path, file) -> Iterator[SmilesRow]:
    for number, line in enumerate(bounded_lines(file), start=1):
        cells = [_TOO_LONG] if line.startswith(_TOO_LONG) else line.split()
        if not _is_blank(line) and cells and not (number == 1 and _is_header(cells)):
            name = cells[1] if len(cells) > 1 else f"{path.stem}/{number}"
            yield SmilesRow(number, name, cells[0], cells[2] if len(cells) > 2 else None)


def _is_header(cells: Sequence[str]) -> bool:
    return bool(cells) and cells[0].lower() in _SMILES_NAMES
