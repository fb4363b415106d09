"""Functions of the user's own code, named as `package.module:function`."""

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ConfigError
from .dataset import GraphDataset


def is_function(spec: str) -> bool:
    """True if a text looks like `package.module:name`."""
    return re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", spec) is not None


def call_function(spec: str) -> Any:
    """Call `package.module:function` for graphs: a GraphDataset, or a list of PyG objects.

    It is the user's code, so call this only when asked to.
    """
    function = find_function(spec)
    try:
        made = function()
        made = list(made) if isinstance(made, Iterable) and not isinstance(made, GraphDataset) else made
    except Exception as error:
        raise ConfigError(f"{spec}: must return graphs; it raised {error_text(error)}.") from error
    if not isinstance(made, GraphDataset | list):
        raise ConfigError(f"{spec}: must return a GraphDataset or PyG graphs; it returned a {type(made).__name__}.")
    return made


_LISTED = 10  # functions of a module that an error names


def find_function(spec: str) -> Callable[..., Any]:
    """Import the function `package.module:name`, looking in the current folder first."""
    module_name, colon, name = spec.partition(":")
    if not (module_name and colon and name):
        raise ConfigError(f"A function must be given as package.module:name; got {spec!r}.")
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"{spec}: the module must be importable from here or from the environment; it raised {error_text(error)}."
        ) from error
    finally:
        sys.path.remove(folder)
    function = getattr(module, name, None)
    if not callable(function):
        has = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        own = [key for key in has if getattr(vars(module)[key], "__module__", None) == module_name] or has
        listed = ", ".join(own[:_LISTED]) + (f" and {len(own) - _LISTED} more" if len(own) > _LISTED else "")
        raise ConfigError(f"{spec}: `{name}` must be a function of {module_name}, which has {listed or 'none'}.")
    return function


def error_text(error: Exception) -> str:
    """The class and the message of an error that the user's code raised."""
    return f"{type(error).__name__}: {error}"
