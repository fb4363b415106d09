"""From a dataset to a kit: every model that explaining needs, what the data know, and a report on how ready it is."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jaxtyping import Shaped
from torch import Tensor

from ..data.dataset import PARTS, GraphDataset
from ..data.pyg.objects import from_pyg
from ..data.source import load_dataset
from ..errors import ConfigError, DataError, WrongOutput
from ..explain.assess import plausible_limit
from ..explain.knowledge import KNOWLEDGE, Knowledge
from ..models.adapters.factory import as_classifier, call_function, is_function, load_factory
from ..models.networks.classifier import AbstractClassifier, num_outputs
from ..models.storage.files import weights_blob, write_atomically
from ..models.storage.store import CARD, load_model, read_card
from ..models.training.checkpoint import CHECKPOINT
from ..models.training.evaluate import predict, spread_of
from ..models.training.recipes import recipe
from ..models.training.schedule import TrainConfig, TrainingProgress
from ..models.training.train import require_labels, train_model
from .readiness import READINESS, Readiness, measure_readiness

MANIFEST = "fit.json"
Watch = Callable[[str, int, int], None]
"""Is told what is done at the moment, how much is done, and of how much."""


@dataclass(frozen=True)
class KitPart:
    """A model of a kit: its folder, its recipe, and about what an epoch costs beside those of the others."""

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
    """Train what explaining graphs like these needs, and write it to a folder that `graphflip.load` reads.

    `classifier` is "train" (one is trained on the labels), "none", `"package.module:factory"`, or a classifier of your
    own: one of ours, a PyG module, a function of dense tensors. Surrogates then learn its answers; where the data have
    no labels of its kind, its answers are their labels. Labels that are numbers make models that predict a value. With
    `resume` a run that was ended goes on, and models that are complete are kept. How long each model is trained follows
    from the number of graphs; `epochs_scale` multiplies it.
    """
    if not epochs_scale > 0:
        raise ConfigError(f"`epochs_scale` must be above 0; got {epochs_scale}. 1 is usual, 2 trains twice as long.")
    folder = Path(folder)
    dataset = dataset if dataset.split else dataset.split_randomly()
    own = _own_classifier(classifier, dataset)
    labeled = dataset if own is None else _labeled(dataset, own)
    dataset, labels_given = labeled, labeled is dataset
    for name in PARTS:
        dataset.part(name)
    parts = _parts(dataset, classifier)
    _claim(folder, _manifest(dataset, classifier, own, epochs_scale), resume)
    _train_parts(parts, dataset, folder, own, epochs_scale, watch)
    limit = plausible_limit(load_model(folder / "vae"), dataset.part("validation"))
    Knowledge.mine(dataset.part("train"), limit).save(folder / KNOWLEDGE)
    readiness = measure_readiness(folder, dataset, own, labels_given)
    write_atomically(folder / READINESS, (readiness.model_dump_json(indent=1) + "\n").encode())
    return readiness


def load_graphs(spec: str, skip_bad: bool = False) -> GraphDataset:
    """The dataset that `load_dataset` finds, or that `package.module:function` of the user's own makes.

    The function takes nothing and returns a GraphDataset, or a list of PyG Data objects. It is the user's code, so call
    this only when asked to.
    """
    if not is_function(spec):
        return load_dataset(spec, skip_bad)
    made = call_function(spec)
    return made if isinstance(made, GraphDataset) else from_pyg(made, name=spec.partition(":")[2])


def with_limit(dataset: GraphDataset, max_nodes: int) -> GraphDataset:
    """The graphs of at most so many nodes, with that as the limit of what a model trained on them can take."""
    kept = (dataset.num_nodes <= max_nodes).nonzero()[:, 0]
    if not len(kept):
        raise DataError(
            f"{dataset.name}: some graphs must have at most max_nodes={max_nodes} nodes; the smallest has "
            f"{int(dataset.num_nodes.min())}. Use a larger limit."
        )
    limited = dataset.schema.model_copy(update={"max_nodes": max_nodes})
    return dataclasses.replace(dataset.subset(kept), schema=limited)


def schedule(usual: TrainConfig, num_graphs: int, max_nodes: int, epochs_scale: float = 1.0) -> dict[str, int]:
    """Epochs and batch size for so many graphs to train on, where a recipe has the `usual` ones.

    Time grows with the square root of the number of graphs: few graphs are passed more often than the recipe says,
    many less often. Batches are smaller where graphs are few, so that an epoch has steps, or large, to save memory.
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


def _labeled(dataset: GraphDataset, own: AbstractClassifier) -> GraphDataset:
    """The dataset, labeled by the classifier where it has no labels of its kind."""
    num_classes = num_outputs(own)
    if len(dataset.classes) > 1:
        if num_classes != len(dataset.classes):
            raise WrongOutput(
                f"A classifier must have an output for each class of the data ({', '.join(dataset.classes)}); "
                f"this one has {num_classes}. Give data labeled with its classes, or without labels."
            )
        return dataset
    if num_classes == 1 and not dataset.classes and _differ(dataset.labels):
        return dataset
    answers = predict(own, dataset)
    if num_classes == 1:
        return dataclasses.replace(dataset, labels=answers[:, 0], classes=())
    return dataclasses.replace(dataset, labels=answers.argmax(-1), classes=tuple(map(str, range(num_classes))))


def _differ(labels: Shaped[Tensor, " g"]) -> bool:
    return bool((labels != labels[0]).any())


def _manifest(dataset: GraphDataset, classifier: Any, own: AbstractClassifier | None, scale: float) -> dict[str, Any]:
    """What the models of a kit depend on."""
    asked = classifier if isinstance(classifier, str) else type(classifier).__name__
    if own is not None:
        answers = predict(own, dataset.part("test"))
        said = answers.argmax(-1) if answers.shape[1] > 1 else (1e4 * answers / spread_of(answers)).round()
        asked += f" {hashlib.sha256(weights_blob(own) + said.numpy().tobytes()).hexdigest()[:16]}"
    return {"data": dataset.fingerprint(), "classifier": asked, "epochs_scale": scale}


def _claim(folder: Path, manifest: dict[str, Any], resume: bool) -> None:
    """Write down what the folder is for, or check that it is for this."""
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
    """What is to be trained: without labels and without a classifier, the autoencoder alone."""
    asked = classifier if isinstance(classifier, str) else ""
    if asked == "none" and not _differ(dataset.labels):
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
