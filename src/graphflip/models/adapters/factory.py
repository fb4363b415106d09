"""Classifiers from a user's own code, which is imported by name and may return several kinds of models."""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from ...data.functions import error_text, find_function
from ...errors import ClassifierError, ConfigError
from ...graph import Graph
from ...schema import Schema
from ..networks.classifier import AbstractClassifier
from .arguments import SYNONYMS
from .dense import NAMES, DenseClassifier
from .pyg import PyGClassifier


def load_factory(spec: str, schema: Schema, sample: Graph | None = None) -> AbstractClassifier:
    """Make a classifier with the factory `package.module:factory`. This runs the user's code: call it only when asked.

    The factory takes the schema, or nothing, and returns a classifier of ours (`PyGClassifier`, `BlackBox`, …), a PyG
    module, or a function of dense tensors. Modules are looked for in the current folder first.
    """
    return as_classifier(call_factory(spec, schema), schema, sample)


def call_factory(spec: str, schema: Schema) -> Any:
    """Call the factory `package.module:factory` for whatever it makes."""
    factory = find_function(spec)
    try:
        return factory(schema) if _takes_an_argument(factory) else factory()
    except ClassifierError:
        raise
    except Exception as error:
        raise ConfigError(f"{spec}: a factory must return a classifier; it raised {error_text(error)}.") from error


def as_classifier(model: Any, schema: Schema, sample: Graph | None = None) -> AbstractClassifier:
    """Return a classifier as it is; wrap a PyG module, or a function of dense tensors, as it is recognized.

    `sample` are graphs of the schema on which it is tried; random ones by default.
    """
    if isinstance(model, AbstractClassifier):
        if model.schema != schema:
            raise ConfigError(
                "A classifier must have the schema of the graphs that it is to explain; it has another. "
                "Let the factory take the schema: def factory(schema)."
            )
        return model
    called = model.forward if isinstance(model, nn.Module) else model
    names = set(inspect.signature(called).parameters) if callable(called) else set()
    if names and names <= set(NAMES):
        return DenseClassifier(model, schema, sample=sample)
    if isinstance(model, nn.Module) and (len(names) == 1 or names & set(SYNONYMS["edge_index"])):
        return PyGClassifier(model, schema, sample=sample)
    raise ConfigError(
        "A classifier must be a graphflip classifier, a PyG module (x, edge_index, batch), or a function of dense "
        f"tensors ({', '.join(NAMES)}); got {type(model).__name__}({', '.join(sorted(names))}). "
        "Wrap a model that can only be asked with `BlackBox(predict, schema)`."
    )


def _takes_an_argument(factory: Callable[..., Any]) -> bool:
    parameters = inspect.signature(factory).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return bool(needed) or "schema" in inspect.signature(factory).parameters
