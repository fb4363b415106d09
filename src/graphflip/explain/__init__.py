"""How counterfactuals are found."""

from .baselines import NearestNeighbor as NearestNeighbor
from .baselines import NeighborMean as NeighborMean
from .baselines import NoChange as NoChange
from .baselines import RandomExample as RandomExample
from .baselines import ReconstructionOnly as ReconstructionOnly
from .explainer import AbstractExplainer as AbstractExplainer
from .explainer import Counterfactual as Counterfactual
from .explainer import Outcome as Outcome
from .traversal import LatentTraversal as LatentTraversal
from .refine import Refine as Refine
