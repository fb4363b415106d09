"""Tables of figures, as CSV, Markdown and LaTeX."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Row = dict[str, str | float | int | None]
"""Cells of a row by key; None, or no key, where there is no figure."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        title: Heading.
        key: Key of the figure in a row.
        digits: Digits after the point.
        spread: Append "± s", with the figure under `key + "_spread"`, where there is one.
        note: Name of a footnote.
    """

    title: str
    key: str
    digits: int = 2
    spread: bool = False
    note: str | None = None

    def cell(self, row: Row) -> str:
        """Text of the cell in a row."""
        value = row.get(self.key)
        if value is None or isinstance(value, str):
            return value or "–"
        text = f"{value:.{self.digits}f}"
        spread = row.get(f"{self.key}_spread") if self.spread else None
        return f"{text} ± {spread:.{self.digits}f}" if isinstance(spread, float | int) else text


@dataclass(frozen=True)
class TablePart:
    """Columns of a table that are printed under a heading of their own, so that they fit on a page."""

    title: str
    columns: Sequence[Column]

    def select(self, rows: Sequence[Row]) -> list[Row]:
        """Rows that have a figure in at least one of the columns."""
        return [row for row in rows if any(isinstance(row.get(column.key), float | int) for column in self.columns)]


@dataclass(frozen=True)
class Table:
    """Rows of figures. CSV has all figures; Markdown and LaTeX have those of `parts`, with numbered footnotes."""

    name: str
    parts: Sequence[TablePart]
    rows: Sequence[Row]
    footnotes: Mapping[str, str]

    def to_csv(self) -> str:
        """All figures of all rows as CSV."""
        text = io.StringIO()
        keys = list(dict.fromkeys(key for row in self.rows for key in row))
        writer = csv.DictWriter(text, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def to_markdown(self, source: str) -> str:
        """Tables and footnotes as Markdown, followed by `source`, the command and versions that made the figures."""
        numbers, lines = self._numbers(), []
        for part in self.parts:
            header = [column.title + (f" [{numbers[column.note]}]" if column.note else "") for column in part.columns]
            cells = [[column.cell(row) for column in part.columns] for row in part.select(self.rows)]
            lines += [f"### {part.title}", "", *markdown_lines(header, cells), ""]
        lines += [f"{number}. {self.footnotes[note]}" for note, number in numbers.items()]
        return "\n".join([*lines, "", source, ""])

    def to_latex(self) -> str:
        """Tables and footnotes as LaTeX, for a document with the packages booktabs and graphicx."""
        numbers, lines = self._numbers(), []
        for part in self.parts:
            marks = [f"$^{{{numbers[column.note]}}}$" if column.note else "" for column in part.columns]
            header = [_latex(column.title) + mark for column, mark in zip(part.columns, marks, strict=True)]
            lines += [r"\begin{table}", rf"\caption{{{_latex(part.title)}}}", r"\resizebox{\textwidth}{!}{%"]
            lines += [rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\toprule"]
            lines += [" & ".join(header) + r" \\", r"\midrule"]
            cells = [[_latex(column.cell(row)) for column in part.columns] for row in part.select(self.rows)]
            lines += [" & ".join(line) + r" \\" for line in cells]
            lines += [r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""]
        lines += [rf"$^{{{number}}}$ {_latex(self.footnotes[note])}\par" for note, number in numbers.items()]
        return "\n".join([*lines, ""])

    def _numbers(self) -> dict[str, int]:
        notes = dict.fromkeys(column.note for part in self.parts for column in part.columns if column.note)
        return {note: number for number, note in enumerate(notes, 1)}


def spreadsheet_text(text: str) -> str:
    """Escape a text with a leading quote if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def markdown_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


_LATEX = {"±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "`": "'"}
_LATEX |= {character: rf"\{character}" for character in "_%&#$"}


def _latex(text: str) -> str:
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)
