"""Kit: the models and the knowledge that belong together, in a folder or carried by the package."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import ConfigError, SchemaError
from ..models.adapters.factory import as_classifier
from ..models.networks.classifier import AbstractClassifier, num_outputs
from ..models.networks.pegvae import PEGVAE
from ..models.storage.store import CARD, PRETRAINED, Card, load_model, read_card
from ..schema import Schema
from .edits.experience.table import EXPERIENCE, Experience
from .knowledge import KNOWLEDGE, Knowledge
from .moves.moves import Moves
from .neighbors import NEIGHBORS, TrainingMolecules
from .preferences import PREFERENCES, Preference, read_preferences

_JUDGES = {"judge": "another GNN", "trees": "trees"}


@dataclass(frozen=True, eq=False)
class Kit:
    """A classifier and the models and knowledge that help to explain it.

    Args:
        name: Name of the kit.
        classifier: Model to explain.
        knowledge: Groups and environments of the training data.
        classes: Names of the classifier's outputs.
        vae: Autoencoder of the same graphs.
        surrogates: Models that the search consults beside the classifier.
        judges: Models of other families, by name, that no search consults; they give evidence afterwards.
        preferences: Settings of searches, by name.
        training: Molecules that it was trained on, by fingerprint; None if graphs are no molecules.
        experience: What moves have done to training graphs by this classifier.
    """

    name: str
    classifier: AbstractClassifier
    knowledge: Knowledge
    classes: tuple[str, ...] = ()
    vae: PEGVAE | None = None
    surrogates: tuple[AbstractClassifier, ...] = ()
    judges: Mapping[str, AbstractClassifier] = field(default_factory=dict)
    preferences: Mapping[str, Preference] = field(default_factory=lambda: PREFERENCES)
    training: TrainingMolecules | None = None
    experience: Experience | None = None

    def __post_init__(self) -> None:
        others = [self.vae] if self.vae is not None else []
        for model in (*others, *self.surrogates, *self.judges.values()):
            if model.schema != self.schema:
                raise SchemaError(
                    f"All models of a kit must have the classifier's schema; a {type(model).__name__} has another. "
                    "Train them on one dataset."
                )

    def __repr__(self) -> str:
        parts = [repr(self.name), type(self.classifier).__name__]
        parts += [f"classes={list(self.classes)}"] if self.classes else []
        parts += ["vae"] if self.vae is not None else []
        parts += [f"{len(self.surrogates)} surrogates", f"{len(self.judges)} judges"]
        return f"Kit({', '.join(parts)})"

    @property
    def schema(self) -> Schema:
        return self.classifier.schema

    @cached_property
    def moves(self) -> Moves:
        """All moves of its graphs; what they look up is kept from one answer to the next."""
        return Moves(self.schema, self.knowledge.vocabulary)

    @cached_property
    def known_moves(self) -> Moves:
        """Those of the moves that create bonds of known environments only; all, if attributes are numbers."""
        bonds = None if self.schema.has_continuous else self.knowledge.environments.bonds
        return Moves(self.schema, self.knowledge.vocabulary, bonds)

    def with_classifier(self, classifier: AbstractClassifier, classes: tuple[str, ...] = ()) -> "Kit":
        """The same kit for another classifier of the same graphs, without surrogates and judges that have another
        number of outputs: they answer another question."""
        count = num_outputs(classifier)
        return dataclasses.replace(
            self,
            classifier=classifier,
            classes=classes or (self.classes if len(self.classes) == count else ()),
            surrogates=tuple(one for one in self.surrogates if num_outputs(one) == count),
            judges={name: one for name, one in self.judges.items() if num_outputs(one) == count},
            experience=None,
        )


def load_kit(source: str | Path, classifier: Any = None) -> Kit:
    """The kit in a folder (`classifier/`, `vae/`, `surrogate-*/`, `judge/`, `trees/`, `knowledge.json`,
    `preferences.json`, `neighbors.safetensors`, `experience.safetensors`), or one that the package carries (`"ames"`);
    only the classifier and the knowledge must be there. A `classifier` given here, whatever `as_classifier` takes, is
    put in the place of the kit's, which then need not have one; models of the kit that have another number of outputs
    are left out, and so is experience."""
    folder = find_kit(source)
    has_classifier, has_vae = ((folder / name / CARD).is_file() for name in ("classifier", "vae"))
    if classifier is None and not has_classifier:
        raise ConfigError(
            f"{folder}: this kit has no classifier of its own. Give the one to explain: "
            "`graphflip.load(folder, classifier=…)`, or --classifier package.module:factory on the command line."
        )
    card = _any_card(folder)
    schema = Schema.from_dict(card.graphs)
    own = None if classifier is None else as_classifier(classifier, schema)
    surrogates = sorted(path.parent for path in folder.glob(f"surrogate-*/{CARD}"))
    kit = Kit(
        name=folder.name,
        classifier=load_model(folder / "classifier", expect=AbstractClassifier) if own is None else own,
        knowledge=Knowledge.load(folder / KNOWLEDGE, schema),
        classes=card.data.classes if card.data else (),
        preferences=read_preferences(folder, schema),
        training=TrainingMolecules.load(folder / NEIGHBORS) if (folder / NEIGHBORS).is_file() else None,
        experience=Experience.load(folder / EXPERIENCE) if own is None and (folder / EXPERIENCE).is_file() else None,
        vae=load_model(folder / "vae", expect=PEGVAE) if has_vae else None,
        surrogates=tuple(load_model(path, expect=AbstractClassifier) for path in surrogates),
        judges={
            words: load_model(folder / name, expect=AbstractClassifier)
            for name, words in _JUDGES.items()
            if (folder / name / CARD).is_file()
        },
    )
    return kit if own is None else kit.with_classifier(own)


def kit_schema(source: str | Path) -> Schema:
    """The schema of a kit's graphs, without loading its models: what a classifier for it is made with."""
    return Schema.from_dict(_any_card(find_kit(source)).graphs)


def find_kit(source: Any) -> Path:
    """The folder of a kit: a path, or the name of one that the package carries."""
    if not isinstance(source, str | os.PathLike):
        raise ConfigError(
            f"A kit must be named by a text or a path; got {source!r}. Give the name of one, as in "
            "graphflip.load('ames'), or the folder that `graphflip fit` wrote."
        )
    known = packaged_kits()
    if isinstance(source, str) and source.lower() in known:
        return PRETRAINED / source.lower()
    if (Path(source) / KNOWLEDGE).is_file() and any(Path(source).glob(f"*/{CARD}")):
        return Path(source)
    raise ConfigError(
        f"A kit must be one of {', '.join(known)}, or a folder with classifier/{CARD} and {KNOWLEDGE}; "
        f"got {str(source)!r}. Make one from your own data with `graphflip fit`."
    )


def _any_card(folder: Path) -> Card:
    """The classifier's card, or where there is none that of another model of the kit: schema and data are the same."""
    return read_card(min(folder.glob(f"*/{CARD}"), key=lambda path: (path.parent.name != "classifier", path)).parent)


def packaged_kits() -> list[str]:
    """List the names of the kits that the package carries."""
    return sorted(path.parent.name for path in PRETRAINED.glob(f"*/{KNOWLEDGE}"))
