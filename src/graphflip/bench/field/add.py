"""Add counterfactuals of another tool to the field's table as a method of its own."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ...errors import ConfigError, DataError
from ...explain.counterfactual import Counterfactual
from ..foreign import answer_files, read_answers
from ..realism import RealismScorer
from ..score import Scorer
from .figures import method_figures, reasons
from .methods import METHODS
from .oracles import FieldSource
from .sets import found_answers, set_name, truth_of
from .tables import BESIDE
from .write import read_table, write_field, write_table


def add_to_field(
    path: Path, out: Path, data: str, oracle: str = "kit", method: str | None = None, ged_seconds: float = 0.1
) -> dict[str, Any]:
    """Score files of another tool like every method of the field, and add the figures to the folder's tables.

    Args:
        path: File (.jsonl, .csv, .tsv, .pt) or folder of such files.
        out: Folder of the benchmark.
        data: Set that the counterfactuals are of.
        oracle: Classifier that they are about.
        method: Name in the table; by default that of the file or folder.
        ged_seconds: Time limit for the edit distance of a pair.

    Returns:
        The figures.

    Raises:
        ConfigError: The name is that of a method which is measured here.
        DataError: There is nothing to score.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", method or path.stem)
    if name in METHODS or name in BESIDE:
        raise ConfigError(
            f"`method` must be a name of its own; {name} is one of the field. Give another with --method."
        )
    material = FieldSource(out, oracle)(data)
    answers = [a for file in answer_files(path) for a in read_answers(file, material.kit, ged_seconds)]
    if not answers:
        raise DataError(f"{path}: there must be at least one counterfactual; there is none.")
    measures = Scorer(material.kit, material.real, ged_seconds, own_demands=False).score(answers)
    realism = RealismScorer(material.kit).score(answers) | {"flip_ratio": measures["flip_ratio"]}
    truth = truth_of(data)
    known = None if truth is None else found_answers(truth, _asked_again(answers, measures["flip_ratio"]))
    figures = method_figures(measures, realism, known)
    figures["failures"] = reasons([(a.outcome.value, a.note) for a in answers if not a.flipped])
    figures["command"] = f"graphflip score {path.name} --model {data} --field DIR --oracle {oracle} --method {name}"
    content = read_table(out)
    content.setdefault(set_name(data), {}).setdefault(oracle, {"graphs": {}, "oracle": {}})[name] = figures
    write_table(out, content)
    write_field(out)
    return figures


def _asked_again(answers: Sequence[Counterfactual], flips: torch.Tensor) -> list[Counterfactual]:
    """Answers whose claim of a flip the classifier confirms stay; others are taken as answers without a graph."""
    pairs = zip(answers, flips.tolist(), strict=True)
    return [answer if yes else dataclasses.replace(answer, counterfactual=None) for answer, yes in pairs]
