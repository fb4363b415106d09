"""Measure a kit on the test part of its data."""

import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.dataset import GraphDataset
from ..explain.assess import nll_per_node
from ..explain.explainer import Explainer
from ..explain.kit import load_kit
from ..explain.knowledge import KNOWLEDGE, Knowledge
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.pegvae import PEGVAE
from ..models.storage.store import CARD, load_model, read_card
from ..models.training.evaluate import measure_classifier, measure_regressor, predict, r_squared
from .expectations import expectations
from .readiness import Readiness
from .trial import try_explaining

_REBUILT = ("atoms", "edges", "graphs", "graphs_at_once", "node_error", "edge_error")


def measure_readiness(
    folder: Path,
    dataset: GraphDataset,
    own: AbstractClassifier | None,
    labels_given: bool = True,
    seconds: float = 25.0,
    chosen: Mapping[str, Any] = MappingProxyType({}),
) -> Readiness:
    """Measure the models in a kit's folder.

    `own` is the user's classifier, if there is one; `labels_given` is False if the labels are its answers. Explaining a
    few graphs takes at most `seconds`. `chosen` are fields of the figures that are known already.
    """
    test, train = dataset.part("test"), dataset.part("train")
    figures = {path.parent.name: read_card(path.parent).figures for path in sorted(folder.glob(f"*/{CARD}"))}
    if own is not None and labels_given:
        measure = measure_classifier if dataset.classes else measure_regressor
        figures = {"classifier": measure(own, test), **figures}
    limit = Knowledge.load(folder / KNOWLEDGE, dataset.schema).nll_limit
    vae = load_model(folder / "vae", expect=PEGVAE)
    readiness = Readiness(
        name=dataset.name,
        parts={part: len(index) for part, index in dataset.split.items()},
        classes={name: int((train.labels == k).sum()) for k, name in enumerate(dataset.classes)},
        max_nodes=dataset.schema.max_nodes,
        reconstruction={key: figures["vae"][key] for key in _REBUILT if key in figures["vae"]},
        plausible_limit=limit,
        plausible_share=None if limit is None else _plausible_share(vae, test, limit),
        auroc=_of_each("auroc", figures),
        r2=_of_each("r2", figures),
        labels_given=labels_given,
        **chosen,
    )
    if own is not None or (folder / "classifier" / CARD).is_file():
        explainer = Explainer(load_kit(folder, own))
        agreement = _agreement(folder, test, predict(explainer.kit.classifier, test))
        trial = try_explaining(explainer, test, seconds)
        readiness = readiness.model_copy(update={"agreement": agreement, "trial": trial})
    return readiness.model_copy(update={"expect": tuple(expectations(readiness))})


def without_times(readiness: Readiness) -> Readiness:
    """The same figures without those that differ from run to run."""
    if readiness.trial is None:
        return readiness
    timeless = readiness.model_copy(update={"trial": readiness.trial.model_copy(update={"seconds": None})})
    return timeless.model_copy(update={"expect": tuple(expectations(timeless))})


def _of_each(figure: str, figures: dict[str, dict[str, float]]) -> dict[str, float]:
    """Collect one figure of every model that has it; NaN, where a class is missing, is left out."""
    known = {name: values[figure] for name, values in figures.items() if figure in values}
    return {name: value for name, value in known.items() if math.isfinite(value)}


def _plausible_share(vae: PEGVAE, real: GraphDataset, limit: float) -> float:
    nll = torch.cat([nll_per_node(vae, batch.graph) for batch in real.batches(64)])
    return float((nll <= limit).float().mean())


def _agreement(folder: Path, test: GraphDataset, answers: Float[Tensor, "g c"]) -> dict[str, float]:
    surrogates = {path.parent.name: path.parent for path in sorted(folder.glob(f"surrogate-*/{CARD}"))}
    said = {name: predict(load_model(path), test) for name, path in surrogates.items()}
    if answers.shape[1] == 1:
        return {name: r_squared(values[:, 0], answers[:, 0]) for name, values in said.items()}
    return {name: float((row.argmax(-1) == answers.argmax(-1)).float().mean()) for name, row in said.items()}
