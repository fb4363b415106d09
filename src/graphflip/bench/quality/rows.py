"""Methods of the quality benchmark: explainers with their settings, one row of the table each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import ConfigError
from ...explain.edits.search import EditSearch
from ...explain.latent.baselines import NearestNeighbor, RandomExample
from ...explain.latent.saliency import SaliencyWalk
from ...explain.latent.traversal import LatentTraversal
from ...explain.method import AbstractExplainer
from ...explain.moves.moves import Moves
from ..digests import described, settings_of
from ..paper.runs import WALK
from .limit import FewestEdits
from .material import Material


@dataclass(frozen=True)
class MethodRow:
    """A method of the benchmark.

    Args:
        name: Name in tables and files.
        about: Description in a few words.
        build: Function that makes the explainer.
        repeated: True if it draws random numbers and is run with every seed; else it is run once.
        lean: Function that tells its settings without building it, for an explainer that is slow to build.
    """

    name: str
    about: str
    build: Callable[[Material], AbstractExplainer]
    repeated: bool = False
    lean: Callable[[Material], dict[str, Any]] | None = None

    def settings(self, material: Material) -> dict[str, Any]:
        """Everything that the answers depend on besides the graphs; by default the fields of the explainer."""
        return settings_of(self.build(material)) if self.lean is None else self.lean(material)


def believable(material: Material) -> AbstractExplainer:
    """The default search with `prefer="believable"`."""
    return material.explainer.search(prefer="believable")


def balanced(material: Material) -> AbstractExplainer:
    """The default search."""
    return material.explainer.search(prefer="balanced")


def minimal(material: Material) -> AbstractExplainer:
    """The default search with `prefer="minimal"`."""
    return material.explainer.search(prefer="minimal")


def walk(material: Material) -> AbstractExplainer:
    """The default search, restricted to the moves that the latent walk proposes."""
    proposals = SaliencyWalk(material.vae, (material.kit.classifier,))
    return replace(material.explainer.search(prefer="balanced"), walk=proposals, method="balanced+walk")


def every(material: Material) -> AbstractExplainer:
    """The default search with `thorough=True`: without estimates, it makes every move in every round."""
    return replace(material.explainer.search(prefer="balanced", thorough=True), method="balanced+every")


def greedy(material: Material) -> AbstractExplainer:
    """Greedy search: the best single edit in each round, by the classifier alone."""
    return EditSearch(material.kit.classifier, Moves(material.kit.schema), beam=1, confidence=0.5, method="greedy")


def cgcf(material: Material) -> AbstractExplainer:
    """The paper's walk with the paper's settings, in the latent space of the kit's autoencoder."""
    return LatentTraversal(material.vae, material.kit.classifier, **WALK, method="cgcf")


def random(material: Material) -> AbstractExplainer:
    """A graph drawn from the prior of the kit's autoencoder."""
    return RandomExample(material.vae, material.kit.classifier, method="random")


def nearest(material: Material) -> AbstractExplainer:
    """The training graph of the target class whose latent code is nearest."""
    return NearestNeighbor(material.vae, material.kit.classifier, material.index, method="nearest")


def nearest_settings(material: Material) -> dict[str, Any]:
    """Settings of `nearest`, without encoding all training graphs."""
    return {"vae": described(material.vae), "classifier": described(material.kit.classifier), "aligned": True}


def limit(material: Material) -> AbstractExplainer:
    """A wide search for the fewest edits that flip the classifier, valid in the weakest sense only."""
    return FewestEdits(material.kit.classifier, method="limit")


ROWS = (
    MethodRow("believable", "search; surrogates must be sure, environments known", believable),
    MethodRow("balanced", "search; surrogates must agree, environments known (the default)", balanced),
    MethodRow("minimal", "search on the classifier alone", minimal),
    MethodRow("greedy", "the best single edit, one after the other, on the classifier alone", greedy),
    MethodRow("walk", "as balanced, but only what the latent walk proposes is tried (64 moves a round)", walk),
    MethodRow("every", "as balanced, with thorough: all moves of a round are made, and asked about", every),
    MethodRow("cgcf", "the paper's walk, with the default classifier and the modern autoencoder", cgcf, repeated=True),
    MethodRow("random", "a graph drawn from the modern autoencoder's prior", random, repeated=True),
    MethodRow(
        "nearest", "the training graph of the target class with the nearest code", nearest, lean=nearest_settings
    ),
    MethodRow("limit", "beam search over single edits, open valences allowed: how few edits a flip can take", limit),
)


def chosen(names: Sequence[str], rows: Sequence[MethodRow] = ROWS) -> list[MethodRow]:
    """Methods of these names, in the order of the table."""
    known = [row.name for row in rows]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ConfigError(f"Methods must be among {', '.join(known)}; got {', '.join(unknown) or 'none'}.")
    return [row for row in rows if row.name in names]
