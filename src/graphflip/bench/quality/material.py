"""Material of the quality benchmark: a dataset with the kit that was trained on it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch

from ...data.dataset import GraphDataset
from ...data.source import load_dataset
from ...errors import ConfigError
from ...explain.explainer import Explainer
from ...explain.kit import Kit, find_kit, load_kit
from ...explain.latent.baselines import LatentIndex
from ...models.networks.pegvae import PEGVAE
from ..paper.subject import check_trained_on
from ..reality import Reality

PARTS = ("test", "validation")


@dataclass(frozen=True, eq=False)
class Material:
    """A dataset, its kit, the part to explain, and the number of its graphs to explain (None: all).

    These are the first ones of the part or, where `sample` is a seed, as many drawn at random. With `own_demands`
    answers of our searches are checked to be minimal by what they were asked for.
    """

    dataset: GraphDataset
    kit: Kit
    part: str = "test"
    limit: int | None = None
    sample: int | None = None
    own_demands: bool = True

    @cached_property
    def graphs(self) -> GraphDataset:
        """The graphs to explain."""
        part = self.dataset.part(self.part)
        if self.sample is None or self.limit is None or self.limit >= len(part):
            return part.subset(slice(self.limit))
        chosen = torch.randperm(len(part), generator=torch.Generator().manual_seed(self.sample))[: self.limit]
        return part.subset(chosen.sort().values)

    @cached_property
    def explainer(self) -> Explainer:
        """The default explainer of the kit."""
        return Explainer(self.kit)

    @cached_property
    def real(self) -> Reality:
        """Measures of the real graphs of the whole part."""
        return Reality.of(self.kit, self.dataset.part(self.part))

    @cached_property
    def vae(self) -> PEGVAE:
        """The autoencoder of the kit; an error if it has none."""
        if self.kit.vae is None:
            raise ConfigError(
                f"Walks and baselines need an autoencoder; the kit {self.kit.name} has none. Leave these methods out, "
                "or train one with `graphflip train vae`."
            )
        return self.kit.vae

    @cached_property
    def index(self) -> LatentIndex:
        """Latent codes of the training graphs."""
        return LatentIndex.build(self.vae, self.dataset.part("train"))


Source = Callable[[str], Material]
"""A function that loads the material of a dataset by name; it must be picklable if there are several processes."""


@dataclass(frozen=True)
class Packaged:
    """Source of datasets by name with the kits that come with the package."""

    part: str = "test"
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ConfigError(f"`part` must be one of {', '.join(PARTS)}; got {self.part!r}.")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"`limit` must be at least 1, or None for all graphs; got {self.limit}.")

    def __call__(self, name: str) -> Material:
        dataset = load_dataset(name)
        folder = find_kit(name)
        check_trained_on(dataset, folder / "classifier", f"graphflip train classifier {name}")
        return Material(dataset, load_kit(folder), self.part, self.limit)
