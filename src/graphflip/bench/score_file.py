"""Scores of a file of counterfactuals that any tool may have written."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from ..data.source import load_dataset
from ..errors import ConfigError, DataError
from ..explain.counterfactual import Counterfactual
from ..explain.kit import load_kit
from ..explain.records import read_records
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.files import write_atomically
from .measure import Measures
from .score import SCORES, Scorer, figures_of
from .summary import Figures
from .tables import spreadsheet_text

_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Scores:
    """Figures of each method in a file, those of real graphs if there were any, and every measure of every line."""

    figures: dict[str, Figures]
    real: Figures
    ids: list[str]
    methods: list[str]
    measures: Measures

    def to_json(self) -> dict[str, Any]:
        return {"methods": self.figures} | ({"real": self.real} if self.real else {})

    def write(self, path: Path) -> None:
        """The figures as JSON."""
        write_atomically(path, (json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n").encode())

    def write_lines(self, path: Path) -> None:
        """Every measure of every line, as CSV or as JSON lines, as the name of the file says."""
        check_lines_path(path)
        text = io.StringIO()
        if path.suffix == ".jsonl":
            for line in self._lines():
                text.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            writer = csv.DictWriter(text, ["id", "method", *SCORES], lineterminator="\n")
            writer.writeheader()
            for line in self._lines():
                writer.writerow(line | {name: spreadsheet_text(line[name]) for name in ("id", "method")})
        write_atomically(path, text.getvalue().encode())

    def _lines(self) -> Iterator[dict[str, Any]]:
        columns = [self.measures[name].tolist() for name in SCORES]
        for name, method, *values in zip(self.ids, self.methods, *columns, strict=True):
            known = (None if value != value else round(value, 6) for value in values)
            yield {"id": name, "method": method, **dict(zip(SCORES, known, strict=True))}


def check_lines_path(path: Path) -> None:
    """Refuse a name that says neither CSV nor JSON lines."""
    if path.suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"The file of single scores must end in .csv or .jsonl; got {path.name}.")


def score_file(
    path: Path,
    model: str | Path,
    data: str | None = None,
    ged_seconds: float = 0.1,
    tick: Callable[[], None] = lambda: None,
) -> Scores:
    """Measure counterfactuals in the open format with the models of a kit.

    `data` names a dataset whose test part are real graphs to compare with: only then are there ceilings of NAFR.
    Figures are those of each method that the file names.
    """
    kit = load_kit(model)
    real = None if data is None else load_dataset(data)
    if real is not None and real.schema != kit.schema:
        raise DataError(
            f"{data}: the graphs must be of the kind that the model was trained on; these have another schema."
        )
    scorer = Scorer.of(kit, None if real is None else real.part("test") if real.split else real, ged_seconds)
    ids, methods, parts = [], [], []
    found = _checked(read_records(path, kit.schema), path, kit.classifier)
    while some := list(islice(found, _AT_ONCE)):
        parts.append(scorer.score(some, tick))
        ids += [one.id for one in some]
        methods += [one.method for one in some]
    if not parts:
        raise DataError(f"{path}: there must be at least one explanation; the file has none. See docs/format.md.")
    measures = {name: torch.cat([part[name] for part in parts]) for name in SCORES}
    figures = {method: figures_of([_of(measures, methods, method)], scorer.real) for method in dict.fromkeys(methods)}
    return Scores(figures, scorer.real.figures if scorer.real else {}, ids, methods, measures)


def _of(measures: Measures, methods: list[str], method: str) -> Measures:
    rows = torch.tensor([k for k, name in enumerate(methods) if name == method])
    return {name: column[rows] for name, column in measures.items()}


@torch.no_grad()
def _checked(found: Iterator[Counterfactual], path: Path, classifier: AbstractClassifier) -> Iterator[Counterfactual]:
    """The explanations, if each has a target that the classifier knows."""
    outputs = None
    for one in found:
        if outputs is None:
            (outputs,) = classifier(one.factual.pad(classifier.schema.max_nodes))
        try:
            one.goal.at(outputs)
        except ConfigError as error:
            raise DataError(f"{path}, explanation {one.id!r}: {error}") from error
        yield one
