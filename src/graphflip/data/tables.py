"""Tables of SMILES, read line by line: a line that cannot be read is a bad row and hides no other line."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import DataError

_SMILES_NAMES = ("smiles", "canonical_smiles", "smi", "molecule", "mol", "structure", "inchi")
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
    given with a text that is no SMILES, and reading goes on with the next line. With `tolerant`, bytes that are
    not UTF-8 are read as Windows' Western European; else they are an error. A file that begins with the mark of UTF-16
    is read as that.
    """
    path = Path(path)
    try:
        with _opened(path, _WESTERN if tolerant else "strict") as file:
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


def _opened(path: Path, errors: str = "replace") -> TextIO:
    """Open a table as text: UTF-8, or what spreadsheets write as "Unicode text", which is UTF-16 with a mark."""
    with path.open("rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding, handler = ("utf-16", "replace") if marked else ("utf-8-sig", errors)
    return path.open(newline="", encoding=encoding, errors=handler)


def _read_western(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are not UTF-8 as Windows' spreadsheets write them in Western Europe."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_WESTERN = "graphflip.western"
codecs.register_error(_WESTERN, _read_western)


class LabelColumn(NamedTuple):
    """Column of a table that can serve as labels.

    Args:
        name: Heading of the column.
        values: Number of rows with each value, the most frequent first; empty if values are numbers to regress on.
        filled: Rows with a value.
        blank: Rows without one.
    """

    name: str
    values: dict[str, int]
    filled: int
    blank: int

    def __str__(self) -> str:
        kinds = ", ".join(f"{value} {count}" for value, count in self.values.items()) or "numbers to regress on"
        return f"{self.name}: {kinds}" + (f"; {self.blank} blank" if self.blank else "")


def label_columns(path: Path | str) -> list[LabelColumn]:
    """List the columns of a table that can serve as labels: numbers, or a few names; not SMILES, ids and
    row numbers.

    Args:
        path: A .csv or .tsv file with a header.

    Returns:
        The columns in their order; none for a .smi file.
    """
    path = Path(path)
    if path.suffix.lower() not in _DELIMITERS:
        return []
    with _opened(path) as file:
        lines = bounded_lines(file)
        first = next(lines, "")
        mark = _delimiter(path, first)
        header = [name.strip() for name in _cells(first, mark) or ()]
        rows = [cells + [""] * (len(header) - len(cells)) for line in lines if (cells := _cells(line, mark))]
    taken = {_column(path, header, None, guesses) for guesses in (_SMILES_NAMES, _ID_NAMES)}
    cells = {at: [row[at].strip() for row in rows] for at in range(len(header)) if at not in taken}
    columns = [(header[at], Counter(values)) for at, values in cells.items() if not _are_row_numbers(values)]
    described = (_described(name, counts) for name, counts in columns)
    return [column for column in described if column is not None]


def _are_row_numbers(values: Sequence[str]) -> bool:
    """True for whole numbers that grow from row to row, as in a column `num`: names of rows, not labels."""
    if len(values) <= MOST_CLASSES or not all(value.isdecimal() for value in values):
        return False
    return all(int(before) < int(after) for before, after in pairwise(values))


def has_usual_label(path: Path | str) -> bool:
    """True if a table has a column with a usual heading of labels, or is a .smi file, whose third column is one."""
    path = Path(path)
    if path.suffix.lower() not in _DELIMITERS:
        return True
    with _opened(path) as file:
        first = next(bounded_lines(file), "")
    header = [name.strip() for name in _cells(first, _delimiter(path, first)) or ()]
    return _column(path, header, None, _LABEL_NAMES) is not None


def is_regression(values: Iterable[str]) -> bool:
    """True if different values of a column are numbers with decimals, or more than 20 whole numbers."""
    numbers = [_as_number(value) for value in values]
    if any(number is None for number in numbers):
        return False
    return len(numbers) > MOST_CLASSES or any(number is not None and number != int(number) for number in numbers)


MOST_CLASSES = 20
"""Largest number of different whole numbers, or names, that are taken for classes."""


def _described(name: str, counts: Counter[str]) -> LabelColumn | None:
    blank = counts.pop("", 0)
    filled = sum(counts.values())
    if len(counts) < 2:
        return None
    if is_regression(counts):
        return LabelColumn(name, {}, filled, blank)
    if len(counts) > MOST_CLASSES or filled < 3 * len(counts):
        return None  # texts that are all different
    return LabelColumn(name, dict(counts.most_common()), filled, blank)


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def count_rows(path: Path) -> int:
    """Count the rows that a table must give, by its lines alone: those that are not blank, without the header."""
    with _opened(path) as file:
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
    if not first:
        raise DataError(f"{path}: a table must have a header and rows; the file is empty.")
    mark = _delimiter(path, first)
    header = [name.strip() for name in _cells(first, mark) or ()]
    smiles_at = _column(path, header, smiles_column, _SMILES_NAMES)
    if smiles_at is None:
        raise DataError(
            f"{path}: the header must name a column of SMILES ({', '.join(_SMILES_NAMES)}); got "
            f"{', '.join(header) or 'an empty line'}. Add a header, or rename a column (in Python: `smiles_column`)."
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
