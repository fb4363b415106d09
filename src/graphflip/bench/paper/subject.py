"""Subject of the experiment: a dataset of the paper with the models that were trained on it."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

from torch import nn

from ...data.dataset import GraphDataset
from ...errors import ConfigError, ModelFileError
from ...explain.latent.baselines import LatentIndex
from ...metrics import plausibility_threshold
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.pegvae import PEGVAE
from ...models.storage.store import find_model, load_model, read_card
from ..digests import model_digest
from ..measure import Yardstick, plausibility, stack

_TRAIN = {
    "vae-paper": "vae {data} --preset paper",
    "classifier-paper": "classifier {data} --preset paper",
    "judge": "judge {data}",
    "trees": "judge {data} --preset trees",
}


@dataclass(frozen=True, eq=False)
class Models:
    """The paper's autoencoder and classifier, and two judges that no explainer uses: another GNN, and trees."""

    vae: PEGVAE
    classifier: AbstractClassifier
    judge: AbstractClassifier
    trees: AbstractClassifier


ModelSource = Callable[[GraphDataset], Models]
"""A function that finds the models for a dataset."""


def packaged_models(dataset: GraphDataset) -> Models:
    """Load the models that come with the package for a dataset; the error for a missing one says how to train it."""
    return Models(
        vae=_load(dataset, "vae-paper", PEGVAE),
        classifier=_load(dataset, "classifier-paper", AbstractClassifier),
        judge=_load(dataset, "judge", AbstractClassifier),
        trees=_load(dataset, "trees", AbstractClassifier),
    )


def _load(dataset: GraphDataset, role: str, kind: type[nn.Module]):
    name = f"{dataset.name}/{role}"
    how = f"graphflip train {_TRAIN[role].format(data=dataset.name)} --out {name}"
    try:
        folder = find_model(name)
    except ConfigError as error:
        raise ConfigError(
            f"The experiment needs the model {name}, which is neither in the package nor a folder here. "
            f"Train it with: {how}"
        ) from error
    check_trained_on(dataset, folder, how)
    return load_model(folder, expect=kind)


def check_trained_on(dataset: GraphDataset, folder: Path, how: str) -> None:
    """Raise a ModelFileError for a model of another dataset or split; `how` is the command to train the right one."""
    trained_on = read_card(folder).data
    if trained_on is None or trained_on.fingerprint != dataset.fingerprint():
        raise ModelFileError(
            f"{folder}: the model must have been trained on this very dataset and split; it was trained on another, "
            f"so test graphs may be among what it knows. Train it again with: {how}"
        )


@dataclass(frozen=True, eq=False)
class Subject:
    """A dataset, its models, and the number of test graphs to explain (None: all)."""

    dataset: GraphDataset
    models: Models
    limit: int | None = None

    @cached_property
    def test(self) -> GraphDataset:
        """The graphs to explain."""
        return self.dataset.part("test").subset(slice(self.limit))

    @cached_property
    def index(self) -> LatentIndex:
        """Latent codes of the training graphs."""
        return LatentIndex.build(self.models.vae, self.dataset.part("train"))

    def yardstick(self, ged_seconds: float) -> Yardstick:
        """Models and limits for measuring counterfactuals; the limit of plausibility comes from all test graphs."""
        models = self.models
        judges = {"nafr": models.judge, "nafr_other": models.trees}
        return Yardstick(models.classifier, models.vae, judges, self._nll_limit, ged_seconds)

    @cached_property
    def _nll_limit(self) -> float:
        real = stack([self.dataset.part("test").graphs()])
        return plausibility_threshold(plausibility(real, self.models.vae))

    @cached_property
    def digests(self) -> dict[str, str]:
        """Short hashes of the data and of each model, on which results depend."""
        weights = {field.name: model_digest(getattr(self.models, field.name)) for field in fields(Models)}
        return {"data": self.dataset.fingerprint()[:16], **weights}
