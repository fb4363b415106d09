"""Notes on the integers of a TU set: from its label_readme, its README, or a `labels.json` beside it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import DataError
from ...schema import first_problem

LABELS = "labels.json"
_HEADING = re.compile(r"(node|edge|class|graph) labels?( were converted .*)?:?\s*$", re.IGNORECASE)
_NUMBER_FIRST, _NUMBER_LAST = re.compile(r"\s*(-?\d+)\s+(\S.*?)\s*$"), re.compile(r"\s*([A-Za-z]\S*)\s+(-?\d+)\s*$")


@dataclass(frozen=True)
class LabelNotes:
    """Names of a set's columns, and for each column of labels the names of its integers."""

    names: dict[str, list[str]] = field(default_factory=dict)
    maps: dict[str, list[dict[int, str]]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "LabelNotes":
        """Read notes from the text of a label_readme or README; lines of other forms are passed over.

        A map is a heading ("Node labels:", "Node labels were converted to integer values using this map:") and lines
        with an integer and a name, in either order; "Component 1:" begins the map of the next column.
        """
        names: dict[str, list[str]] = {}
        maps: dict[str, list[dict[int, str]]] = {}
        current = ""
        for line in text.splitlines():
            if match := re.match(r"(\w+ \w+):\s*\[(.*)\]", line):
                names[match[1].lower()] = [word.strip() for word in match[2].split(",")]
            elif match := _HEADING.match(line.strip()):
                current = {"graph": "class"}.get(match[1].lower(), match[1].lower()) + " labels"
                maps[current] = []
            elif line.startswith("Component") and current:
                maps[current].append({})
            elif line.startswith("==="):
                current = ""
            elif current and (found := _entry(line)) is not None:
                maps[current] = maps[current] or [{}]
                maps[current][-1][found[0]] = found[1]
            elif line.strip():
                current = ""  # a sentence ends a map
        return cls(names, {kind: columns for kind, columns in maps.items() if any(columns)})

    def format(self) -> str:
        """Write the notes as text that `parse` reads back."""
        lines = [f"{kind.capitalize()}:\t[{', '.join(names)}]\n" for kind, names in self.names.items()]
        for kind, columns in self.maps.items():
            lines.append(f"\n{kind.capitalize()} were converted to integer values using this map:\n")
            for k, values in enumerate(columns):
                lines += [f"\nComponent {k}:\n", *(f"\t{number}\t{value}\n" for number, value in values.items())]
        return "".join(lines)

    def with_labels(self, labels: "Labels") -> "LabelNotes":
        """The notes with the names of a `labels.json` in the place of theirs."""
        given = {"node labels": labels.nodes, "edge labels": labels.edges, "class labels": labels.classes}
        maps = {kind: [dict(names)] for kind, names in given.items() if names}
        return LabelNotes(self.names, self.maps | maps)


class Labels(BaseModel):
    """Content of a `labels.json`: names for the integers of a set.

    Args:
        nodes: Name of each node label; element symbols make molecules of the graphs.
        edges: Name of each edge label; of molecules: single, double, triple, aromatic.
        classes: Name of each class.
        molecules: False if graphs are no molecules, whatever the names look like.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    nodes: dict[int, str] = Field(default_factory=dict)
    edges: dict[int, str] = Field(default_factory=dict)
    classes: dict[int, str] = Field(default_factory=dict)
    molecules: bool = True

    @classmethod
    def read(cls, path: Path) -> "Labels":
        """Read a file; raises DataError if it is not of this form."""
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            raise DataError(
                f"{path}: names of labels must be given by their integers; {first_problem(error)}."
            ) from error
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: must be a readable JSON file ({error}). Correct it, or remove it.") from error


def labels_beside(source: Path) -> Path:
    """Place of the `labels.json` of a set: in its folder, or beside its zip as NAME.labels.json."""
    return source / LABELS if source.is_dir() else source.with_name(f"{source.stem}.{LABELS}")


def labels_template(tables: dict[str, np.ndarray]) -> str:
    """A `labels.json` to fill in: each integer that occurs is its own name."""
    named: dict[str, Any] = {
        kind: {str(int(value)): str(int(value)) for value in np.unique(column)} for kind, column in tables.items()
    }
    return json.dumps(named | {"molecules": True}, indent=1) + "\n"


def merged(notes: Sequence[LabelNotes]) -> LabelNotes:
    """Notes of several sources; the first that names something counts."""
    names: dict[str, list[str]] = {}
    maps: dict[str, list[dict[int, str]]] = {}
    for one in reversed(notes):
        names |= one.names
        maps |= one.maps
    return LabelNotes(names, maps)


def _entry(line: str) -> tuple[int, str] | None:
    if match := _NUMBER_FIRST.match(line):
        return int(match[1]), match[2]
    if match := _NUMBER_LAST.match(line):
        return int(match[2]), match[1]
    return None
