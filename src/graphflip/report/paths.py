"""Probabilities along the latent line from a factual to its counterfactual, for the curves of a report."""

import dataclasses

from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from .results import Lot, Results

STEPS = 13


def along_latent_paths(results: Results, explainer: Explainer) -> Results:
    """The same explanations, those that have a counterfactual with probabilities along the latent line to it.

    They must have the explainer's schema. What a kit without autoencoder explained stays as it is.
    """
    if explainer.kit.vae is None:
        return results
    return dataclasses.replace(results, lots=tuple(_along(lot, explainer) for lot in results.lots))


def _along(lot: Lot, explainer: Explainer) -> Lot:
    return dataclasses.replace(lot, explanations=tuple(_one(found, explainer) for found in lot.explanations))


def _one(found: Counterfactual, explainer: Explainer) -> Counterfactual:
    if found.counterfactual is None:
        return found
    return dataclasses.replace(found, probabilities=tuple(explainer.path(found, STEPS).probabilities))
