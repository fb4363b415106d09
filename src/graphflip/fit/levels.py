"""Levels of a kit: its preferences ask for no more certainty than its models have about real graphs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.goals.batches import mean_outputs
from ..explain.kit import Kit
from ..explain.preferences import PREFERENCES_FILE, Preference, usual_preferences
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.files import write_atomically
from ..models.training.evaluate import predict

_REAL = {"balanced": 0.5, "believable": 0.75}
"""Share of real graphs of a class that are less certain than what each preference asks for."""

_ORDERS, _ROUNDED = 26, 5e-4  # quantiles that are tried for a level; half of its last digit
_ENOUGH = 4  # graphs that are predicted as a class, below which nothing is said of the class


class AskedLevel(NamedTuple):
    """Probabilities of the target that a preference asks for.

    Args:
        confidence: From the classifier.
        agreement: From the surrogates, on average.
    """

    confidence: float
    agreement: float


def write_levels(folder: Path, kit: Kit, real: GraphDataset) -> dict[str, AskedLevel]:
    """Write a kit's `preferences.json` where the usual preferences ask for more than real graphs get.

    Models that learned from few or noisy graphs are seldom certain. A search that asks for more certainty than they
    have about real graphs finds nothing, after a long time.

    Args:
        folder: Folder of the kit.
        kit: Its models; one that predicts a value has no such levels.
        real: Graphs that the models did not learn from: the validation part.

    Returns:
        The new levels, by preference; none where the usual ones stay.
    """
    lower = lower_levels(kit.classifier, kit.surrogates, real, usual_preferences(kit.schema))
    path = folder / PREFERENCES_FILE
    path.unlink(missing_ok=True)
    if lower:
        stored = {name: level._asdict() for name, level in lower.items()}
        write_atomically(path, (json.dumps(stored, indent=1) + "\n").encode())
    return lower


def lower_levels(
    classifier: AbstractClassifier,
    surrogates: Sequence[AbstractClassifier],
    real: GraphDataset,
    usual: Mapping[str, Preference],
) -> dict[str, AskedLevel]:
    """Levels of the preferences that ask for more than half (`balanced`) or a quarter (`believable`) of the real
    graphs of some class have, confidence and agreement together; never less than chance."""
    answers = predict(classifier, real)
    if answers.shape[1] == 1 or not surrogates:
        return {}
    predicted = answers.argmax(-1)
    sure = _given(answers, predicted)
    agreed = _given(mean_outputs(torch.stack([predict(one, real) for one in surrogates])), predicted)
    lower = {}
    for name, share in _REAL.items():
        asked = AskedLevel(usual[name].confidence, usual[name].agreement)
        level = _level_of_real(sure, agreed, predicted, share, asked, least=1 / answers.shape[1])
        if level != asked:
            lower[name] = level
    return lower


def _level_of_real(
    sure: Float[Tensor, " g"],
    agreed: Float[Tensor, " g"],
    classes: Int[Tensor, " g"],
    share: float,
    asked: AskedLevel,
    least: float,
) -> AskedLevel:
    """The highest level, at most what is asked, whose confidence and agreement together all but a share of the real
    graphs of each class have. Both are quantiles of the same order, which is lowered until that holds."""
    for order in torch.linspace(share, 0.0, _ORDERS).tolist():
        reached = (max(_lowest(values, classes, order), least) for values in (sure, agreed))
        level = AskedLevel(*(round(min(own, most), 3) for own, most in zip(reached, asked, strict=True)))
        has_both = ((sure >= level.confidence - _ROUNDED) & (agreed >= level.agreement - _ROUNDED)).to(sure)
        if 1 - _lowest(has_both, classes, None) <= share:
            return level
    return level


def _given(outputs: Float[Tensor, "g c"], classes: Int[Tensor, " g"]) -> Float[Tensor, " g"]:
    """Probability that outputs give to a class of each graph."""
    return outputs.softmax(-1).gather(1, classes[:, None])[:, 0]


def _lowest(values: Float[Tensor, " g"], classes: Int[Tensor, " g"], order: float | None) -> float:
    """Quantile of some order, or the mean, in the class where it is lowest; of all values where classes have few."""
    parts = [values[classes == one] for one in classes.unique()]
    parts = [part for part in parts if len(part) >= _ENOUGH] or [values]
    return min(float(part.mean() if order is None else part.quantile(order)) for part in parts)
