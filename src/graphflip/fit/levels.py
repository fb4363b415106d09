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
    """Levels of the preferences that ask for more than half (`balanced`) or three quarters (`believable`) of the real
    graphs of some class get; never less than chance."""
    answers = predict(classifier, real)
    if answers.shape[1] == 1 or not surrogates:
        return {}
    predicted = answers.argmax(-1)
    sure = _given(answers, predicted)
    agreed = _given(mean_outputs(torch.stack([predict(one, real) for one in surrogates])), predicted)
    lower = {}
    for name, share in _REAL.items():
        asked = usual[name].confidence, usual[name].agreement
        reached = (max(_least(values, predicted, share), 1 / answers.shape[1]) for values in (sure, agreed))
        level = AskedLevel(*(round(min(own, most), 3) for own, most in zip(reached, asked, strict=True)))
        if level != asked:
            lower[name] = level
    return lower


def _given(outputs: Float[Tensor, "g c"], classes: Int[Tensor, " g"]) -> Float[Tensor, " g"]:
    """Probability that outputs give to a class of each graph."""
    return outputs.softmax(-1).gather(1, classes[:, None])[:, 0]


def _least(values: Float[Tensor, " g"], classes: Int[Tensor, " g"], share: float) -> float:
    """Quantile of the values in the class where it is lowest; of all values where every class has few graphs."""
    parts = [values[classes == one] for one in classes.unique()]
    parts = [part for part in parts if len(part) >= _ENOUGH] or [values]
    return min(float(part.quantile(share)) for part in parts)
