"""Counterfactual explanations of a classifier: queries, answers, and the methods that search for them."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .constraints import Constraints as Constraints
    from .counterfactual import Counterfactual as Counterfactual
    from .counterfactual import Outcome as Outcome
    from .edits.search import EditSearch as EditSearch
    from .explainer import Explainer as Explainer
    from .explainer import load as load
    from .goals.classes import Another as Another
    from .goals.classes import ClassGoal as ClassGoal
    from .goals.values import Shift as Shift
    from .goals.values import ValueGoal as ValueGoal
    from .knowledge import Knowledge as Knowledge
    from .latent.baselines import LatentIndex as LatentIndex
    from .latent.baselines import NearestNeighbor as NearestNeighbor
    from .latent.baselines import NeighborMean as NeighborMean
    from .latent.baselines import NoChange as NoChange
    from .latent.baselines import RandomExample as RandomExample
    from .latent.baselines import ReconstructionOnly as ReconstructionOnly
    from .latent.evolution import LatentSearch as LatentSearch
    from .latent.refine import Refine as Refine
    from .latent.traversal import LatentTraversal as LatentTraversal
    from .method import AbstractExplainer as AbstractExplainer
    from .moves.moves import Moves as Moves
    from .query import Query as Query

__getattr__, __dir__ = attach(__name__, __file__)
