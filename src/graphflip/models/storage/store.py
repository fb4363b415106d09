"""Model folders: `card.json` describes a model, `weights.safetensors` holds its weights. Loading runs no code."""

import hashlib
import math
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import nn

from ...data.dataset import GraphDataset
from ...errors import ConfigError, ModelFileError, SchemaError
from ...nn.initialize import shapes_only
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
from ..networks.plain import PlainGCN, PlainGIN
from ..networks.trees import TreeClassifier, TreesConfig
from .files import misfits, read_json_model, read_tensors, weights_blob, write_atomically

FORMAT = 1
CARD, WEIGHTS = "card.json", "weights.safetensors"
PRETRAINED = Path(__file__).parents[2] / "pretrained"

CLASSES: dict[str, tuple[type[nn.Module], type[BaseModel]]] = {
    "InvariantClassifier": (InvariantClassifier, ClassifierConfig),
    "RelationalGIN": (RelationalGIN, ClassifierConfig),
    "AveragingClassifier": (AveragingClassifier, ClassifierConfig),
    "AttentionClassifier": (AttentionClassifier, ClassifierConfig),
    "PlainGCN": (PlainGCN, ClassifierConfig),
    "PlainGIN": (PlainGIN, ClassifierConfig),
    "CountClassifier": (CountClassifier, CountConfig),
    "TreeClassifier": (TreeClassifier, TreesConfig),
    "PEGVAE": (PEGVAE, PEGVAEConfig),
}


class DataCard(BaseModel):
    """The dataset that a model was trained on: name, fingerprint, classes, and number of graphs in each part."""

    model_config = ConfigDict(extra="forbid")
    name: str
    fingerprint: str
    classes: tuple[str, ...]
    split: dict[str, int]

    @classmethod
    def of(cls, dataset: GraphDataset) -> "DataCard":
        """Describe a dataset."""
        sizes = {part: len(index) for part, index in dataset.split.items()}
        return cls(name=dataset.name, fingerprint=dataset.fingerprint(), classes=dataset.classes, split=sizes)


class Card(BaseModel):
    """Description of a model.

    Args:
        format: Version of the file format.
        version: Version of graphflip that wrote the model.
        kind: Class of the model.
        config: Its configuration.
        graphs: Schema of the graphs that it takes.
        data: Dataset that it was trained on.
        training: Settings of its training.
        figures: Its figures on the test part.
        sha256: Hash of the file of weights.
    """

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
    """Write a model folder; the card is written last and has the hash of the weights, so a partial folder never loads.

    Args:
        model: One of graphflip's models.
        folder: Folder to write to; it is made if needed.
        data: Description of the dataset that the model was trained on.
        training: Settings of its training, as JSON.
        figures: Its figures; those that are not finite are left out.

    Returns:
        The card that was written.

    Example:
        >>> import tempfile
        >>> from graphflip import InvariantClassifier, Schema, load_model
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     card = save_model(InvariantClassifier(Schema(max_nodes=4)), Path(folder), figures={"auroc": 0.9})
        ...     type(load_model(folder)).__name__, card.figures
        ('InvariantClassifier', {'auroc': 0.9})
    """
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
    """Load a model from a folder, in eval mode and with frozen weights; no code from the folder is run.

    Args:
        source: Folder of a model, or the name of one that comes with the package, such as "mutagenicity/classifier".
        expect: Class that the model must have, to work with other models; its numbers are then in single precision, in
            which graphs are read.

    Returns:
        The model.

    Raises:
        ConfigError: There is no such folder or name.
        ModelFileError: A file is missing or damaged, or the model is not of the class `expect`.

    Example:
        >>> model = load_model("mutagenicity/classifier")
        >>> type(model).__name__, model.training
        ('RelationalGIN', False)
    """
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
        with shapes_only():  # the numbers come from the file
            model = cls(schema, config)  # pyright: ignore[reportCallIssue]
    except (SchemaError, ConfigError, ValidationError, RuntimeError, OverflowError, MemoryError) as error:
        # The last three: numbers so large that no model has such a shape.
        reason = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise ModelFileError(f"{folder / CARD}: {reason}. Copy or train the model again.") from error
    _load_weights(model, folder / WEIGHTS, card)
    model = model if expect is None else model.float()
    return model.eval().requires_grad_(False)


def find_model(source: str | Path) -> Path:
    """Find the folder of a model, given as a path or as the name of a model that comes with the package."""
    if (Path(source) / CARD).is_file():
        return Path(source)
    if isinstance(source, str) and ".." not in source and (PRETRAINED / source / CARD).is_file():
        return PRETRAINED / source
    names = ", ".join(pretrained_models()) or "(none in this installation)"
    raise ConfigError(f"A model must be a folder with {CARD}, or one of {names}; got {str(source)!r}.")


def pretrained_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(card.parent.relative_to(PRETRAINED).as_posix() for card in PRETRAINED.glob(f"*/*/{CARD}"))


def read_card(folder: Path) -> Card:
    """The card of a model folder, checked."""
    return read_json_model(
        folder / CARD,
        Card,
        FORMAT,
        ModelFileError,
        missing="Give the folder of a trained model, or train one.",
        damaged="Copy or train the model again.",
    )


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
    try:
        model.load_state_dict(tensors, assign=True)
    except ModelFileError as error:  # of a model that looks at its weights
        raise ModelFileError(f"{path}: {error}") from error
