"""Graphs to fit a kit on: read from whatever a user names, limited in size, labeled by the user's classifier."""

import dataclasses

from jaxtyping import Shaped
from torch import Tensor

from ..data.dataset import GraphDataset
from ..data.files import TABLES
from ..data.functions import call_function
from ..data.pyg.objects import from_pyg
from ..data.source import load_dataset, locate
from ..data.tables import has_usual_label, label_columns
from ..errors import DataError
from ..models.adapters.diagnosis import check_classes
from ..models.networks.classifier import AbstractClassifier, num_outputs
from ..models.training.evaluate import predict


def load_graphs(spec: str, skip_bad: bool = False, function: bool = False, target: str | None = None) -> GraphDataset:
    """Read the dataset that `load_dataset` finds under a name or path.

    `target` is the column of labels of a table. If none is given and no heading is a usual one, the only column that
    can serve is taken; of several the user must choose.

    With `function`, call the user's `package.module:function`, which takes no arguments and returns a GraphDataset or a
    list of PyG Data objects. It is code that runs here, so only say so if the user did.
    """
    if not function:
        return load_dataset(spec, skip_bad, target=target or _only_target(spec))
    made = call_function(spec)
    return made if isinstance(made, GraphDataset) else from_pyg(made, name=spec.partition(":")[2])


def _only_target(spec: str) -> str | None:
    """The only column of a table that can serve as labels, if none has a usual heading."""
    place = locate(spec)
    if place.kind not in TABLES or has_usual_label(place.path):
        return None
    columns = label_columns(place.path)
    if len(columns) > 1:
        raise DataError(
            f"{spec}: one column must be chosen as labels; the table has {len(columns)} that can serve "
            f"({', '.join(column.name for column in columns)}). Give --target COLUMN, or --target all: a kit of each."
        )
    return columns[0].name if columns else None


def with_limit(dataset: GraphDataset, max_nodes: int) -> GraphDataset:
    """Leave out graphs of more than `max_nodes` nodes, and make this the largest graph that models can take."""
    kept = (dataset.num_nodes <= max_nodes).nonzero()[:, 0]
    if not len(kept):
        raise DataError(
            f"{dataset.name}: some graphs must have at most max_nodes={max_nodes} nodes; the smallest has "
            f"{int(dataset.num_nodes.min())}. Use a larger limit."
        )
    limited = dataset.schema.model_copy(update={"max_nodes": max_nodes})
    return dataclasses.replace(dataset.subset(kept), schema=limited)


def labeled_by(own: AbstractClassifier, dataset: GraphDataset) -> GraphDataset:
    """Label a dataset with a classifier's predictions, unless it has labels of the kind that this one predicts."""
    num_classes = num_outputs(own)
    if len(dataset.classes) > 1:
        check_classes(own, dataset)
        return dataset
    if num_classes == 1 and not dataset.classes and have_contrast(dataset.labels):
        return dataset
    answers = predict(own, dataset)
    if num_classes == 1:
        return dataclasses.replace(dataset, labels=answers[:, 0], classes=())
    return dataclasses.replace(dataset, labels=answers.argmax(-1), classes=tuple(map(str, range(num_classes))))


def have_contrast(labels: Shaped[Tensor, " g"]) -> bool:
    """True if not all labels are the same."""
    return bool((labels != labels[0]).any())
