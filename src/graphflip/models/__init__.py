"""Classifiers, judges and the autoencoder; how they are trained, and the folders they are kept in."""

from typing import TYPE_CHECKING

from ..lazy import attach

if TYPE_CHECKING:
    from .networks.classifier import AbstractClassifier as AbstractClassifier
    from .networks.classifier import AttentionClassifier as AttentionClassifier
    from .networks.classifier import AveragingClassifier as AveragingClassifier
    from .networks.classifier import InvariantClassifier as InvariantClassifier
    from .networks.classifier import RelationalGIN as RelationalGIN
    from .networks.counts import CountClassifier as CountClassifier
    from .networks.decode import Gumbel as Gumbel
    from .networks.decode import MostLikely as MostLikely
    from .networks.decode import Soft as Soft
    from .networks.pegvae import PEGVAE as PEGVAE
    from .networks.pegvae import PEGVAEConfig as PEGVAEConfig
    from .networks.trees import TreeClassifier as TreeClassifier
    from .storage.store import load_model as load_model
    from .storage.store import save_model as save_model

__getattr__, __dir__ = attach(__name__, __file__)
