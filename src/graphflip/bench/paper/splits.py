"""The paper's models on several random splits: a split is a small sample, and figures of one vary by chance."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ...data.dataset import GraphDataset
from ...data.tu.reading import load_paper_dataset
from ...errors import ConfigError
from ...models.networks.classifier import AbstractClassifier
from ...models.networks.pegvae import PEGVAE
from ...models.storage.files import write_atomically
from ...models.storage.store import find_model, load_model, read_card
from ...models.training.evaluate import auroc, measure_classifier, measure_vae
from ...models.training.recipes import recipe
from ...models.training.schedule import TrainConfig, TrainingProgress
from ...models.training.train import train_model
from ..progress import Watch
from ..summary import Figures, number, versions
from .elbo import measure_published_elbo
from .runs import METHODS, Method, Run
from .subject import Models, Subject
from .tables import split_table

_WALK = next(method for method in METHODS if method.name == "cgcf")
_OF_CLASSIFIERS = ("auroc", "auroc_all", "accuracy")
STAGES = ("classifier", "vae", "walk")
"""Stages of a split, in the order in which they are done: on all splits of all sets, one stage after the other."""


@dataclass(frozen=True)
class Plan:
    """Settings of the splits.

    Args:
        splits: Number of splits; their seeds are 0, 1, ….
        walks: Number of splits on which the walk is run, too.
        epochs: Largest number of epochs of an autoencoder; None trains as long as the packaged one was trained.
        limit: Number of test graphs to walk from; None means all.
        ged_seconds: Time limit for the edit distance of a pair.
        walk: The walk.
    """

    splits: int = 5
    walks: int = 2
    epochs: int | None = None
    limit: int | None = None
    ged_seconds: float = 0.1
    walk: Method = _WALK

    def __post_init__(self) -> None:
        if self.splits < 2 or not 0 <= self.walks <= self.splits:
            raise ConfigError(
                "There must be 2 or more splits, and walks on none, some or all of them; "
                f"got {self.splits} splits and {self.walks} walks."
            )


def run_splits(
    datasets: Sequence[str],
    out: Path,
    plan: Plan | None = None,
    watch: Watch = lambda what, done, total: None,
    load_data: Callable[[str, int], GraphDataset] = load_paper_dataset,
) -> Path:
    """Train the paper's models on several splits, measure them on the test parts, and write a table of means.

    Models are trained as the packaged ones were; the packaged ones themselves serve for the first split. The table is
    written after every step, from all that is done; the rows of other sets that it has already stay, each with the
    command that it is from. A run that was stopped goes on when it is started again.

    Args:
        datasets: Names of datasets.
        out: Folder of the experiment; the table, `splits.json` and a folder `splits` are written there.
        plan: Settings; by default five splits, two of them with the walk.
        watch: Called with the name of the current step, the number of epochs or steps done, and the total.
        load_data: Function that loads a dataset with the split of a seed.

    Returns:
        The table as Markdown: a file in `out`.

    Raises:
        ConfigError: The numbers of splits and walks do not fit.
    """
    plan = plan or Plan()
    subjects = {name: [load_data(name, seed) for seed in range(plan.splits)] for name in datasets}
    done: dict[str, dict[str, list[Figures]]] = {name: {stage: [] for stage in STAGES} for name in datasets}
    others = {name: row for name, row in _stored(out).items() if name not in done}
    for stage in STAGES:
        for name, parts in subjects.items():
            for seed, dataset in enumerate(parts[: plan.walks] if stage == "walk" else parts):
                split = Split(dataset, seed, out / "splits" / name / f"split{seed}", plan, watch)
                beside = {"auroc_nodes": auroc_by_nodes(dataset)} if stage == "classifier" else {}
                done[name][stage].append(split.figures(stage) | beside)
                _write(done, plan, out, others)
    return out / "splits.md"


@dataclass(frozen=True)
class Split:
    """One split of a dataset, and the folder for its models and figures."""

    dataset: GraphDataset
    seed: int
    folder: Path
    plan: Plan
    watch: Watch

    def figures(self, stage: str) -> Figures:
        """Figures of a stage: read, if the folder has them with the same data and settings, or else measured."""
        about, path = self._about(stage), self.folder / f"{stage}.json"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["about"] == about:
                return stored["figures"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        figures = {"classifier": self._classifier, "vae": self._vae, "walk": self._walk}[stage]()
        content = json.dumps({"about": about, "figures": figures}, indent=1, allow_nan=False) + "\n"
        write_atomically(path, content.encode())
        return figures

    def _about(self, stage: str) -> dict[str, Any]:
        """Data and settings on which the figures of a stage depend."""
        about: dict[str, Any] = {"data": self.dataset.fingerprint()[:16], "split": self.seed}
        if stage == "classifier":
            about["measures"] = list(_OF_CLASSIFIERS)
        if stage != "walk":
            return about | {"training": self._training(stage).model_dump()}
        trained = {role: self._training(role).model_dump() for role in ("classifier", "vae")}
        return about | trained | {"settings": self.plan.walk.settings, "limit": self.plan.limit}

    def _training(self, role: str) -> TrainConfig:
        """Settings of training: those of the packaged model by its card or, without one, those of the recipe."""
        training, packaged = recipe(role, "paper", self.dataset).training, self._packaged(role)
        card = read_card(packaged).training if packaged else {}
        training = training.model_copy(update={name: card[name] for name in TrainConfig.model_fields if name in card})
        if role == "classifier" or self.plan.epochs is None:
            return training
        return training.model_copy(update={"epochs": min(training.epochs, self.plan.epochs)})

    def _packaged(self, role: str) -> Path | None:
        """Folder of the packaged model; None if the package has none for this set."""
        try:
            return find_model(f"{self.dataset.name}/{role}-paper")
        except ConfigError:
            return None

    def _model(self, role: str, kind: Any) -> Any:
        """The model of this split: the packaged one, if it was trained on the split in the same way, or a new one."""
        packaged, training, folder = self._packaged(role), self._training(role), self.folder / role
        card = read_card(packaged) if packaged else None
        same = card is not None and card.data is not None and card.data.fingerprint == self.dataset.fingerprint()
        if packaged and card and same and card.training["epochs"] == training.epochs:
            return load_model(packaged, expect=kind)
        what = f"{self.dataset.name}, split {self.seed}: {role}"

        def watch(progress: TrainingProgress) -> None:
            self.watch(what, progress.epoch, progress.epochs)

        train_model(role, self.dataset, folder, "paper", training.model_dump(), resume=True, watch=watch)
        return load_model(folder, expect=kind)

    def _classifier(self) -> Figures:
        classifier = self._model("classifier", AbstractClassifier)
        figures = measure_classifier(classifier, self.dataset.part("test"))
        figures["auroc_all"] = measure_classifier(classifier, self.dataset)["auroc"]
        return {name: number(figures[name]) for name in _OF_CLASSIFIERS}

    def _vae(self) -> Figures:
        vae, test = self._model("vae", PEGVAE), self.dataset.part("test")
        figures = measure_vae(vae, test, refine=False)
        ours = {name: number(figures[name]) for name in ("neg_elbo", "kl")}
        return {"epochs": self._training("vae").epochs, **ours, **measure_published_elbo(vae, test)}

    def _walk(self) -> Figures:
        vae, classifier = self._model("vae", PEGVAE), self._model("classifier", AbstractClassifier)
        # Judges have no part in these figures.
        subject = Subject(self.dataset, Models(vae, classifier, classifier, classifier), self.plan.limit)
        what, steps = f"{self.dataset.name}, split {self.seed}: walk", 0

        def tick(count: int) -> None:
            nonlocal steps
            steps += count
            self.watch(what, steps, 2 * len(subject.test))

        measures = Run(self.plan.walk, 0, self.folder).complete(subject, self.plan.ged_seconds, tick)
        return {name: number(float(measures[name].nanmean())) for name in ("flip_ratio", "sic", "ged")}


def auroc_by_nodes(dataset: GraphDataset) -> float | None:
    """AUROC of the number of nodes alone on the test part, as the class that is larger on average in the train part."""
    train, test = dataset.part("train"), dataset.part("test")
    sizes = train.node_ptr.diff().double()
    larger = bool(sizes[train.labels == 1].mean() > sizes[train.labels == 0].mean())
    return number(auroc(test.node_ptr.diff().double() * (1 if larger else -1), test.labels))


def means(parts: Sequence[Figures]) -> Figures:
    """Mean of each figure over splits and, as `…_spread`, its standard error; that of one split is not known.

    A figure that some split does not have, because it is no number there, has no mean.
    """
    figures: Figures = {}
    for name in parts[0] if parts else ():
        values = torch.tensor([math.nan if part[name] is None else part[name] for part in parts], dtype=torch.float64)
        figures[name] = number(float(values.mean()))
        if len(parts) > 1:
            figures[f"{name}_spread"] = number(float(values.std()) / math.sqrt(len(parts)))
    return figures


def _stored(out: Path) -> dict[str, Any]:
    """Rows of the table that earlier runs have written, by set; none if there is no readable file of them."""
    try:
        content = json.loads((out / "splits.json").read_text(encoding="utf-8"))
        return {name: row for name, row in content.items() if name != "provenance" and row["command"] and row["splits"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(done: dict[str, dict[str, list[Figures]]], plan: Plan, out: Path, others: dict[str, Any]) -> None:
    """Write the table of what is done, and of the sets that earlier runs have measured."""
    command = f"graphflip bench paper --splits {plan.splits} --walks {plan.walks}"
    command += f" --epochs {plan.epochs}" if plan.epochs else ""
    command += f" --limit {plan.limit}" if plan.limit else ""
    new = {
        name: {"command": f"{command} --data {name}", **_row(stages), "splits": stages} for name, stages in done.items()
    }
    results = dict(sorted((others | new).items()))
    shown = {name: {key: value for key, value in row.items() if key != "splits"} for name, row in results.items()}
    table = split_table(shown)
    about = {"ged_seconds": plan.ged_seconds, "versions": versions()}
    source = ", ".join(f"`{row['command']}`" for row in results.values())
    source += "; " + ", ".join(f"{name} {text}" for name, text in versions().items()) + "."
    for suffix, text in (("csv", table.to_csv()), ("md", table.to_markdown(source)), ("tex", table.to_latex())):
        write_atomically(out / f"{table.name}.{suffix}", text.encode())
    content = {"provenance": about, **results}
    write_atomically(out / "splits.json", (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def _row(stages: dict[str, list[Figures]]) -> Figures:
    """Means of all stages, and the number of splits that each of them has been done on."""
    figures: Figures = {f"n_{stage}": len(parts) for stage, parts in stages.items()}
    for parts in stages.values():
        figures |= means(parts)
    return figures
