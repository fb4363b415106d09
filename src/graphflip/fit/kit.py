"""Fit a kit: train every model that explaining needs on a dataset, mine its environments, and measure the result."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..data.dataset import GraphDataset
from ..data.splits import PARTS
from ..errors import ConfigError
from ..explain.assess import plausible_limit
from ..explain.knowledge import KNOWLEDGE, Knowledge
from ..explain.neighbors import save_training_molecules
from ..models.adapters.factory import as_classifier, load_factory
from ..models.networks.classifier import AbstractClassifier
from ..models.storage.files import weights_blob, write_atomically
from ..models.storage.lock import folder_lock
from ..models.storage.store import CARD, load_model, read_card
from ..models.training.checkpoint import CHECKPOINT
from ..models.training.evaluate import predict, spread_of
from ..models.training.recipes import recipe
from ..models.training.schedule import TrainConfig, TrainingProgress
from ..models.training.train import require_labels, train_model
from .graphs import have_contrast, labeled_by
from .measure import measure_readiness, without_times
from .readiness import READINESS, Readiness

MANIFEST = "fit.json"
Watch = Callable[[str, int, int], None]
"""Called with the name of the current step, the amount of work done, and the total."""


@dataclass(frozen=True)
class KitPart:
    """A model of a kit: its folder, the role and preset of its recipe, and the relative cost of an epoch."""

    name: str
    role: str
    preset: str
    effort: int


_CLASSIFIER = KitPart("classifier", "classifier", "default", 2)
_TREES = KitPart("trees", "judge", "trees", 10)
_VAE = KitPart("vae", "vae", "modern", 5)
_OTHERS = (
    KitPart("surrogate-gin", "surrogate", "gin", 2),
    KitPart("surrogate-gin-deep", "surrogate", "gin-deep", 2),
    KitPart("surrogate-average", "surrogate", "average", 2),
    KitPart("surrogate-counts", "surrogate", "counts", 1),
    KitPart("surrogate-linear", "surrogate", "linear", 1),
    KitPart("judge", "judge", "gnn", 2),
)

_USUAL_GRAPHS = 3000  # the recipes were made for sets of about this size, with graphs of about this many nodes
_USUAL_NODES = 50
_LEAST_BATCH = 8


def fit_kit(
    dataset: GraphDataset,
    folder: str | Path,
    classifier: Any = "train",
    *,
    epochs_scale: float = 1.0,
    resume: bool = False,
    watch: Watch = lambda what, done, total: None,
) -> Readiness:
    """Train all models that explaining graphs like these needs, and write them to a folder for `graphflip.load`.

    A kit has a classifier (unless you bring your own), surrogates, judges, an autoencoder, and the node environments
    that occur in the data. Class labels give classifiers, labels that are numbers give models that predict a value.

    Args:
        dataset: Graphs to learn from; split at random into train, validation and test if it is not split.
        folder: New or empty folder for the kit.
        classifier: `"train"` trains a classifier on the labels. A classifier of your own (a PyG module, a function of
            dense tensors, a graphflip classifier, or `"package.module:factory"`) is not copied into the kit;
            surrogates learn its answers, and where the data have no labels of its kind, so do the judges. `"none"`
            trains without a classifier, for one that you give to `graphflip.load` later.
        epochs_scale: Factor, above 0, on the number of epochs, which otherwise follows from the number of graphs.
        resume: Continue a run that was stopped; complete models are kept.
        watch: Called with the name of the current step, the amount of work done, and the total.

    Returns:
        Figures of the kit on the test part, and what they mean for explanations; also in `readiness.json`.

    Raises:
        ConfigError: The folder is not empty, was begun with other data or settings, or the classifier is unusable.
        DataError: There are too few graphs, or all labels are the same.
        WrongOutput: The classifier does not have one output for each class of the data.

    Example:
        >>> import graphflip as gf
        >>> dataset = gf.load_dataset("molecules.csv")  # doctest: +SKIP
        >>> print(gf.fit_kit(dataset, "my-kit"))  # doctest: +SKIP
        >>> gf.load("my-kit").explain("c1ccccc1N")  # doctest: +SKIP
    """
    if not epochs_scale > 0:
        raise ConfigError(f"`epochs_scale` must be above 0; got {epochs_scale}. 1 is usual, 2 trains twice as long.")
    folder = Path(folder)
    dataset = dataset if dataset.split else dataset.split_randomly()
    own = _own_classifier(classifier, dataset)
    labeled = dataset if own is None else labeled_by(own, dataset)
    dataset, labels_given = labeled, labeled is dataset
    for name in PARTS:
        dataset.part(name)
    parts = _parts(dataset, classifier)
    _claim(folder, _manifest(dataset, classifier, own, epochs_scale), resume)
    with folder_lock(folder):
        _train_parts(parts, dataset, folder, own, epochs_scale, watch)
        return _completed(dataset, folder, own, labels_given)


def _completed(dataset: GraphDataset, folder: Path, own: AbstractClassifier | None, labels_given: bool) -> Readiness:
    """Add to the models of a kit what is mined from the data, and measure the whole."""
    limit = plausible_limit(load_model(folder / "vae"), dataset.part("validation"))
    Knowledge.mine(dataset.part("train"), limit).save(folder / KNOWLEDGE)
    save_training_molecules(dataset, folder)
    readiness = measure_readiness(folder, dataset, own, labels_given)
    stored = without_times(readiness)  # the file of a run that was resumed is that of one that was not
    write_atomically(folder / READINESS, (stored.model_dump_json(indent=1) + "\n").encode())
    return readiness


def schedule(usual: TrainConfig, num_graphs: int, max_nodes: int, epochs_scale: float = 1.0) -> dict[str, int]:
    """Adapt the epochs and batch size of a recipe to the number of training graphs and the size of the largest.

    Epochs shrink with the square root of the number of graphs, so that training time grows with its square root.
    Batches are smaller if there are few graphs, so that an epoch has enough steps, and if graphs are large, to save
    memory.
    """
    often = min(max(math.sqrt(_USUAL_GRAPHS / num_graphs), 0.25), 4.0)
    largest = usual.batch_size * (_USUAL_NODES / max(max_nodes, _USUAL_NODES)) ** 2
    return {
        "epochs": max(round(usual.epochs * often * epochs_scale), 1),
        "batch_size": max(round(min(largest, num_graphs / 16)), _LEAST_BATCH),
    }


def _own_classifier(classifier: Any, dataset: GraphDataset) -> AbstractClassifier | None:
    if not isinstance(classifier, str):
        return as_classifier(classifier, dataset.schema)
    if classifier in ("train", "none"):
        return None
    if ":" not in classifier:
        raise ConfigError(f"A classifier must be `train`, `none` or package.module:factory; got {classifier!r}.")
    return load_factory(classifier, dataset.schema)


def _manifest(dataset: GraphDataset, classifier: Any, own: AbstractClassifier | None, scale: float) -> dict[str, Any]:
    """Everything that the models of a kit depend on, to be compared when a run is resumed."""
    asked = classifier if isinstance(classifier, str) else type(classifier).__name__
    if own is not None:
        answers = predict(own, dataset.part("test"))
        said = answers.argmax(-1) if answers.shape[1] > 1 else (1e4 * answers / spread_of(answers)).round()
        asked += f" {hashlib.sha256(weights_blob(own) + said.numpy().tobytes()).hexdigest()[:16]}"
    return {"data": dataset.fingerprint(), "classifier": asked, "epochs_scale": scale}


def _claim(folder: Path, manifest: dict[str, Any], resume: bool) -> None:
    """Write the manifest into a new folder, or check that the folder was begun with the same one."""
    path = folder / MANIFEST
    if not path.is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(f"{folder}: a kit must be written to a new or empty folder; this one is neither.")
        write_atomically(path, (json.dumps(manifest, indent=1) + "\n").encode())
        return
    if not resume:
        raise ConfigError(f"{folder}: a kit was begun here. Go on with --resume (`resume=True`), or give a new folder.")
    try:
        begun = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path}: not a readable file ({error}). Start anew in another folder.") from error
    different = [f"{key}: {begun.get(key)} -> {value}" for key, value in manifest.items() if begun.get(key) != value]
    if different:
        raise ConfigError(
            f"{folder}: to go on, data and settings must be those that the kit was begun with; these differ: "
            f"{', '.join(different)}. Give the old ones, or start anew in another folder."
        )


def _parts(dataset: GraphDataset, classifier: Any) -> list[KitPart]:
    """Models to train; without labels and without a classifier, the autoencoder alone."""
    asked = classifier if isinstance(classifier, str) else ""
    if asked == "none" and not have_contrast(dataset.labels):
        return [_VAE]
    require_labels(dataset.part("train"))
    first = [_CLASSIFIER] if asked == "train" else []
    return [*first, *_OTHERS, _VAE, *([_TREES] if len(dataset.classes) == 2 else [])]


def _train_parts(
    parts: list[KitPart],
    dataset: GraphDataset,
    folder: Path,
    own: AbstractClassifier | None,
    epochs_scale: float,
    watch: Watch,
) -> None:
    plans = {part: _changes(part, dataset, epochs_scale) for part in parts}
    cost = {part: part.effort * changes.get("epochs", 1) for part, changes in plans.items()}
    done, total, fingerprint = 0, sum(cost.values()), dataset.fingerprint()

    def report(part: KitPart, progress: TrainingProgress) -> None:
        watch(f"{part.name}: loss {progress.last.loss:.4f}", done + part.effort * progress.epoch, total)

    for part, changes in plans.items():
        target = folder / part.name
        watch(part.name, done, total)
        if not _is_complete(target, fingerprint):
            teacher = own if part.role == "surrogate" else None
            told = partial(report, part)
            train_model(part.role, dataset, target, part.preset, changes, resume=True, watch=told, teacher=teacher)
            (target / CHECKPOINT).unlink(missing_ok=True)
        done += cost[part]
    watch("measuring", total, total)


def _changes(part: KitPart, dataset: GraphDataset, epochs_scale: float) -> dict[str, int]:
    if part == _TREES:
        return {}
    usual = recipe(part.role, part.preset, dataset).training
    return schedule(usual, len(dataset.part("train")), dataset.schema.max_nodes, epochs_scale)


def _is_complete(folder: Path, fingerprint: str) -> bool:
    if not (folder / CARD).is_file():
        return False
    trained_on = read_card(folder).data
    return trained_on is not None and trained_on.fingerprint == fingerprint
