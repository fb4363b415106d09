"""Fit a kit: train every model that explaining needs on a dataset, within a time budget, and measure the result."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..data.dataset import GraphDataset
from ..data.splits import PARTS
from ..errors import ConfigError, DataError
from ..explain.kit import load_kit
from ..explain.knowledge import KNOWLEDGE, Knowledge
from ..explain.neighbors import save_training_molecules
from ..models.adapters.factory import as_classifier, load_factory
from ..models.networks.classifier import AbstractClassifier
from ..models.networks.pegvae import PEGVAE
from ..models.storage.files import weights_blob, write_atomically
from ..models.storage.lock import folder_lock
from ..models.storage.store import CARD, load_model, read_card, save_model
from ..models.training.checkpoint import CHECKPOINT
from ..models.training.evaluate import measure_vae, predict, spread_of
from ..models.training.recipes import COUNTS
from ..models.training.schedule import TrainingProgress
from ..models.training.train import require_labels, train_model
from ..schema import first_problem
from .graphs import have_contrast, labeled_by
from .levels import write_levels
from .measure import measure_readiness, without_times
from .plan import CLASSIFIER, JUDGES, SURROGATES, VAE, FitPlan, KitPart, make_plan
from .plausibility import useful_limit
from .readiness import READINESS, Readiness
from .teacher import ANSWERS, AskedOnce, num_nearby, with_nearby
from .useful import bring_back, set_judges_aside, set_useless_aside

MANIFEST = "fit.json"
_SAMPLE = 64  # graphs on which a user's classifier is tried
_FEW = 20  # graphs of which a random split may leave a part empty
Watch = Callable[[str, int, int], None]
"""Called with the name of the current step, the seconds of work done, and the total."""


def fit_kit(
    dataset: GraphDataset,
    folder: str | Path,
    classifier: Any = "train",
    *,
    minutes: float | None = None,
    autoencoder: str | Path | None = None,
    resume: bool = False,
    watch: Watch = lambda what, done, total: None,
    announce: Callable[[FitPlan], None] = lambda plan: None,
) -> Readiness:
    """Train all models that explaining graphs like these needs, and write them to a folder for `graphflip.load`.

    A kit has a classifier (unless you bring your own), surrogates, judges, an autoencoder, and the node environments
    that occur in the data. Class labels give classifiers, labels that are numbers give models that predict a value.
    What matters most comes first, and after each model the folder is a kit that `graphflip.load` takes.

    Args:
        dataset: Graphs to learn from; split at random into train, validation and test if it is not split.
        folder: New or empty folder for the kit.
        classifier: `"train"` trains a classifier on the labels. A classifier of your own (a PyG module, a function of
            dense tensors, a graphflip classifier, or `"package.module:factory"`) is not copied into the kit;
            surrogates learn its answers, to the graphs of the data and to others near them, and where the data have no
            labels of its kind, so do the judges. `"none"` trains without a classifier, for one that you give to
            `graphflip.load` later.
        minutes: Processor minutes that all of this may take, above 0. Default: as many as sets of this size need, at
            most 5.
        autoencoder: Folder of an autoencoder of the same graphs, of another kit say, which is copied instead of
            training one.
        resume: Continue a run that was stopped; complete models are kept.
        watch: Called with the name of the current step, the seconds of work done, and the total.
        announce: Called with the plan before the work begins.

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
    if minutes is not None and not minutes > 0:
        raise ConfigError(f"`minutes` must be above 0; got {minutes}. Leave it out for a sensible time.")
    folder = Path(folder)
    dataset = dataset if dataset.split else dataset.split_randomly()
    own = _own_classifier(classifier, dataset)
    labeled = dataset if own is None else labeled_by(own, dataset)
    dataset, labels_given = labeled, labeled is dataset
    _check_enough(dataset, classifier)
    parts = _parts(dataset, classifier)
    if autoencoder is not None:
        parts = [part for part in parts if part != VAE]
    _claim(folder, _manifest(dataset, classifier, own, minutes), resume)
    with folder_lock(folder):
        near = 0 if own is None else num_nearby(dataset, own)
        plan = _plan(folder, parts, dataset, minutes, near)
        announce(plan)
        mined = Knowledge.mine(dataset.part("train"), in_proportion=True)
        mined.save(folder / KNOWLEDGE)
        save_training_molecules(dataset, folder)
        teacher = None if own is None else AskedOnce(own, folder / ANSWERS)
        taught = dataset if teacher is None else with_nearby(dataset, teacher, mined, near)
        if autoencoder is not None:
            _copy_autoencoder(Path(autoencoder), folder, dataset)
        _train_parts(parts, plan, dataset, taught, folder, teacher, watch)
        calls = 0 if teacher is None else teacher.calls
        return _completed(dataset, folder, own, labels_given, calls, plan)


def _check_enough(dataset: GraphDataset, classifier: Any) -> None:
    """Raise DataError if there are too few graphs, or no labels for a classifier to learn."""
    if classifier == "train" and len(dataset.classes) == 1:
        raise DataError(
            f"{dataset.name}: a fit needs labels of two classes or more, or numbers; got only `{dataset.classes[0]}`. "
            "Name the column of labels with --target COLUMN (or write it under the heading `label`), or give a "
            "classifier of your own."
        )
    missing = [name for name in PARTS if not len(dataset.split.get(name, ()))]
    if missing and len(dataset) < _FEW:
        raise DataError(
            f"{dataset.name}: a fit needs graphs to train, to validate and to test on; {len(dataset)} are too few. "
            "Give more: 200 make a beginning, a few thousand are better."
        )
    for name in missing:
        dataset.part(name)


def _completed(
    dataset: GraphDataset, folder: Path, own: AbstractClassifier | None, labels_given: bool, calls: int, plan: FitPlan
) -> Readiness:
    """Add to the models of a kit what is plausible by its autoencoder and how much may be asked, and measure it."""
    limit = useful_limit(load_model(folder / "vae"), dataset)
    if limit is not None:
        Knowledge.mine(dataset.part("train"), limit, in_proportion=True).save(folder / KNOWLEDGE)
    chosen: dict[str, Any] = {"calls": calls}
    if own is not None or (folder / "classifier" / CARD).is_file():
        classifier, real = load_kit(folder, own).classifier, dataset.part("validation")
        chosen["unused"] = set_useless_aside(folder, classifier, real)
        chosen["unused_judges"] = set_judges_aside(folder, [judge.name for judge in JUDGES], real)
        chosen["levels"] = write_levels(folder, load_kit(folder, own), real)
    readiness = measure_readiness(folder, dataset, own, labels_given, plan.measuring, chosen)
    stored = without_times(readiness)  # the file of a run that was resumed is that of one that was not
    write_atomically(folder / READINESS, (stored.model_dump_json(indent=1) + "\n").encode())
    return readiness


def _own_classifier(classifier: Any, dataset: GraphDataset) -> AbstractClassifier | None:
    sample = dataset.graphs(slice(0, _SAMPLE))
    if not isinstance(classifier, str):
        return as_classifier(classifier, dataset.schema, sample)
    if classifier in ("train", "none"):
        return None
    if ":" not in classifier:
        raise ConfigError(f"A classifier must be `train`, `none` or package.module:factory; got {classifier!r}.")
    return load_factory(classifier, dataset.schema, sample)


def _manifest(
    dataset: GraphDataset, classifier: Any, own: AbstractClassifier | None, minutes: float | None
) -> dict[str, Any]:
    """Everything that the models of a kit depend on, to be compared when a run is resumed."""
    asked = classifier if isinstance(classifier, str) else type(classifier).__name__
    if own is not None:
        answers = predict(own, dataset.part("test"))
        said = answers.argmax(-1) if answers.shape[1] > 1 else (1e4 * answers / spread_of(answers)).round()
        asked += f" {hashlib.sha256(weights_blob(own) + said.numpy().tobytes()).hexdigest()[:16]}"
    return {"data": dataset.fingerprint(), "classifier": asked, "minutes": minutes}


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


def _plan(folder: Path, parts: list[KitPart], dataset: GraphDataset, minutes: float | None, near: int) -> FitPlan:
    """The plan that the run was begun with, or a new one, which is written down: a resumed run follows it."""
    path = folder / MANIFEST
    begun = json.loads(path.read_text(encoding="utf-8"))
    if "plan" in begun:
        try:
            plan = FitPlan.model_validate(begun["plan"])
        except ValidationError as error:
            raise ConfigError(f"{path}: not a readable plan ({first_problem(error)}). Start anew.") from error
        if [part.name for part in plan.parts] != [part.name for part in parts]:
            raise ConfigError(f"{path}: the plan must be of the models that are to be trained; it is not. Start anew.")
        return plan
    plan = make_plan(parts, dataset, minutes, near)
    write_atomically(path, (json.dumps(begun | {"plan": plan.model_dump()}, indent=1) + "\n").encode())
    return plan


def _parts(dataset: GraphDataset, classifier: Any) -> list[KitPart]:
    """Models to train, in order; without labels and without a classifier, the autoencoder alone."""
    asked = classifier if isinstance(classifier, str) else ""
    if asked == "none" and not have_contrast(dataset.labels):
        return [VAE]
    require_labels(dataset.part("train"))
    first = [CLASSIFIER] if asked == "train" else []
    judges = [part for part in JUDGES if part.by_gradient or len(dataset.classes) == 2]
    return [*first, *_surrogates(dataset), VAE, *judges]


def _surrogates(dataset: GraphDataset) -> list[KitPart]:
    """Surrogates of use: those that count node environments need nodes or edges that have categories."""
    columns = (*dataset.schema.nodes, *dataset.schema.edges)
    numbers_alone = bool(columns) and all(column.is_continuous for column in columns)
    return [part for part in SURROGATES if not (numbers_alone and part.preset in COUNTS)]


def _train_parts(
    parts: list[KitPart],
    plan: FitPlan,
    dataset: GraphDataset,
    taught: GraphDataset,
    folder: Path,
    teacher: AskedOnce | None,
    watch: Watch,
) -> None:
    """Train what is not complete; surrogates of a teacher learn from the graphs that it was `taught` with."""
    done, total = 0.0, plan.seconds

    def report(name: str, share: float, text: str = "") -> None:
        watch(name + text, round(done + share), round(total))

    bring_back(folder)
    for part, planned in zip(parts, plan.parts, strict=True):
        target, learns = folder / part.name, part.role == "surrogate" and teacher is not None
        data = taught if learns else dataset
        report(part.name, 0.0)
        if not planned.left_out and not _is_complete(target, data.fingerprint()):

            def told(progress: TrainingProgress, part: KitPart = part, seconds: float = planned.seconds) -> None:
                report(part.name, seconds * progress.epoch / progress.epochs, f": loss {progress.last.loss:.4f}")

            changes = planned.changes if part.by_gradient else {}
            taught_by = teacher if learns else None
            train_model(part.role, data, target, part.preset, changes, resume=True, watch=told, teacher=taught_by)
            (target / CHECKPOINT).unlink(missing_ok=True)
            if teacher is not None:
                teacher.save()
        done += planned.seconds
    watch("measuring", round(total - plan.measuring), round(total))


def _copy_autoencoder(source: Path, folder: Path, dataset: GraphDataset) -> None:
    """Copy an autoencoder into a kit, measured on the kit's own test part."""
    vae, card = load_model(source, expect=PEGVAE), read_card(source)
    if vae.schema != dataset.schema:
        raise ConfigError(f"{source}: the autoencoder must be of graphs of the same schema; it is of others.")
    if not (folder / "vae" / CARD).is_file():
        save_model(vae, folder / "vae", card.data, card.training, measure_vae(vae, dataset.part("test")))


def _is_complete(folder: Path, fingerprint: str) -> bool:
    if not (folder / CARD).is_file():
        return False
    trained_on = read_card(folder).data
    return trained_on is not None and trained_on.fingerprint == fingerprint
