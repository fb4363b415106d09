"""Methods of the field: rivals, the paper's methods and ours, one row of the table each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any

from ...data.dataset import GraphDataset
from ...errors import ConfigError
from ...explain.latent.baselines import LatentIndex, NearestNeighbor, NeighborMean
from ...explain.method import AbstractExplainer
from ...models.networks.pegvae import PEGVAE
from ...rivals.cf2 import CF2
from ...rivals.cf_gnn import CFGNNExplainer
from ...rivals.clear import Clear
from ...rivals.fragment_exchange import FragmentExchange
from ...rivals.gcf_walk import ReinforcedWalk
from ...rivals.irand import IRand
from ...rivals.oblivious import ObliviousSearch
from ...rivals.rival import Abilities, About, AbstractRival
from ...rivals.selfies_mutation import SelfiesMutation
from ...rivals.xplore import XPlore
from ..digests import described, settings_of
from ..quality.material import Material
from ..quality.rows import MethodRow, balanced, believable, cgcf, minimal, random
from .taken import Taken

CLEAR_STEPS = 400
EXMOL_SAMPLES = 300

_PAPER = "Hansen, Pegios, Calissano, Feragen. Graph counterfactual explainable AI via latent space traversal, 2025"
_OURS = "graphflip"


@dataclass(frozen=True)
class FieldMethod:
    """A method of the field.

    Args:
        name: Name in tables and files.
        about: Its name in the literature, paper and abilities.
        build: Function that makes the explainer.
        settings: Function that tells its settings without building it, for one that is slow to build.
        changes: Settings that differ from its paper's, in words.
        spec: Where it is found, if it is a class of the user.
    """

    name: str
    about: About
    build: Callable[[Material], AbstractExplainer]
    settings: Callable[[Material], dict[str, Any]] | None = None
    changes: str = ""
    spec: str = ""

    @property
    def needs_molecules(self) -> bool:
        """True if it works on molecules only."""
        return "molecules" in self.about.abilities.needs

    def row(self, ged_seconds: float) -> MethodRow:
        """The method as a row of a benchmark, its answers taken as they are."""
        spec = self.spec or self.name
        return MethodRow(self.name, self.about.title, TakenRow(spec, ged_seconds), lean=LeanSettings(spec, ged_seconds))


@dataclass(frozen=True)
class TakenRow:
    """Function that makes a method by its name; it can be sent to other processes."""

    name: str
    ged_seconds: float

    def __call__(self, material: Material) -> AbstractExplainer:
        # The first step of an optimizer imports it, which would be counted among the seconds of the method.
        import_module("torch._dynamo")
        method = find_method(self.name)
        return Taken(method.build(material), self.ged_seconds, method.name)


@dataclass(frozen=True)
class LeanSettings:
    """Function that tells the settings of a method by its name."""

    name: str
    ged_seconds: float

    def __call__(self, material: Material) -> dict[str, Any]:
        method = find_method(self.name)
        told = settings_of(method.build(material)) if method.settings is None else method.settings(material)
        return {**told, "ged_seconds": self.ged_seconds}


@dataclass(frozen=True)
class Asked:
    """Function that makes a rival that needs nothing but the classifier."""

    rival: type[AbstractRival]
    settings: tuple[tuple[str, Any], ...] = field(default=())

    def __call__(self, material: Material) -> AbstractExplainer:
        return self.rival(material.kit.classifier, **dict(self.settings))  # pyright: ignore[reportCallIssue]


def clear(material: Material) -> AbstractExplainer:
    """CLEAR, trained on the train part for the classifier."""
    return Clear.fit(material.kit.classifier, material.dataset.part("train"), steps=CLEAR_STEPS)


def _clear_settings(material: Material) -> dict[str, Any]:
    return {"classifier": described(material.kit.classifier), "steps": CLEAR_STEPS}


def nearest(material: Material) -> AbstractExplainer:
    """The training graph of the target class whose latent code is nearest."""
    return NearestNeighbor(material.vae, material.kit.classifier, _index(material.vae, material.dataset))


def neighbor_mean(material: Material) -> AbstractExplainer:
    """The decoded mean of the ten nearest codes of the target class."""
    return NeighborMean(material.vae, material.kit.classifier, _index(material.vae, material.dataset))


@lru_cache(maxsize=1)
def _index(vae: PEGVAE, dataset: GraphDataset) -> LatentIndex:
    """Latent codes of the training graphs: the same for all oracles, and slow to make."""
    return LatentIndex.build(vae, dataset.part("train"))


def _latent_settings(material: Material) -> dict[str, Any]:
    return {"vae": described(material.vae), "classifier": described(material.kit.classifier)}


def _rival(name: str, rival: type[AbstractRival], changes: str = "", **settings: Any) -> FieldMethod:
    return FieldMethod(name, rival.about, Asked(rival, tuple(settings.items())), changes=changes)


def _latent(title: str, needs: tuple[str, ...]) -> About:
    return About(title, _PAPER, Abilities(True, True, True, True, False, needs))


def _ours(title: str) -> About:
    return About(title, _OURS, Abilities(True, True, True, True, True, ("surrogates",)))


METHODS = {
    method.name: method
    for method in (
        _rival("cf_gnn", CFGNNExplainer),
        _rival("cf2", CF2),
        _rival("xplore", XPlore),
        _rival("obs", ObliviousSearch),
        _rival("irand", IRand),
        _rival("gcf_walk", ReinforcedWalk),
        FieldMethod("clear", Clear.about, clear, _clear_settings, f"{CLEAR_STEPS} steps of training"),
        _rival(
            "exmol",
            SelfiesMutation,
            f"{EXMOL_SAMPLES} samples instead of 1,500",
            samples=EXMOL_SAMPLES,
        ),
        _rival("crem", FragmentExchange),
        FieldMethod("cgcf", _latent("CGCF, the paper's walk", ("gradients", "an autoencoder")), cgcf),
        FieldMethod("random", _latent("Random, from the prior", ("an autoencoder",)), random),
        FieldMethod("nearest", _latent("Nearest training graph", ("an autoencoder",)), nearest, _latent_settings),
        FieldMethod(
            "neighbor_mean", _latent("Decoded mean of 10", ("an autoencoder",)), neighbor_mean, _latent_settings
        ),
        FieldMethod("minimal", _ours("graphflip, prefer minimal"), minimal),
        FieldMethod("balanced", _ours("graphflip, the default"), balanced),
        FieldMethod("believable", _ours("graphflip, prefer believable"), believable),
    )
}
"""Methods by name, in the order of the table."""
OURS = ("minimal", "balanced", "believable")
USUAL = tuple(name for name in METHODS if name not in ("crem", "believable"))
"""Methods that are measured unless others are asked for."""


def chosen_methods(names: Sequence[str]) -> list[FieldMethod]:
    """Methods of these names, in the order of the table; methods of the user, `package.module:Class`, come last.

    Raises:
        ConfigError: A name is unknown, or names no class of a method.
    """
    known = {name: method for name, method in METHODS.items() if name in names}
    return [*known.values(), *(find_method(name) for name in names if name not in METHODS)] or [find_method("")]


def find_method(name: str) -> FieldMethod:
    """A method by its name, or the user's class by `package.module:Class`, which is imported."""
    if name in METHODS:
        return METHODS[name]
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ConfigError(f"Methods must be among {', '.join(METHODS)}, or package.module:Class; got {name or 'none'}.")
    try:
        rival = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"A method must be package.module:Class of code that Python finds; {name}: {error}."
        ) from error
    if not (isinstance(rival, type) and issubclass(rival, AbstractRival) and hasattr(rival, "about")):
        raise ConfigError(f"{name} must be a class that extends AbstractRival and has `about`; see docs/field.md.")
    return FieldMethod(str(rival.method), rival.about, Asked(rival), spec=name)
