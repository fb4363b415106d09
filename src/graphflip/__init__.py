"""graphflip: the smallest believable change of a graph that changes a classifier's answer.

Names are imported from their modules when first used, so that `import graphflip` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chemistry import Chemistry as Chemistry
    from .data.dataset import GraphDataset as GraphDataset
    from .data.source import load_dataset as load_dataset
    from .errors import GraphflipError as GraphflipError
    from .explain.constraints import Constraints as Constraints
    from .explain.explainer import Counterfactual as Counterfactual
    from .explain.interface import Explainer as Explainer
    from .explain.interface import load as load
    from .fit import fit_kit as fit_kit
    from .ged import graph_edit_distance as graph_edit_distance
    from .graph import Graph as Graph
    from .models.classifier import InvariantClassifier as InvariantClassifier
    from .models.pegvae import PEGVAE as PEGVAE
    from .models.store import load_model as load_model
    from .report.notebook import to_html as to_html
    from .schema import Categories as Categories
    from .schema import Continuous as Continuous
    from .schema import Schema as Schema

__version__ = "0.1.0"

_HOME = {
    "Categories": "schema",
    "Chemistry": "chemistry",
    "Constraints": "explain.constraints",
    "Continuous": "schema",
    "Counterfactual": "explain.explainer",
    "Explainer": "explain.interface",
    "Graph": "graph",
    "GraphDataset": "data.dataset",
    "GraphflipError": "errors",
    "InvariantClassifier": "models.classifier",
    "PEGVAE": "models.pegvae",
    "Schema": "schema",
    "fit_kit": "fit",
    "graph_edit_distance": "ged",
    "load": "explain.interface",
    "load_dataset": "data.source",
    "load_model": "models.store",
    "to_html": "report.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphflip' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
