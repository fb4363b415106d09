"""graphflip: the smallest believable change of a graph that changes a classifier's answer.

Names are imported from their modules when first used, so that `import graphflip` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import GraphflipError as GraphflipError
    from .graph import Graph as Graph
    from .schema import Categories as Categories
    from .schema import Continuous as Continuous
    from .schema import Schema as Schema

__version__ = "0.1.0"

_HOME = {
    "Categories": "schema",
    "Continuous": "schema",
    "Graph": "graph",
    "GraphflipError": "errors",
    "Schema": "schema",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphflip' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
