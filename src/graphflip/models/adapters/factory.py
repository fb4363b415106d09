"""Classifiers from a user's own code, imported by name, and whatever that code returns as a classifier."""

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn

from ...data.dataset import GraphDataset
from ...errors import ClassifierError, ConfigError
from ...schema import Schema
from ..networks.classifier import AbstractClassifier
from .dense import NAMES, DenseClassifier
from .pyg import PyGClassifier


def load_factory(spec: str, schema: Schema) -> AbstractClassifier:
    """The classifier that `package.module:factory` makes; runs the user's code, so call it only when asked to.

    The factory takes the schema, or nothing, and returns a classifier of ours (`PyGClassifier`, `BlackBox`, …), a PyG
    module, or a function of dense tensors. Modules are looked for in the current folder first.
    """
    factory = find_function(spec)
    try:
        made = factory(schema) if _takes_an_argument(factory) else factory()
    except ClassifierError:
        raise
    except Exception as error:
        raise ConfigError(f"{spec}: a factory must return a classifier; it raised {_said(error)}.") from error
    return as_classifier(made, schema)


def as_classifier(model: Any, schema: Schema) -> AbstractClassifier:
    """A classifier as it is; a PyG module, or a function of dense tensors, wrapped with default settings."""
    if isinstance(model, AbstractClassifier):
        if model.schema != schema:
            raise ConfigError(
                "A classifier must have the schema of the graphs that it is to explain; it has another. "
                "Let the factory take the schema: def factory(schema)."
            )
        return model
    called = model.forward if isinstance(model, nn.Module) else model
    names = set(inspect.signature(called).parameters) if callable(called) else set()
    if isinstance(model, nn.Module) and names & {"edge_index", "data"}:
        return PyGClassifier(model, schema)
    if names and names <= set(NAMES):
        return DenseClassifier(model, schema)
    raise ConfigError(
        "A classifier must be a graphflip classifier, a PyG module (x, edge_index, batch), or a function of dense "
        f"tensors ({', '.join(NAMES)}); got {type(model).__name__}({', '.join(sorted(names))}). "
        "Wrap a model that can only be asked with `BlackBox(predict, schema)`."
    )


def is_function(spec: str) -> bool:
    """Whether a text looks like `package.module:name`."""
    return re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", spec) is not None


def call_function(spec: str) -> Any:
    """The graphs that `package.module:function` of the user's own makes: a GraphDataset, or a list of PyG objects.

    It is the user's code, so call this only when asked to.
    """
    function = find_function(spec)
    try:
        made = function()
        made = list(made) if isinstance(made, Iterable) and not isinstance(made, GraphDataset) else made
    except Exception as error:
        raise ConfigError(f"{spec}: must return graphs; it raised {_said(error)}.") from error
    if not isinstance(made, GraphDataset | list):
        raise ConfigError(f"{spec}: must return a GraphDataset or PyG graphs; it returned a {type(made).__name__}.")
    return made


def find_function(spec: str) -> Callable[..., Any]:
    """The function `package.module:name` of the user's own code, looked for in the current folder first."""
    module_name, colon, name = spec.partition(":")
    if not (module_name and colon and name):
        raise ConfigError(f"A function must be given as package.module:name; got {spec!r}.")
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"{spec}: the module must be importable from here or from the environment; it raised {_said(error)}."
        ) from error
    finally:
        sys.path.remove(folder)
    factory = getattr(module, name, None)
    if not callable(factory):
        has = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ConfigError(
            f"{spec}: `{name}` must be a function of {module_name}, which has {', '.join(has) or 'none'}."
        )
    return factory


def _takes_an_argument(factory: Callable[..., Any]) -> bool:
    parameters = inspect.signature(factory).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind not in (one.VAR_KEYWORD,)]
    return bool(needed) or "schema" in inspect.signature(factory).parameters


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
