"""What the quality benchmark is run on: a dataset with the kit that was trained on it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

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
    """A dataset, its kit, which part to explain and how many graphs of it (None: all). The rest is made when needed."""

    dataset: GraphDataset
    kit: Kit
    part: str = "test"
    limit: int | None = None

    @cached_property
    def graphs(self) -> GraphDataset:
        """The graphs to explain."""
        return self.dataset.part(self.part).subset(slice(self.limit))

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(self.kit)

    @cached_property
    def real(self) -> Reality:
        """What models say of the whole part."""
        return Reality.of(self.kit, self.dataset.part(self.part))

    @cached_property
    def vae(self) -> PEGVAE:
        if self.kit.vae is None:
            raise ConfigError(
                f"Walks and baselines need an autoencoder; the kit {self.kit.name} has none. Leave these methods out, "
                "or train one with `graphflip train vae`."
            )
        return self.kit.vae

    @cached_property
    def index(self) -> LatentIndex:
        """Codes of the training graphs."""
        return LatentIndex.build(self.vae, self.dataset.part("train"))


Source = Callable[[str], Material]
"""Where the material of a dataset comes from; for several processes, something that can be sent to them."""


@dataclass(frozen=True)
class Packaged:
    """Material from datasets by name and the kits that the package carries."""

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
