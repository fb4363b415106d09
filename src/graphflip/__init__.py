"""graphflip: the smallest believable change of a graph that changes a classifier's answer.

Names are imported from their modules when first used, so that `import graphflip` costs nothing.
"""

from typing import TYPE_CHECKING

from .explain.display import register
from .lazy import attach
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .chemistry import Chemistry as Chemistry
    from .data.dataset import GraphDataset as GraphDataset
    from .data.source import load_dataset as load_dataset
    from .errors import GraphflipError as GraphflipError
    from .explain.constraints import Constraints as Constraints
    from .explain.counterfactual import Counterfactual as Counterfactual
    from .explain.explainer import Explainer as Explainer
    from .explain.explainer import load as load
    from .explain.query import Query as Query
    from .fit.kit import fit_kit as fit_kit
    from .ged.distance import graph_edit_distance as graph_edit_distance
    from .graph import Graph as Graph
    from .models.networks.classifier import InvariantClassifier as InvariantClassifier
    from .models.networks.pegvae import PEGVAE as PEGVAE
    from .models.storage.store import load_model as load_model
    from .report.notebook import to_html as to_html
    from .schema import Categories as Categories
    from .schema import Continuous as Continuous
    from .schema import Schema as Schema

# Words, pictures and summaries stand above explanations, which find them by these names.
register("text", "graphflip.describe.text", "as_text")
register("html", "graphflip.report.notebook", "to_html")
register("summary", "graphflip.summary.summarizer", "summarize_with")

__getattr__, __dir__ = attach(__name__, __file__)
