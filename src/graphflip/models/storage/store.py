"""Model folders: `card.json` says what a model is, `weights.safetensors` holds its numbers. Loading runs no code."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import nn

from ...data.dataset import GraphDataset
from ...errors import ConfigError, ModelFileError, SchemaError
from ...schema import Schema, first_problem
from ...version import __version__
from ..networks.classifier import (
    AttentionClassifier,
    AveragingClassifier,
    ClassifierConfig,
    InvariantClassifier,
    RelationalGIN,
)
from ..networks.counts import CountClassifier, CountConfig
from ..networks.pegvae import PEGVAE, PEGVAEConfig
from ..networks.trees import TreeClassifier, TreesConfig
from .files import misfits, read_tensors, weights_blob, write_atomically

FORMAT = 1
CARD, WEIGHTS = "card.json", "weights.safetensors"
PRETRAINED = Path(__file__).parents[2] / "pretrained"

CLASSES: dict[str, tuple[type[nn.Module], type[BaseModel]]] = {
    "InvariantClassifier": (InvariantClassifier, ClassifierConfig),
    "RelationalGIN": (RelationalGIN, ClassifierConfig),
    "AveragingClassifier": (AveragingClassifier, ClassifierConfig),
    "AttentionClassifier": (AttentionClassifier, ClassifierConfig),
    "CountClassifier": (CountClassifier, CountConfig),
    "TreeClassifier": (TreeClassifier, TreesConfig),
    "PEGVAE": (PEGVAE, PEGVAEConfig),
}


class DataCard(BaseModel):
    """What a model was trained on."""

    model_config = ConfigDict(extra="forbid")
    name: str
    fingerprint: str
    classes: tuple[str, ...]
    split: dict[str, int]

    @classmethod
    def of(cls, dataset: GraphDataset) -> "DataCard":
        sizes = {part: len(index) for part, index in dataset.split.items()}
        return cls(name=dataset.name, fingerprint=dataset.fingerprint(), classes=dataset.classes, split=sizes)


class Card(BaseModel):
    """Everything about a model but its numbers."""

    model_config = ConfigDict(extra="forbid")
    format: int = FORMAT
    version: str = __version__
    kind: str
    config: dict[str, Any]
    graphs: dict[str, Any] = Field(description="the schema")
    data: DataCard | None = None
    training: dict[str, Any] = {}
    figures: dict[str, float] = {}
    sha256: str = ""


def save_model(
    model: nn.Module,
    folder: Path,
    data: DataCard | None = None,
    training: dict[str, Any] | None = None,
    figures: dict[str, float] | None = None,
) -> Card:
    """Write a model folder. The card is written last and names the weights by hash: half a folder does not load."""
    blob = weights_blob(model)
    card = Card(
        kind=type(model).__name__,
        config=model.config.model_dump(mode="json"),  # pyright: ignore
        graphs=model.schema.to_dict(),  # pyright: ignore
        data=data,
        training=training or {},
        figures={name: value for name, value in (figures or {}).items() if math.isfinite(value)},  # JSON has no NaN
        sha256=hashlib.sha256(blob).hexdigest(),
    )
    write_atomically(folder / WEIGHTS, blob)
    write_atomically(folder / CARD, (card.model_dump_json(indent=1) + "\n").encode())
    return card


def load_model(source: str | Path, expect: type[nn.Module] | None = None) -> Any:
    """The model in a folder, or one that the package carries (`"mutagenicity/classifier"`); in eval mode, frozen."""
    folder = find_model(source)
    card = read_card(folder)
    if card.kind not in CLASSES:
        raise ModelFileError(f"{folder / CARD}: `kind` must be one of {', '.join(CLASSES)}; got {card.kind!r}.")
    cls, config_cls = CLASSES[card.kind]
    if expect is not None and not issubclass(cls, expect):
        raise ModelFileError(
            f"{folder}: a {expect.__name__} is needed here; this is a {card.kind}. Give another folder."
        )
    try:
        schema, config = Schema.from_dict(card.graphs), config_cls.model_validate(card.config)
        with torch.device("meta"):  # shapes only: the numbers come from the file
            model = cls(schema, config)  # pyright: ignore[reportCallIssue]
    except (SchemaError, ConfigError, ValidationError, RuntimeError, OverflowError, MemoryError) as error:
        # The last three: numbers so large that no model has such a shape.
        reason = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise ModelFileError(f"{folder / CARD}: {reason}. Copy or train the model again.") from error
    _load_weights(model, folder / WEIGHTS, card)
    return model.eval().requires_grad_(False)


def find_model(source: str | Path) -> Path:
    """The folder of a model: a path, or the name of a model that the package carries."""
    if (Path(source) / CARD).is_file():
        return Path(source)
    if isinstance(source, str) and ".." not in source and (PRETRAINED / source / CARD).is_file():
        return PRETRAINED / source
    names = ", ".join(pretrained_models()) or "(none in this installation)"
    raise ConfigError(f"A model must be a folder with {CARD}, or one of {names}; got {str(source)!r}.")


def pretrained_models() -> list[str]:
    """Names of the models that the package carries."""
    return sorted(card.parent.relative_to(PRETRAINED).as_posix() for card in PRETRAINED.glob(f"*/*/{CARD}"))


def read_card(folder: Path) -> Card:
    """The card of a model folder, checked."""
    path = folder / CARD
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelFileError(f"{path}: no such file. Give the folder of a trained model, or train one.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}: not a readable JSON file ({error}). Copy or train the model again.") from error
    newer = stored.get("format") if isinstance(stored, dict) else None
    if isinstance(newer, int) and newer > FORMAT:
        raise ModelFileError(
            f"{path}: written in format {newer} by graphflip {stored.get('version')}; this is {__version__}, which "
            f"reads up to format {FORMAT}. Install a newer graphflip."
        )
    try:
        return Card.model_validate(stored)
    except ValidationError as error:
        raise ModelFileError(f"{path}: {first_problem(error)}. Copy or train the model again.") from error


def _load_weights(model: nn.Module, path: Path, card: Card) -> None:
    if not path.is_file():
        raise ModelFileError(f"{path}: no such file. The folder is incomplete: copy or train the model again.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != card.sha256:
        raise ModelFileError(f"{path}: its sha256 is not the one on the card: the file is damaged. Copy it again.")
    tensors, _ = read_tensors(path)
    wrong = misfits(tensors, model.state_dict())
    if wrong:
        names = ", ".join(wrong[:3])
        raise ModelFileError(
            f"{path}: tensors do not fit the configuration on the card ({names}). Train the model again."
        )
    model.load_state_dict(tensors, assign=True)
