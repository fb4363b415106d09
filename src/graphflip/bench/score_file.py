"""Scores of files of counterfactuals, written by any tool."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from ..data.source import load_dataset
from ..errors import ConfigError, DataError
from ..explain.counterfactual import Counterfactual
from ..explain.kit import load_kit
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.files import write_atomically
from .foreign import answer_files, read_answers
from .measure import Measures
from .realism import REALISM, RealismScorer, realism_figures
from .score import SCORES, Scorer, figures_of
from .summary import Figures
from .tables import spreadsheet_text

_AT_ONCE = 64
_COLUMNS = (*SCORES, *REALISM)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a file.

    Args:
        figures: Figures of each method that the file names.
        real: Figures of real graphs; empty if none were given.
        ids: Id of each line.
        methods: Method of each line.
        measures: Every measure of every line.
    """

    figures: dict[str, Figures]
    real: Figures
    ids: list[str]
    methods: list[str]
    measures: Measures

    def to_json(self) -> dict[str, Any]:
        """Figures as JSON."""
        return {"methods": self.figures} | ({"real": self.real} if self.real else {})

    def write(self, path: Path) -> None:
        """Write the figures to a JSON file."""
        write_atomically(path, (json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n").encode())

    def write_lines(self, path: Path) -> None:
        """Write every measure of every line to a .csv or .jsonl file."""
        check_lines_path(path)
        text = io.StringIO()
        if path.suffix == ".jsonl":
            for line in self._lines():
                text.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            writer = csv.DictWriter(text, ["id", "method", *_COLUMNS], lineterminator="\n")
            writer.writeheader()
            for line in self._lines():
                writer.writerow(line | {name: spreadsheet_text(line[name]) for name in ("id", "method")})
        write_atomically(path, text.getvalue().encode())

    def _lines(self) -> Iterator[dict[str, Any]]:
        columns = [self.measures[name].tolist() for name in _COLUMNS]
        for name, method, *values in zip(self.ids, self.methods, *columns, strict=True):
            known = (None if value != value else round(value, 6) for value in values)
            yield {"id": name, "method": method, **dict(zip(_COLUMNS, known, strict=True))}


def check_lines_path(path: Path) -> None:
    """Raise a ConfigError unless the name ends in .csv or .jsonl."""
    if path.suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"The file of single scores must end in .csv or .jsonl; got {path.name}.")


def score_file(
    path: Path,
    model: str | Path,
    data: str | None = None,
    ged_seconds: float = 0.1,
    tick: Callable[[], None] = lambda: None,
) -> Scores:
    """Measure the counterfactuals in a file with the models of a kit.

    Args:
        path: File of counterfactuals in the open format (.jsonl), of pairs of SMILES (.csv, .tsv) or of two lists of
            PyG graphs (.pt), or a folder of such files.
        model: Name or folder of a kit.
        data: Name of a dataset whose test part gives real graphs to compare with; without it there are no ceilings.
        ged_seconds: Time limit for the edit distance of a pair.
        tick: Called after each counterfactual.

    Returns:
        Figures of each method that the file names, and the measures of every line.

    Raises:
        DataError: The file cannot be read, is empty or names a target that the classifier does not have, or the
            dataset has another schema than the kit.
    """
    kit = load_kit(model)
    real = None if data is None else load_dataset(data)
    if real is not None and real.schema != kit.schema:
        raise DataError(
            f"{data}: the graphs must be of the kind that the model was trained on; these have another schema."
        )
    scorer = Scorer.of(kit, None if real is None else real.part("test") if real.split else real, ged_seconds)
    chemist = RealismScorer(kit)
    ids, methods, parts = [], [], []
    files = (_checked(read_answers(file, kit, ged_seconds), file, kit.classifier) for file in answer_files(path))
    answers = chain.from_iterable(files)
    while some := list(islice(answers, _AT_ONCE)):
        parts.append(scorer.score(some, tick) | chemist.score(some))
        ids += [answer.id for answer in some]
        methods += [answer.method for answer in some]
    if not parts:
        raise DataError(
            f"{path}: there must be at least one explanation; the file has none. See docs/concepts/format.md."
        )
    measures = {name: torch.cat([part[name] for part in parts]) for name in _COLUMNS}
    figures = {}
    for method in dict.fromkeys(methods):
        part = _of(measures, methods, method)
        scores = {name: part[name] for name in SCORES}
        figures[method] = figures_of([scores], scorer.real) | realism_figures([part])
    return Scores(figures, scorer.real.figures if scorer.real else {}, ids, methods, measures)


def _of(measures: Measures, methods: list[str], method: str) -> Measures:
    rows = torch.tensor([k for k, name in enumerate(methods) if name == method])
    return {name: column[rows] for name, column in measures.items()}


@torch.no_grad()
def _checked(answers: Iterator[Counterfactual], path: Path, classifier: AbstractClassifier) -> Iterator[Counterfactual]:
    """Yield the answers; raise a DataError at one with a target that the classifier does not have."""
    outputs = None
    for answer in answers:
        if outputs is None:
            (outputs,) = classifier(answer.factual.pad(classifier.schema.max_nodes))
        try:
            answer.goal.at(outputs)
        except ConfigError as error:
            raise DataError(f"{path}, explanation {answer.id!r}: {error}") from error
        yield answer
