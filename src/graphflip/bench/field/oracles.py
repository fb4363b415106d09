"""Oracles of the field: the classifiers that are explained, trained once and kept in the folder of the benchmark."""

from dataclasses import dataclass
from pathlib import Path

from ...data.dataset import GraphDataset
from ...errors import ConfigError, GraphflipError
from ...explain.kit import Kit
from ...models.networks.classifier import AbstractClassifier
from ...models.storage.store import load_model, read_card
from ...models.training.evaluate import measure_classifier
from ...models.training.train import train_model
from ..quality.material import PARTS, Material
from .sets import load_set, set_name

ORACLES = {
    "kit": "the classifier of the kit: a relational GIN that sees edge attributes",
    "gcn": "a graph convolutional network of 3 x 20, as in the literature; edge attributes are not seen",
    "gin": "a GIN of 3 x 32 without normalization; edge attributes are not seen",
}


@dataclass(frozen=True)
class FieldSource:
    """Source of a set with an oracle in the place of its kit's classifier; surrogates and judges stay the kit's.

    Args:
        out: Folder of the benchmark, for models that are trained.
        oracle: One of `ORACLES`.
        part: Part of the data to explain.
        limit: Number of graphs; None means all.
        sample: Seed by which they are drawn.
        seed: Seed of the oracle's training.
    """

    out: Path
    oracle: str
    part: str = "test"
    limit: int | None = None
    sample: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.oracle not in ORACLES:
            raise ConfigError(f"Oracles must be among {', '.join(ORACLES)}; got {self.oracle!r}.")
        if self.part not in PARTS:
            raise ConfigError(f"`part` must be one of {', '.join(PARTS)}; got {self.part!r}.")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"`limit` must be at least 1, or None for all graphs; got {self.limit}.")

    def __call__(self, name: str) -> Material:
        dataset, kit = load_set(name, self.out)
        kit = self.with_oracle(kit, dataset, name)
        return Material(dataset, kit, self.part, self.limit, self.sample, own_demands=False)

    def with_oracle(self, kit: Kit, dataset: GraphDataset, name: str) -> Kit:
        """The kit with the oracle as its classifier; it is trained if the folder does not hold it."""
        if self.oracle == "kit" and self.seed == 0:
            return kit
        preset = "default" if self.oracle == "kit" else self.oracle
        folder = self.out / "oracles" / f"{set_name(name)}-{self.oracle}-seed{self.seed}"
        return kit.with_classifier(_trained(dataset, folder, preset, self.seed), kit.classes)


def _trained(dataset: GraphDataset, folder: Path, preset: str, seed: int) -> AbstractClassifier:
    try:
        card = read_card(folder)
        if card.data is not None and card.data.fingerprint == dataset.fingerprint():
            return load_model(folder, expect=AbstractClassifier)
    except GraphflipError:
        pass
    train_model("classifier", dataset, folder, preset, {"seed": seed})
    return load_model(folder, expect=AbstractClassifier)


def oracle_figures(material: Material) -> dict[str, float]:
    """Accuracy and AUROC of the classifier that is explained, on the whole test part."""
    figures = measure_classifier(material.kit.classifier, material.dataset.part("test"))
    return {name: round(figures[name], 4) for name in ("accuracy", "auroc") if name in figures}
