"""How counterfactuals are found."""

from .baselines import NearestNeighbor as NearestNeighbor
from .baselines import NeighborMean as NeighborMean
from .baselines import NoChange as NoChange
from .baselines import RandomExample as RandomExample
from .baselines import ReconstructionOnly as ReconstructionOnly
from .constraints import Constraints as Constraints
from .explainer import AbstractExplainer as AbstractExplainer
from .explainer import Counterfactual as Counterfactual
from .explainer import Outcome as Outcome
from .knowledge import Knowledge as Knowledge
from .latent_search import LatentSearch as LatentSearch
from .moves import Moves as Moves
from .refine import Refine as Refine
from .search import EditSearch as EditSearch
from .traversal import LatentTraversal as LatentTraversal
