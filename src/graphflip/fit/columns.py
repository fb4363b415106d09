"""Kits for every label column of a table, one after the other, with one autoencoder."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from ..data.dataset import GraphDataset
from ..data.source import load_dataset, locate
from ..data.tables import LabelColumn, label_columns
from ..errors import ConfigError, DataError
from .kit import fit_kit
from .readiness import Readiness

ALL = "all"
"""Word for `target` that asks for a kit of each label column."""

_SHARED = "autoencoder"


def fit_columns(
    spec: str,
    folder: Path,
    classifier: str = "train",
    *,
    skip_bad: bool = False,
    minutes: float | None = None,
    resume: bool = False,
    announce: Callable[[str], None] = lambda text: None,
    **more: Any,
) -> Iterator[tuple[LabelColumn, Path, Readiness | None]]:
    """Fit a kit for each label column of a table, in a folder of its name; all of them share an autoencoder.

    Args:
        spec: Path of a table of SMILES.
        folder: Folder for the kits.
        classifier: As in `fit_kit`.
        skip_bad: Leaves out rows that cannot be read.
        minutes: Processor minutes for each column and for the autoencoder.
        resume: Continue a run that was stopped.
        announce: Called with a line before each fit.
        **more: `watch` of `fit_kit`.

    Yields:
        Each column, the folder of its kit, and its figures; None if the column could not be learned from, with the
        reason announced.

    Raises:
        ConfigError: There is no table, or no column that can serve as labels.
    """
    place = locate(spec)
    columns = label_columns(place.path) if place.kind in (".csv", ".tsv") else []
    if not columns:
        raise ConfigError(f"{spec}: `--target all` needs a table with columns that can serve as labels; there is none.")
    everything = _unlabeled(load_dataset(spec, skip_bad))
    announce(f"An autoencoder of all {len(everything)} molecules, for {len(columns)} columns:")
    shared = folder / _SHARED
    settings: dict[str, Any] = {"minutes": minutes, **more}
    fit_kit(everything, shared, "none", resume=resume and shared.exists(), **settings)
    for column in columns:
        target = folder / _file_name(column.name)
        announce(f"\n{column}")
        try:
            dataset = load_dataset(spec, skip_bad, everything.schema, column.name)
            more_of = {"autoencoder": shared / "vae", "resume": resume and target.exists()}
            yield column, target, fit_kit(dataset, target, classifier, **more_of, **settings)
        except DataError as error:
            announce(f"left out: {error}")
            yield column, target, None


def _unlabeled(dataset: GraphDataset) -> GraphDataset:
    return dataclasses.replace(dataset, labels=torch.zeros(len(dataset)), classes=())


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name) or "column"
