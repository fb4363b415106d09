"""Use of a model beside the classifier: one that knows hardly anything is no second opinion and is set aside."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from ..data.dataset import GraphDataset
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.store import CARD, load_model
from ..models.training.evaluate import auroc, predict, r_squared

UNUSED = "unused"
"""Folder of a kit for surrogates and judges that were trained and are of no use."""

_LEAST_AUROC, _LEAST_R2 = 0.6, 0.1
_LEAST_SHARE = 0.5  # of what the best surrogate knows
_HANDFUL = 16
_ERROR = 0.5  # of an AUROC, about, times the square root of the number of graphs


def set_useless_aside(folder: Path, classifier: AbstractClassifier, real: GraphDataset) -> dict[str, float]:
    """Move surrogates that do not know what the classifier goes by out of a kit; the best one always stays.

    Args:
        folder: Folder of the kit.
        classifier: Model to explain.
        real: Graphs that no model learned from: the validation part.

    Returns:
        What was moved, with its AUROC for the classifier's classes (R² for its values).
    """
    answers = predict(classifier, real)
    paths = [path.parent for path in sorted(folder.glob(f"surrogate-*/{CARD}"))]
    known = {path.name: likeness(predict(load_model(path), real), answers) for path in paths}
    aside = useless(known, are_values=answers.shape[1] == 1)
    _move(folder, aside)
    return aside


def set_judges_aside(folder: Path, names: Iterable[str], real: GraphDataset) -> dict[str, float]:
    """Move judges that hardly know the labels out of a kit, all of them if need be: what they say is no evidence.

    A handful of graphs tells nothing of a judge, and others tell it with an error, by which the figure must be lower.

    Args:
        folder: Folder of the kit.
        names: Folders of its judges.
        real: Labeled graphs that no model learned from: the validation part.

    Returns:
        What was moved, with its AUROC for the classes (R² for values).
    """
    least = _LEAST_AUROC if real.classes else _LEAST_R2
    judges = [folder / name for name in names if (folder / name / CARD).is_file() and len(real) >= _HANDFUL]
    known = {path.name: _knowledge(predict(load_model(path), real), real.labels) for path in judges}
    aside = {name: value for name, value in known.items() if value + _ERROR / math.sqrt(len(real)) < least}
    _move(folder, aside)
    return aside


def _move(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / UNUSED).mkdir(exist_ok=True)
        (folder / name).rename(folder / UNUSED / name)


def useless(known: Mapping[str, float], are_values: bool) -> dict[str, float]:
    """Surrogates that know hardly anything, or less than half of what the best one knows; never all of them.

    Args:
        known: AUROC of each surrogate for the classifier's classes, or R² for its values.
        are_values: True for R².
    """
    nothing, least = (0.0, _LEAST_R2) if are_values else (0.5, _LEAST_AUROC)
    best = max(known.values(), default=nothing)
    least = max(least, nothing + _LEAST_SHARE * (best - nothing))
    return {name: value for name, value in known.items() if value < min(least, best)}


def bring_back(folder: Path) -> None:
    """Move what was set aside back into a kit, so that a resumed run decides on them again."""
    for path in sorted((folder / UNUSED).glob(f"*/{CARD}")):
        path.parent.rename(folder / path.parent.name)


def likeness(outputs: Float[Tensor, "g c"], answers: Float[Tensor, "g c"]) -> float:
    """AUROC of outputs for the classes that the answers predict, averaged over those that occur; R² for values.

    It is 1 where only one class is predicted: nothing can be said then.
    """
    return _knowledge(outputs, answers[:, 0] if answers.shape[1] == 1 else answers.argmax(-1))


def _knowledge(outputs: Float[Tensor, "g c"], truth: Shaped[Tensor, " g"]) -> float:
    """AUROC for classes, averaged over those that occur; R² for values."""
    if outputs.shape[1] == 1:
        return r_squared(outputs[:, 0], truth)
    given = outputs.log_softmax(-1)
    areas = [auroc(given[:, k], (truth == k).long()) for k in truth.unique().tolist()]
    return float(torch.tensor(areas).nan_to_num(1.0).mean())
