"""Remarks on data before a fit: what labels were recognized as, and what a user may want to change."""

import math

from ..data.dataset import GraphDataset
from ..data.files import TABLES
from ..data.source import locate
from ..data.tables import label_columns
from ..data.tu.reading import write_labels
from ..errors import ConfigError

_LARGE, _MOST_GRAPHS, _ROUND = 500, 0.95, 50  # nodes of graphs that are large; what most graphs have is rounded up
_RARE = 0.2  # a class is rare that has less than this of an equal share of the graphs


def remarks(dataset: GraphDataset, spec: str, target: str | None = None) -> list[str]:
    """Say what the labels of a dataset were taken for, which classes are rare, and which names are missing.

    Args:
        dataset: The dataset.
        spec: Text that names it, for advice.
        target: Column of a table that was chosen for the labels.

    Returns:
        One sentence for each remark.
    """
    return [_kind(dataset), *_blanks(spec, target), *_imbalance(dataset), *_sizes(dataset), *_names(dataset, spec)]


def written_labels(spec: str) -> str:
    """Write a `labels.json` for a TU set, and say where it is or why none was written."""
    place = locate(spec)
    if place.kind != "tu":
        raise ConfigError(f"Names of labels can be given to a TU folder or zip; {spec} is none. Leave the option out.")
    path = write_labels(place.path)
    if path is None:
        return f"{spec}: all labels have names, or there is a labels.json already. Nothing was written."
    return f"{path}: fill in the names of the labels (elements and bonds make molecules of the graphs), then fit again."


def _kind(dataset: GraphDataset) -> str:
    if dataset.classes:
        counts = dataset.labels.bincount(minlength=len(dataset.classes)).tolist()
        parts = ", ".join(f"{name} {count}" for name, count in zip(dataset.classes, counts, strict=True))
        kinds = "1 class" if len(dataset.classes) == 1 else f"{len(dataset.classes)} classes"
        return f"{len(dataset)} {'graph' if len(dataset) == 1 else 'graphs'} of {kinds}: {parts}."
    low, high = float(dataset.labels.min()), float(dataset.labels.max())
    return f"{len(dataset)} graphs with labels that are numbers, {low:.4g} to {high:.4g}: models predict a value."


def _blanks(spec: str, target: str | None) -> list[str]:
    """Tell how many rows have no label."""
    place = locate(spec)
    columns = label_columns(place.path) if target is not None and place.kind in TABLES else []
    blank = sum(column.blank for column in columns if column.name == target)
    return [f"{blank} rows without a value of `{target}` are left out."] if blank else []


def _imbalance(dataset: GraphDataset) -> list[str]:
    if len(dataset.classes) < 2:
        return []
    counts = dataset.labels.bincount(minlength=len(dataset.classes)).double() / len(dataset)
    shares = zip(dataset.classes, counts.tolist(), strict=True)
    rare = [f"{name} ({share:.1%})" for name, share in shares if share * len(dataset.classes) < _RARE]
    return (
        [f"Rare: {', '.join(rare)}. Training weights all classes equally; look at AUROC, not at accuracy."]
        if rare
        else []
    )


def _sizes(dataset: GraphDataset) -> list[str]:
    """Advise to leave a few very large graphs out."""
    sizes = dataset.num_nodes.sort().values
    largest, usual = int(sizes[-1]), _ROUND * math.ceil(int(sizes[int(_MOST_GRAPHS * (len(sizes) - 1))]) / _ROUND)
    if largest <= _LARGE or usual > largest / 2:
        return []
    left_out = int((sizes > usual).sum())
    return [
        f"The largest graph has {largest} nodes, and memory grows with the square of that. {len(sizes) - left_out} of "
        f"{len(sizes)} graphs have {usual} at most: --max-nodes {usual} leaves out the other {left_out}."
    ]


def _names(dataset: GraphDataset, spec: str) -> list[str]:
    if locate(spec).kind != "tu" or dataset.schema.chemistry is not None:
        return []
    groups = [column for column in dataset.schema.nodes if not column.is_continuous]
    if not groups or not all(value.lstrip("-").isdigit() for column in groups for value in column.values):
        return []
    return [
        "Node labels have no names. If you know them, `graphflip fit DATA --write-labels` writes a labels.json to fill "
        "in; elements and bonds turn on chemistry."
    ]
