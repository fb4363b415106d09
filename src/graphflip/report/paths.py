"""Probabilities along the latent path from a factual to its counterfactual, for the curves of a report."""

import dataclasses

from ..explain.counterfactual import Counterfactual
from ..explain.explainer import Explainer
from .results import Results, ResultSet

STEPS = 13


def along_latent_paths(results: Results, explainer: Explainer) -> Results:
    """Add to each explanation that has a counterfactual the probabilities along the latent path to it.

    The results must have the explainer's schema. A kit without an autoencoder has no paths: its results stay unchanged.
    """
    if explainer.kit.vae is None:
        return results
    sets = tuple(_set_with_paths(result_set, explainer) for result_set in results.sets)
    return dataclasses.replace(results, sets=sets)


def _set_with_paths(result_set: ResultSet, explainer: Explainer) -> ResultSet:
    explanations = tuple(_with_path(explanation, explainer) for explanation in result_set.explanations)
    return dataclasses.replace(result_set, explanations=explanations)


def _with_path(counterfactual: Counterfactual, explainer: Explainer) -> Counterfactual:
    if counterfactual.counterfactual is None:
        return counterfactual
    probabilities = tuple(explainer.path(counterfactual, STEPS).probabilities)
    return dataclasses.replace(counterfactual, probabilities=probabilities)
