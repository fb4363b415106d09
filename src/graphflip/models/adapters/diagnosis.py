"""Diagnosis of a user's classifier: what it is, what was recognized of it, and what it says of the data, in lines."""

from typing import Any

import torch
from torch import nn

from ...data.dataset import GraphDataset
from ...errors import GraphflipError, WrongOutput
from ..networks.classifier import AbstractClassifier, num_outputs
from ..training.evaluate import measure_classifier, measure_regressor, predict
from .black_box import BlackBox
from .dense import DenseClassifier
from .factory import as_classifier
from .pyg import PyGClassifier
from .relaxed import message_layers

_SHOWN = 400  # graphs of the data that a classifier is shown


_HINT = (
    "hint      if the data are a TU set: aromatic bonds are read as alternating ones. If the model was trained on the "
    "set's own labels, write "
    '{"molecules": false} into a labels.json beside the data.'
)


class Diagnosis(list[str]):
    """Lines of a diagnosis; `usable` is False if the classifier was refused."""

    usable: bool = True

    def __str__(self) -> str:
        return "\n".join(self)


def diagnose(made: Any, dataset: GraphDataset) -> Diagnosis:
    """Try what a factory made as a classifier of a dataset's graphs, and say what was found.

    Args:
        made: A classifier of graphflip, a PyG module, or a function of dense tensors.
        dataset: Graphs that it is meant for.

    Returns:
        Lines to print: what it is, as what it was recognized, how it answers; or why it was refused, and what to do.

    Example:
        >>> from graphflip.data.planted.motif import planted
        >>> dataset = planted(num_graphs=8)
        >>> print(diagnose(lambda A: torch.stack([A.sum((1, 2)), 9 - A.sum((1, 2))], 1), dataset)[0])
        what      a function of dense tensors
    """
    said = Diagnosis([f"what      {_kind(made)}"])
    try:
        classifier = as_classifier(made, dataset.schema, dataset.graphs(slice(0, 64)))
        check_classes(classifier, dataset)
    except GraphflipError as error:
        said.append(f"refused   {type(error).__name__}: {error}")
        if dataset.schema.chemistry is not None and dataset.schema.de and not isinstance(error, WrongOutput):
            said.append(_HINT)
        said.usable = False
        return said
    said += _about_module(made, classifier)
    if isinstance(classifier, PyGClassifier | DenseClassifier):
        said.append(f"reads     {classifier.recognized}")
    if isinstance(classifier, PyGClassifier):
        said += _about_edges(classifier)
    return Diagnosis([*said, *_about_answers(classifier, dataset.subset(range(min(len(dataset), _SHOWN))))])


def check_classes(classifier: AbstractClassifier, dataset: GraphDataset) -> None:
    """Raise WrongOutput if a classifier has not one output for each class of a dataset; values can be anything."""
    outputs, classes = num_outputs(classifier), dataset.classes
    if len(classes) > 1 and outputs != len(classes):
        raise WrongOutput(
            f"A classifier must have an output for each class of the data ({', '.join(classes)}); this one has "
            f"{outputs}. Give data labeled with its classes, or without labels."
        )


def _kind(made: Any) -> str:
    if isinstance(made, AbstractClassifier):
        return f"a graphflip classifier, {type(made).__name__}"
    if not isinstance(made, nn.Module):
        return "a function of dense tensors" if callable(made) else f"no model, but of type {type(made).__name__}"
    weights = sum(weight.numel() for weight in made.parameters())
    layers = ", ".join(dict.fromkeys(type(layer).__name__ for layer in message_layers(made)))
    return f"a torch module, {type(made).__name__}, {weights:,} weights" + (f", layers: {layers}" if layers else "")


def _about_module(made: Any, classifier: AbstractClassifier) -> list[str]:
    if not isinstance(made, nn.Module) or made is classifier:
        return []
    said = []
    kinds = {weight.dtype for weight in made.parameters() if weight.is_floating_point()}
    if kinds & {torch.float16, torch.bfloat16}:
        said.append("precision half; a copy in single precision is explained")
    elif torch.float64 in kinds:
        said.append("precision double; graphs are converted")
    if made.training:
        said.append("mode      it was left in train mode; a copy in eval mode, without dropout, is explained")
    return said


def _about_edges(classifier: PyGClassifier) -> list[str]:
    given = ", ".join(classifier.names)
    said = [f"takes     {given}" + ("; called graph by graph, as it takes no `batch`" if classifier.one_by_one else "")]
    if classifier.needs_edges:
        said.append("edges     it fails on graphs without edges: it is never shown any, and they count as undecided")
    if classifier.removes_edges:
        said.append("gradients for all edges: in it, an edge of weight 0 is as good as none")
    else:
        said.append("gradients for the edges that are there; an edge of weight 0 is not as good as none")
    return said


def _about_answers(classifier: AbstractClassifier, some: GraphDataset) -> list[str]:
    answers = predict(classifier, some)
    if answers.shape[1] == 1:
        low, high = float(answers.min()), float(answers.max())
        said = [f"answers   values from {low:.3g} to {high:.3g} on {len(some)} graphs"]
        figures = {} if some.classes else measure_regressor(classifier, some)
    else:
        classes = answers.argmax(-1).bincount(minlength=answers.shape[1]).tolist()
        names = some.classes if len(some.classes) == len(classes) else [str(k) for k in range(len(classes))]
        parts = ", ".join(f"{name} {count / len(some):.0%}" for name, count in zip(names, classes, strict=True))
        said = [f"answers   {parts} of {len(some)} graphs"]
        if max(classes) == len(some):
            said.append("caution   one class for every graph: there may be nothing to flip to. Check its weights.")
        figures = measure_classifier(classifier, some) if len(some.classes) == answers.shape[1] else {}
    known = [f"{name} {figures[name]:.3f}" for name in ("auroc", "accuracy", "r2") if name in figures]
    said += [f"labels    of the data: {', '.join(known)}"] if known else []
    return [*said, *([f"asked     about {classifier.calls} graphs"] if isinstance(classifier, BlackBox) else [])]
